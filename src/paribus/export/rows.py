"""From records to rows of tables, in the order of their columns. Pure; series are taken apart one at a time."""

import json
from collections.abc import Iterable, Iterator

from paribus.export.tables import Row
from paribus.model import Change, Look, Measurement, Trial, Value
from paribus.report.render.document import ReportDocument


def of_trials(trials: Iterable[Trial]) -> Iterator[Row]:
    """A row for each trial, superseded ones too."""
    for one in trials:
        yield (
            one.experiment,
            one.order,
            one.round,
            one.block,
            one.attempt,
            one.position,
            one.application,
            one.purpose,
            one.factor,
            one.arm,
            one.baseline,
            one.workload,
            one.load.n,
            one.load.unit,
            _json(dict(one.settings)),
            one.state,
            _json(list(one.invalid_because)),
            one.failure,
            one.failure_message,
            one.supersedes,
            one.started,
            one.applied,
            one.ended,
        )


def of_measurements(experiment: str, measured: Iterable[tuple[int, Measurement]]) -> Iterator[Row]:
    """A row for each metric of each trial."""
    for trial, one in measured:
        own = (one.phase, one.metric, one.unit, one.source, one.n, one.mean, one.low, one.high, one.total)
        yield (experiment, trial, *own)


def of_series(experiment: str, measured: Iterable[tuple[int, Measurement]]) -> Iterator[Row]:
    """A row for each point of a course; its time is where its interval begins, from the opening of the window."""
    for trial, one in measured:
        start_s, step_s = one.start_s or 0.0, one.step_s or 0.0
        for number, value in enumerate(one.points):
            time_s = start_s + number * step_s
            yield (experiment, trial, one.phase, one.metric, one.unit, one.source, time_s, value)


def of_effects(document: ReportDocument) -> Iterator[Row]:
    """A row for each effect of the document, over all load levels and at each."""
    for one in document.effects:
        yield (
            document.experiment,
            one.factor,
            one.baseline,
            one.arm,
            one.workload,
            one.response,
            one.load,
            one.load_unit,
            one.log_ratio.estimate,
            one.log_ratio.low,
            one.log_ratio.high,
            one.percent.estimate,
            one.percent.low,
            one.percent.high,
            one.confidence,
            one.pairs,
            one.margin,
            one.method,
            one.look,
            one.verdict,
            _json(one.tags),
            _json(one.reasons),
            _json([check.model_dump() for check in one.checks]),
            one.better_probability,
            one.within_probability,
            one.alpha_spent,
            one.trials,
        )


def of_cells(document: ReportDocument) -> Iterator[Row]:
    """A row for each mean of an arm at a load level."""
    for one in document.cells:
        place = (one.factor, one.arm, one.workload, one.load, one.load_unit, one.metric)
        yield (document.experiment, *place, one.mean, one.low, one.high, one.trials)


def of_points(document: ReportDocument) -> Iterator[Row]:
    """A row for each metric of each point of a matrix."""
    for matrix in document.matrices:
        for series in matrix.series:
            for point in series.points:
                place = (matrix.name, series.workload, series.write_share, point.small, point.large)
                for metric, found in point.measured.items():
                    yield (
                        document.experiment,
                        *place,
                        metric,
                        found.value,
                        found.low,
                        found.high,
                        list(point.trials),
                    )


def of_looks(experiment: str, looks: Iterable[Look]) -> Iterator[Row]:
    """A row for each decision point."""
    for one in looks:
        place = (one.factor, one.arm, one.workload, one.response, one.purpose, one.number, one.pairs)
        yield (experiment, *place, one.alpha_spent, one.estimate, one.low, one.high, one.verdict)


def of_changes(experiment: str, changes: Iterable[tuple[int, Change]]) -> Iterator[Row]:
    """A row for each setting as it was applied."""
    for trial, one in changes:
        values = (_text(one.before), _text(one.wanted), None if one.observed is None else _text(one.observed))
        yield (experiment, trial, one.knob, one.address, *values, one.state, one.refused, one.not_taken)


def _text(value: Value) -> str:
    """A setting as it is written in a plan, without quotes."""
    return value if isinstance(value, str) else json.dumps(value)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
