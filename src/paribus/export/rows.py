"""Rows of the exported tables, in the order of their columns. Pure generators."""

import base64
import json
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from paribus.export.tables import Row
from paribus.histogram import HdrHistogram
from paribus.model import Change, Look, Measurement, Trial, Value
from paribus.report.render.document import ReportDocument

_NANOSECONDS_PER_MS = 1e6


def trial_rows(trials: Iterable[Trial], lines: Mapping[int, tuple[str, int]]) -> Iterator[Row]:
    """Yield a row per trial, including superseded ones; `lines` are the file and the line of each imported one."""
    for trial in trials:
        yield (
            trial.experiment,
            trial.order,
            trial.round,
            trial.block,
            trial.attempt,
            trial.position,
            trial.application,
            trial.purpose,
            trial.factor,
            trial.arm,
            trial.baseline,
            trial.workload,
            trial.load.n,
            trial.load.unit,
            _json(dict(trial.settings)),
            trial.state,
            _json(list(trial.invalid_because)),
            trial.failure,
            trial.failure_message,
            trial.supersedes,
            trial.started,
            trial.applied,
            trial.ended,
            *lines.get(trial.order, (None, None)),
        )


def measurement_rows(experiment: str, measurements: Iterable[tuple[int, Measurement]]) -> Iterator[Row]:
    """Yield a row per trial and metric."""
    for order, measurement in measurements:
        yield (experiment, order, *summary_values(measurement))


def response_time_rows(
    trials: Iterable[Trial], histograms: Mapping[int, bytes], windows_s: Mapping[int, float]
) -> Iterator[Row]:
    """Yield a row per trial with a histogram of response times, in the order of time.

    Histograms and lengths of windows are by the order of the trial. A window ends with its trial.
    """
    of_trials = [(trial.ended, trial) for trial in trials if trial.ended and trial.order in histograms]
    for ended, trial in sorted(of_trials, key=lambda entry: entry[0]):
        histogram = HdrHistogram.decode(histograms[trial.order])
        highest = histogram.highest_values(np.flatnonzero(histogram.counts)[-1:])
        length = windows_s.get(trial.order) or ended - (trial.applied or trial.started or ended)
        yield (
            trial.experiment,
            f"{trial.workload}/{trial.load}" + (f"/{trial.factor}={trial.arm}" if trial.factor else ""),
            ended - length,
            length,
            float(highest.max(initial=0)) / _NANOSECONDS_PER_MS,
            base64.b64encode(histograms[trial.order]).decode(),
        )


def summary_values(measurement: Measurement) -> tuple[str, str, str, str, int, float, float, float, float]:
    """Return the values of a measurement over its whole window, in the order of the table's columns."""
    return (
        measurement.phase,
        measurement.metric,
        measurement.unit,
        measurement.source,
        measurement.n,
        measurement.mean,
        measurement.low,
        measurement.high,
        measurement.total,
    )


def series_rows(experiment: str, measurements: Iterable[tuple[int, Measurement]]) -> Iterator[Row]:
    """Yield a row per point of a time series; its time is the start of its interval, in s of the window."""
    for order, measurement in measurements:
        start_s, step_s = measurement.start_s or 0.0, measurement.step_s or 0.0
        for number, value in enumerate(measurement.points):
            time_s = start_s + number * step_s
            yield (
                experiment,
                order,
                measurement.phase,
                measurement.metric,
                measurement.unit,
                measurement.source,
                time_s,
                value,
            )


def effect_rows(document: ReportDocument) -> Iterator[Row]:
    """Yield a row per effect of the document, over all load levels and at each."""
    for effect in document.effects:
        yield (
            document.experiment,
            effect.factor,
            effect.baseline,
            effect.arm,
            effect.workload,
            effect.response,
            effect.load,
            effect.load_unit,
            effect.log_ratio.estimate,
            effect.log_ratio.low,
            effect.log_ratio.high,
            effect.percent.estimate,
            effect.percent.low,
            effect.percent.high,
            effect.confidence,
            effect.pairs,
            effect.margin,
            effect.method,
            effect.look,
            effect.verdict,
            _json(effect.tags),
            _json(effect.reasons),
            _json([check.model_dump() for check in effect.checks]),
            effect.better_probability,
            effect.within_probability,
            effect.alpha_spent,
            effect.trials,
        )


def cell_rows(document: ReportDocument) -> Iterator[Row]:
    """Yield a row per mean of an arm at a load level."""
    for cell in document.cells:
        key = (cell.factor, cell.arm, cell.workload, cell.load, cell.load_unit, cell.metric)
        yield (document.experiment, *key, cell.mean, cell.low, cell.high, cell.trials)


def point_rows(document: ReportDocument) -> Iterator[Row]:
    """Yield a row per metric of each point of a matrix."""
    for matrix in document.matrices:
        for series in matrix.series:
            for point in series.points:
                key = (matrix.name, series.workload, series.write_share, point.small, point.large)
                for metric, estimate in point.measured.items():
                    yield (
                        document.experiment,
                        *key,
                        metric,
                        estimate.value,
                        estimate.low,
                        estimate.high,
                        list(point.trials),
                    )


def look_rows(experiment: str, looks: Iterable[Look]) -> Iterator[Row]:
    """Yield a row per look."""
    for look in looks:
        key = (look.factor, look.arm, look.workload, look.response, look.purpose, look.number, look.pairs)
        yield (experiment, *key, look.alpha_spent, look.estimate, look.low, look.high, look.verdict)


def change_rows(experiment: str, changes: Iterable[tuple[int, Change]]) -> Iterator[Row]:
    """Yield a row per applied setting."""
    for order, change in changes:
        values = (
            _text(change.before),
            _text(change.wanted),
            None if change.observed is None else _text(change.observed),
        )
        yield (experiment, order, change.knob, change.address, *values, change.state, change.refused, change.not_taken)


def _text(value: Value) -> str:
    """Return a setting as written in a plan, without quotes."""
    return value if isinstance(value, str) else json.dumps(value)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
