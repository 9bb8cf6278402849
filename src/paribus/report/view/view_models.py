"""View models of a report: frozen, already worded and rounded, with the numbers that charts need.

Made by `views.view`; read by every renderer. Percentages are percentages, not ratios; times are seconds.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from paribus.i18n import gettext
from paribus.model import Check
from paribus.report.view.blocks import Block, Place
from paribus.report.view.curve_models import DriftCurve, LoadCurve, PathCurve, QuantileCurve, TimeSeriesChart
from paribus.report.view.evidence_models import Trust
from paribus.report.view.heat_map_models import HeatMap
from paribus.report.view.pair_models import PairChart
from paribus.units import LoadLevel


@dataclass(frozen=True, slots=True)
class Recipe:
    """Instructions for a person: how to set a value, how to check it, and how to keep it beyond the next start.

    Two commands, and a command or where to write what. `losses` are what a crash loses with it, as messages.
    """

    set: str
    check: str
    last: str
    losses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One conclusion in one sentence. `decided` is `better` or `worse`, or empty: nothing to colour."""

    factor: str
    arm: str
    baseline: str
    workload: str
    response: str
    verdict: str
    decided: str
    conclusion: str
    anchor: str

    @property
    def change(self) -> str:
        """Levels compared: the arm instead of the baseline."""
        return gettext("{arm} instead of {baseline}", arm=self.arm, baseline=self.baseline)

    @property
    def sentence(self) -> str:
        """The whole answer."""
        return f"{self.factor}: {self.change}: {self.conclusion}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A row of the verdict table; the numbers are percentages.

    `is_average`: over all settings of other factors. `gains`: it is for the better, over all or at some load level.
    `is_open`: it depends on load, and may be for the better at a level. `would_decide`: what decides an undecided one.
    `doubts`: findings of the checks that failed, then of those without an answer, which make the verdict suspect.
    """

    answer: Answer
    effect: str
    interval: str
    estimate: float
    low: float
    high: float
    margin: str
    margin_low: float
    margin_high: float
    verdict: str
    is_average: bool
    gains: bool
    is_open: bool
    would_decide: str
    pairs: int
    confidence: str
    reasons: tuple[str, ...]
    doubts: tuple[str, ...]
    trials: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionArm:
    """One arm of a comparison; `decided` as in Answer."""

    name: str
    baseline: bool
    decided: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFigure:
    """A number in a table: text, its half-width or interval as text, decimals to align by."""

    text: str
    spread: str
    places: int
    trials: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelColumn:
    """A metric over all arms of a table."""

    metric: str
    title: str
    unit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelRow:
    """A load level, and for every column one figure per arm."""

    load: LoadLevel
    figures: tuple[tuple[TableFigure | None, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelTable:
    """The table DBAs publish: load levels down, metrics and arms across."""

    columns: tuple[LevelColumn, ...]
    rows: tuple[LevelRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectPoint:
    """An effect at one load level, or over all of them (`load` None); numbers are percentages."""

    arm: str
    load: LoadLevel | None
    effect: str
    interval: str
    estimate: float
    low: float
    high: float
    decided: str
    trials: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectTable:
    """Effects of the factor's arms on one response, as points, and the margin in percent."""

    key: str
    response: str
    title: str
    baseline: str
    margin: str
    margin_low: float
    margin_high: float
    confidence: str
    judged: bool
    points: tuple[EffectPoint, ...]

    @property
    def loads(self) -> tuple[LoadLevel | None, ...]:
        """The rows: every load level, then all of them together."""
        levels = sorted({p.load for p in self.points if p.load is not None})
        return (*levels, *([None] if any(p.load is None for p in self.points) else []))

    @property
    def arms(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(dict.fromkeys(point.arm for point in self.points))

    def point(self, arm: str, load: LoadLevel | None) -> EffectPoint | None:
        """The effect of an arm at a load level, where there is one."""
        return next((p for p in self.points if (p.arm, p.load) == (arm, load)), None)

    def by_place(self) -> dict[tuple[str, LoadLevel | None], EffectPoint]:
        """The effects by arm and load level: for tables, which ask for each of them."""
        return {(point.arm, point.load): point for point in reversed(self.points)}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckList:
    """The checks behind one verdict: of which arm and response, how many failed, and each with what was found."""

    title: str
    summary: str
    standing: str
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One factor under one workload. `empty` says why there is nothing to show."""

    anchor: str
    factor: str
    workload: str
    arms: tuple[SectionArm, ...]
    answers: tuple[Answer, ...]
    reasons: tuple[str, ...]
    checks: tuple[CheckList, ...]
    table: LevelTable | None
    effects: tuple[EffectTable, ...]
    pairs: tuple[PairChart, ...]
    curves: tuple[LoadCurve, ...]
    path: PathCurve | None
    quantiles: QuantileCurve | None
    heat_map: HeatMap | None
    drift: DriftCurve | None
    blocks: tuple[Block, ...]
    empty: str

    @property
    def baseline(self) -> str:
        """The arm compared against."""
        return next((arm.name for arm in self.arms if arm.baseline), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixTable:
    """One figure for each point of a matrix: small operations outstanding down, large ones across."""

    title: str
    unit: str
    columns: tuple[int, ...]
    rows: tuple[tuple[int, tuple[TableFigure | None, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponsePoint:
    """Response time at a rate, both in the chart's units; `low` and `high` are those of the response time."""

    series: str
    small: int
    rate: float
    value: float
    low: float | None
    high: float | None
    text: str
    trials: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixShare:
    """Matrix at one write share: sentences, its tables, and response time over the rate."""

    key: str
    title: str
    sentences: tuple[str, ...]
    tables: tuple[MatrixTable, ...]
    unit: str
    points: tuple[ResponsePoint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixSection:
    """One matrix, the answer first. `empty` says why there is nothing to show."""

    anchor: str
    name: str
    answer: str
    reading: str
    shares: tuple[MatrixShare, ...]
    empty: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """Advice on a factor: `kind` is set, keep, choose or wait; `arm` is what to set or keep, else empty.

    `gain`: the effect of what is to be set, where it was judged once. `losses`: what a crash then loses.
    """

    factor: str
    kind: str
    text: str
    recipe: Recipe | None
    arm: str = ""
    gain: str = ""
    losses: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportView:
    """Everything a report shows, in the order it is shown; `blocks` are those of sections, by their place.

    `recommendation`: a sentence to act on; empty where nothing was compared. `again`: the command that asks what is
    open, or continues an experiment that is not done, and `again_text` what it is for.
    """

    title: str
    question: str
    experiment: str
    state: str
    when: str
    recommendation: str
    headline: str
    answers: tuple[Answer, ...]
    verdicts: tuple[Judged, ...]
    sections: tuple[Section, ...]
    matrices: tuple[MatrixSection, ...]
    advice: tuple[Advice, ...]
    trust: Trust
    time_series: TimeSeriesChart | None
    recipes: Mapping[str, Recipe]
    blocks: Mapping[Place, tuple[Block, ...]]
    reading: str = ""
    again: str = ""
    again_text: str = ""

    @property
    def unanswered(self) -> list[Answer]:
        """The answers that there is no verdict, which have no row among the verdicts."""
        judged = {id(row.answer) for row in self.verdicts}
        return [answer for answer in self.answers if id(answer) not in judged]
