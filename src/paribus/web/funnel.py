"""Chart of one comparison: its interval at each look, from the first (top) to the last.

Before the first look: the plain interval after each pair.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paribus.i18n import N_, gettext
from paribus.lab.results.preliminary import Preliminary
from paribus.model import RESPONSES, Look, Purpose, Verdict
from paribus.report.sections import verdicts
from paribus.report.view import numbers

WIDTH, _ARROW = 264.0, 8.0
_ROW, _NARROWEST_ROW, _HEIGHT = 9.0, 4.0, 135.0
_MOST_DRAWN = 12
_MOST_MARGINS = 15  # wider intervals leave the picture, but for the newest one
_MOST_LOG = math.log(1000)
_USUAL_MARGIN = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """An interval of log ratios after some pairs; `number` is that of the look, 0 before the first."""

    number: int
    pairs: int
    estimate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FunnelPoint:
    """An interval: its look and pairs, the effect as text, and the positions of its marks in the chart."""

    number: int
    pairs: int
    effect: str
    interval: str
    low: float
    high: float
    estimate: float
    beyond: tuple[bool, bool]
    y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Funnel:
    """All looks at one arm under one workload by one response, or the intervals before the first look.

    `verdict` is empty while the comparison is undecided; `decided` is `better`, `worse` or empty in every language.
    `first_look` is the number of pairs before the first look; 0 after it. `decides`: by the workload's deciding
    response. `ends` are the changes at the two ends of the picture, whose scale is that of logarithms.
    """

    title: str
    workload: str
    response: str
    decides: bool
    first_look: int
    verdict: str
    decided: str
    margin: str
    margin_low: float
    margin_high: float
    ends: tuple[str, str]
    row: float
    steps: tuple[FunnelPoint, ...]

    @property
    def last(self) -> FunnelPoint:
        """The newest look."""
        return self.steps[-1]

    @property
    def height(self) -> float:
        """Height of the chart."""
        return round(self.row * (len(self.steps) + 1), 1)

    @property
    def label(self) -> str:
        """Text alternative of the chart."""
        first, last = self.steps[0], self.steps[-1]
        if self.first_look:
            message = N_("preliminary interval after {first} pairs {before} %, after {last} pairs {now} %")
            return gettext(message, first=first.pairs, before=first.interval, last=last.pairs, now=last.interval)
        if first is last:
            return gettext("interval at the first look {interval} %", interval=first.interval)
        return gettext(
            "interval at look {first} {before} %, at look {last} {now} %",
            first=first.number,
            before=first.interval,
            last=last.number,
            now=last.interval,
        )


def funnels(
    looks: Sequence[Look], margins: Mapping[str, float], deciding: Mapping[str, str] | None = None
) -> tuple[Funnel, ...]:
    """A chart for each comparison with looks, in the order of the first looks; `margins` are log ratios.

    `deciding` is the deciding response of each workload; every response where it is None.
    """
    looks_by_comparison: dict[tuple[str, str, str, str, Purpose], list[Look]] = {}
    for look in (look for look in looks if look.purpose is not Purpose.SELECT):
        looks_by_comparison.setdefault((look.factor, look.arm, look.workload, look.response, look.purpose), []).append(
            look
        )
    charts = []
    for comparison_looks in looks_by_comparison.values():
        ordered = sorted(comparison_looks, key=lambda look: look.number)
        last = ordered[-1]
        rows = [
            _Row(number=look.number, pairs=look.pairs, estimate=look.estimate, low=look.low, high=look.high)
            for look in ordered
        ]
        decides = deciding is None or deciding.get(last.workload) == last.response
        charts.append(_funnel(last, rows, margins, verdict=last.verdict, decides=decides))
    return tuple(charts)


def preliminary_funnels(comparisons: Sequence[Preliminary], margins: Mapping[str, float]) -> tuple[Funnel, ...]:
    """A chart for each comparison that has pairs and no look; `margins` are log ratios."""
    return tuple(
        _funnel(
            comparison,
            [
                _Row(number=0, pairs=each.units, estimate=each.estimate, low=each.low, high=each.high)
                for each in comparison.intervals
            ],
            margins,
            first_look=comparison.first_look,
        )
        for comparison in comparisons
        if comparison.intervals
    )


def drawn_funnels(charts: Sequence[Funnel]) -> tuple[Funnel, ...]:
    """The charts of deciding responses that the page draws, in their order; undecided ones take precedence."""
    candidates = [chart for chart in charts if chart.decides]
    chosen = sorted(range(len(candidates)), key=lambda place: bool(candidates[place].verdict))[:_MOST_DRAWN]
    return tuple(candidates[place] for place in sorted(chosen))


def _funnel(
    comparison: Look | Preliminary,
    rows: Sequence[_Row],
    margins: Mapping[str, float],
    *,
    verdict: Verdict | None = None,
    first_look: int = 0,
    decides: bool = True,
) -> Funnel:
    response = RESPONSES.get(comparison.response)
    margin = margins.get(comparison.response, response.margin if response else _USUAL_MARGIN)
    bounds = [abs(bound) for row in rows for bound in (row.low, row.high)]
    widest = max([2 * margin, *filter(math.isfinite, bounds)])
    newest = max(filter(math.isfinite, bounds[-2:]), default=0.0)
    limit = min(widest, max(_MOST_MARGINS * margin, newest), _MOST_LOG) * 1.06
    pitch = min(_ROW, max(_NARROWEST_ROW, _HEIGHT / (len(rows) + 1)))

    def x_of(log_ratio: float) -> float:
        return round((min(max(log_ratio, -limit), limit) / limit + 1) * WIDTH / 2, 1)

    def point(place: int, row: _Row) -> FunnelPoint:
        text = numbers.effect(row.estimate, row.low, row.high)
        return FunnelPoint(
            number=row.number,
            pairs=row.pairs,
            effect=text.estimate,
            interval=text.interval,
            low=x_of(row.low),
            high=x_of(row.high),
            estimate=min(max(x_of(row.estimate), _ARROW), WIDTH - _ARROW),  # beside the arrow of what lies beyond
            beyond=(row.low < -limit, row.high > limit),
            y=round(pitch * (place + 1), 1),
        )

    screened = gettext(", screened") if comparison.purpose is Purpose.SCREEN else ""
    return Funnel(
        title=f"{comparison.factor} = {comparison.arm}{screened}",
        workload=comparison.workload,
        response=verdicts.title(comparison.response),
        decides=decides,
        first_look=first_look,
        verdict=gettext(verdicts.WORDS[verdict]) if verdict else "",
        decided=str(verdict) if verdict in (Verdict.BETTER, Verdict.WORSE) else "",
        margin=numbers.margin(margin),
        margin_low=x_of(-margin),
        margin_high=x_of(margin),
        ends=(_percent(-limit), _percent(limit)),
        row=pitch,
        steps=tuple(point(place, row) for place, row in enumerate(rows)),
    )


def _percent(log_ratio: float) -> str:
    percent = numbers.percent_of(log_ratio)
    return f"{numbers.signed(percent, 0 if abs(percent) >= 10 else 1)} %"
