"""The trials that ended last: their results, why some are invalid, and the machine's telemetry."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paribus.i18n import N_, gettext, translate_stored
from paribus.model import Measurement, Trial, TrialState
from paribus.report.view import numbers
from paribus.report.view.numbers import DisplayedMetric, MetricKind
from paribus.report.view.terms import word
from paribus.units import show_duration, show_time
from paribus.web.pace import OVER

Summaries = Mapping[int, Mapping[str, Measurement]]

_TRIALS = 12
_WITH_TELEMETRY = 3

_MACHINE_METRICS = (
    DisplayedMetric("cpu_user_share", N_("processors, user"), MetricKind.SHARE),
    DisplayedMetric("cpu_system_share", N_("processors, system"), MetricKind.SHARE),
    DisplayedMetric("cpu_iowait_share", N_("processors, iowait"), MetricKind.SHARE),
    DisplayedMetric("cpu_steal_share", N_("processors, stolen"), MetricKind.SHARE),
    DisplayedMetric("server_cpu_cores", N_("cores used by the server"), MetricKind.PLAIN),
    DisplayedMetric("run_queue", N_("run queue"), MetricKind.PLAIN),
    DisplayedMetric("memory_available_bytes", N_("memory available"), MetricKind.BYTES),
    DisplayedMetric("memory_dirty_bytes", N_("memory dirty"), MetricKind.BYTES),
    DisplayedMetric("io_pressure_share", N_("pressure of I/O"), MetricKind.SHARE),
    DisplayedMetric("device_utilisation", N_("device, utilisation"), MetricKind.SHARE),
    DisplayedMetric("device_queue", N_("device, queue"), MetricKind.PLAIN),
    DisplayedMetric("device_reads_per_s", N_("device, reads"), MetricKind.RATE),
    DisplayedMetric("device_writes_per_s", N_("device, writes"), MetricKind.RATE),
    DisplayedMetric("device_read_bytes_per_s", N_("device, read"), MetricKind.BYTES),
    DisplayedMetric("device_written_bytes_per_s", N_("device, written"), MetricKind.BYTES),
    DisplayedMetric("device_read_await_s", N_("device, time of a read"), MetricKind.TIME),
    DisplayedMetric("device_write_await_s", N_("device, time of a write"), MetricKind.TIME),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedTrial:
    """A trial that has ended; `reasons` state why it is invalid."""

    order: int
    what: str
    workload: str
    load: str
    throughput: str
    p95: str
    took: str
    state: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Telemetry:
    """Machine metrics during some trials: a row for each metric with its mean and maximum in each trial."""

    trials: tuple[int, ...]
    rows: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]


def latest(trials: Sequence[Trial]) -> list[Trial]:
    """The trials that ended last, the newest first, superseded ones included."""
    ended = [trial for trial in trials if trial.ended is not None]
    return sorted(ended, key=lambda trial: trial.ended or 0.0, reverse=True)[:_TRIALS]


def ended_trials(trials: Sequence[Trial], summaries: Summaries) -> tuple[EndedTrial, ...]:
    """Rows for the trials that ended last."""
    return tuple(_ended_trial(trial, summaries.get(trial.order, {})) for trial in latest(trials))


def _ended_trial(trial: Trial, measured: Mapping[str, Measurement]) -> EndedTrial:
    throughput, p95 = measured.get("throughput_per_s"), measured.get("response_p95_s")
    return EndedTrial(
        order=trial.order,
        what=translate_stored(trial.subject),
        workload=trial.workload,
        load=str(trial.load),
        throughput=numbers.number(throughput.mean, numbers.decimals(throughput.mean, None)) if throughput else "",
        p95=show_time(p95.mean) if p95 else "",
        took=show_duration(trial.took_s),
        state=word(trial.state),
        reasons=(*map(translate_stored, trial.invalid_because), *filter(None, [trial.failure_message])),
    )


def telemetry(trials: Sequence[Trial], summaries: Summaries) -> Telemetry:
    """Machine metrics during the last measured trials."""
    ended_states = (*OVER, TrialState.SUPERSEDED)
    measured = [trial for trial in latest(trials) if trial.state in ended_states and summaries.get(trial.order)][
        :_WITH_TELEMETRY
    ]
    rows = []
    for metric in _MACHINE_METRICS:
        measurements = [summaries[trial.order].get(metric.name) for trial in measured]
        available = [measurement for measurement in measurements if measurement is not None]
        if available:
            scale = numbers.scale(metric.kind, (measurement.mean for measurement in available))
            unit = scale.unit if available[0].unit != "B" else scale.unit.removesuffix("/s")  # an amount, not a rate
            title = gettext(", ").join(filter(None, [gettext(metric.title), unit]))
            rows.append((title, tuple(_cell(measurement, scale.factor) for measurement in measurements)))
    return Telemetry(trials=tuple(trial.order for trial in measured), rows=tuple(rows))


def _cell(measured: Measurement | None, factor: float) -> tuple[str, str]:
    if measured is None:
        return numbers.DASH, ""
    mean, high = measured.mean * factor, measured.high * factor
    mean_text, high_text = (numbers.number(value, numbers.decimals(value, None)) for value in (mean, high))
    return mean_text, gettext("up to {highest}", highest=high_text) if high_text != mean_text else ""
