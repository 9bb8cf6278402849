"""The report as one JSON document for programs; schema/report.json is its schema.

A number that is not finite becomes null; every effect lists its trials.
"""

import dataclasses
import math
from collections import Counter
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, create_model

from paribus.findings import Matrix
from paribus.model import (
    Cell,
    Effect,
    ExperimentState,
    Tag,
    Trial,
    TrialState,
    Verdict,
    machine_s,
)
from paribus.report.contents import SECTIONS
from paribus.report.document_parts import IntervalDocument, StrictDocument, finite
from paribus.report.inputs import ReportInput
from paribus.units import LoadUnit


class AssumptionCheck(StrictDocument):
    """An assumption behind a verdict: whether it holds, and what was found."""

    name: str
    passed: bool | None = Field(description="null where the files do not show it")
    found: str
    limit: str = Field("", description="the bound that it is held against; empty where there is none")


class RepetitionDocument(StrictDocument):
    """Number of recreations of the conditions that pairs share; intervals exclude them unless their reasons say so."""

    server_starts: int | None = Field(description="starts of the database server")
    data_states: int | None = Field(description="restorations of the data")
    layouts: int | None = Field(description="builds of the storage layout below the data")
    boots: int | None = Field(description="boots of the machine")


class EffectDocument(StrictDocument):
    """Effect of changing a factor from `baseline` to `arm` on a response; `load` null means all load levels."""

    factor: str
    baseline: str
    arm: str
    workload: str
    response: str
    load: int | None
    load_unit: LoadUnit | None
    log_ratio: IntervalDocument
    percent: IntervalDocument
    confidence: float
    equivalence: IntervalDocument | None = Field(description="of the two tests of equivalence, in percent")
    pairs: int
    margin: float = Field(description="what is too small to matter, as a ratio")
    method: str
    look: int
    verdict: Verdict | None
    tags: list[Tag]
    reasons: list[str]
    checks: list[AssumptionCheck]
    better_probability: float | None = Field(description="of a posterior with a flat prior; it decides nothing")
    within_probability: float | None = Field(description="that the effect lies within the margin, likewise")
    alpha_spent: float | None = Field(description="the error of claims spent up to this look; 1 - confidence in all")
    trials: list[int]
    repetition: RepetitionDocument | None = Field(description="how often what the pairs share was made anew")


class CellDocument(StrictDocument):
    """The mean of a metric for one arm at one load level, in seconds, bytes and plain ratios."""

    factor: str
    arm: str
    workload: str
    load: int
    load_unit: LoadUnit
    metric: str
    mean: float | None
    low: float | None
    high: float | None
    trials: list[int]


class UnusedTrial(StrictDocument):
    """A trial that enters no effect, and why."""

    order: int
    state: TrialState
    reasons: list[str]


class ExperimentFields(StrictDocument):
    """The fields of a report that no section adds."""

    version: Literal[1] = 1
    experiment: str
    name: str
    state: ExperimentState
    started: float = Field(description="UTC seconds since the epoch")
    ended: float | None
    plan_digest: str
    plan_text: str
    overrides: dict[str, str]
    seed: int
    schedule_hash: str
    versions: dict[str, str]
    fingerprint: dict[str, str]
    machine_s: float = Field(description="seconds that trials and reruns took, without preconditioning")
    planned_s: float = Field(description="seconds of trials that were planned, where nothing is decided early")
    trials: dict[TrialState, int] = Field(description="how many trials are in each state")
    unused: list[UnusedTrial]
    effects: list[EffectDocument]
    cells: list[CellDocument]
    matrices: list[Matrix]


_SECTION_FIELDS = [field for section in SECTIONS for field in section.fields]

if TYPE_CHECKING:
    _WithSections = ExperimentFields
else:
    _WithSections = create_model(
        "_WithSections",
        __base__=ExperimentFields,
        **{field.name: (field.type, Field(description=field.meaning or None)) for field in _SECTION_FIELDS},
    )


class ReportDocument(_WithSections):
    """One experiment and what was concluded from it."""


def _percent(log_ratio: float) -> float | None:
    try:
        return finite(math.expm1(log_ratio) * 100) if math.isfinite(log_ratio) else None
    except OverflowError:
        return None


def _equivalence(effect: Effect) -> IntervalDocument | None:
    tests = effect.equivalence
    if tests is None:
        return None
    return IntervalDocument(estimate=_percent(effect.estimate), low=_percent(tests.low), high=_percent(tests.high))


def _effect(effect: Effect) -> EffectDocument:
    ratios = (effect.estimate, effect.low, effect.high)
    names = ("estimate", "low", "high")
    return EffectDocument(
        factor=effect.factor,
        baseline=effect.baseline,
        arm=effect.arm,
        workload=effect.workload,
        response=effect.response,
        load=effect.load.n if effect.load else None,
        load_unit=effect.load.unit if effect.load else None,
        log_ratio=IntervalDocument(**dict(zip(names, map(finite, ratios), strict=True))),
        percent=IntervalDocument(**dict(zip(names, map(_percent, ratios), strict=True))),
        confidence=effect.confidence,
        equivalence=_equivalence(effect),
        pairs=effect.pairs,
        margin=math.expm1(effect.margin),
        method=effect.method,
        look=effect.look,
        verdict=effect.verdict,
        tags=list(effect.tags),
        reasons=list(effect.reasons),
        better_probability=effect.better_probability,
        within_probability=effect.within_probability,
        alpha_spent=effect.alpha_spent,
        checks=[AssumptionCheck(name=c.name, passed=c.passed, found=c.finding, limit=c.limit) for c in effect.checks],
        trials=list(effect.trials),
        repetition=None
        if effect.repetition is None
        else RepetitionDocument.model_validate(dataclasses.asdict(effect.repetition)),
    )


def _cell(cell: Cell) -> CellDocument:
    return CellDocument(
        factor=cell.factor,
        arm=cell.arm,
        workload=cell.workload,
        load=cell.load.n,
        load_unit=cell.load.unit,
        metric=cell.metric,
        mean=finite(cell.mean),
        low=finite(cell.low),
        high=finite(cell.high),
        trials=list(cell.trials),
    )


def _unused(trial: Trial) -> UnusedTrial:
    failure = ": ".join(filter(None, [str(trial.failure or ""), trial.failure_message]))
    reasons = [*trial.invalid_because, *([failure] if failure else [])]
    return UnusedTrial(order=trial.order, state=trial.state, reasons=reasons)


def document(report_input: ReportInput) -> ReportDocument:
    """Return the report as a document for programs."""
    experiment, trials = report_input.experiment, report_input.trials
    section_values: dict[str, Any] = {field.name: field.value(report_input) for field in _SECTION_FIELDS}
    unused_states = (TrialState.INVALID, TrialState.FAILED, TrialState.SUPERSEDED)
    return ReportDocument(
        experiment=experiment.id,
        name=experiment.name,
        state=experiment.state,
        started=experiment.started,
        ended=experiment.ended,
        plan_digest=experiment.plan_digest,
        plan_text=experiment.plan_text,
        overrides=dict(experiment.overrides),
        seed=experiment.seed,
        schedule_hash=experiment.schedule_hash,
        versions=dict(experiment.versions),
        fingerprint=dict(experiment.fingerprint),
        machine_s=machine_s(trials),
        planned_s=report_input.planned_s or 0.0,
        trials=dict(Counter(trial.state for trial in trials)),
        unused=[_unused(trial) for trial in trials if trial.state in unused_states],
        effects=[_effect(effect) for effect in report_input.effects],
        cells=[_cell(cell) for cell in report_input.cells],
        matrices=report_input.of(Matrix),
        **section_values,
    )
