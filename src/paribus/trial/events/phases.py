"""Phases of a trial with events: where they begin and end, and what the load did in each. Pure.

In: events with their times, and the seconds of the load. Out: phases, and measurements of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from paribus.engine.protocol import Interval
from paribus.model import BEFORE, IMPAIRED, LASTED, PHASES, EventAction, Measurement
from paribus.stats.change_points import change_points

_AS_BEFORE = 0.95  # of the throughput before; less counts as impaired


@dataclass(frozen=True, slots=True)
class TrialPhase:
    """A part of a trial between events, from `start_s` to `end_s` of its measured time."""

    name: str
    start_s: float
    end_s: float


@dataclass(slots=True)
class OccurredEvent:
    """An event that took place: when, and when it was over; None while it lasts. `is_cut`: it was ended by us."""

    action: EventAction
    start_s: float
    end_s: float | None = None
    is_cut: bool = False


def phases(history: Sequence[OccurredEvent], duration_s: float) -> list[TrialPhase]:
    """The phases of a trial, in their order; none is empty."""
    changes = [(0.0, BEFORE)]
    for occurred in history:
        begun, ended = PHASES[occurred.action]
        changes.append((occurred.start_s, begun))
        if occurred.end_s is not None and ended:
            changes.append((occurred.end_s, ended))
    changes.sort(key=lambda change: change[0])
    ends = [start_s for start_s, _ in changes[1:]] + [duration_s]
    spans = zip(changes, ends, strict=True)
    return [TrialPhase(name, start, end) for (start, name), end in spans if end > start]


def measurements(
    history: Sequence[OccurredEvent], intervals: Sequence[Interval], duration_s: float
) -> tuple[Measurement, ...]:
    """Return measurements of the load in each phase; phases of one name, as after two failures, count together.

    An interval belongs to the phase in which its middle lies. Throughput of a phase is its operations over its time;
    shares are of the throughput before the first event. A phase without an operation counts as one with one, so that
    it has a logarithm. Of events of one kind the longest is given. A throughput that is not as before when the trial
    ends has no time until it is.
    """
    if not history or not intervals:
        return ()
    measured: list[Measurement] = []
    inside = _by_phase(phases(history, duration_s), intervals)
    rates = {name: _rate(of_phase) for name, of_phase in inside.items()}
    for name, of_phase in inside.items():
        stall_s = max(interval.max_s or interval.duration_s for interval in of_phase)
        measured += [_of_load(f"{name}_per_s", "1/s", rates[name]), _of_load(f"{name}_stall_s", "s", stall_s)]
        if BEFORE in rates and name != BEFORE:
            measured.append(_of_load(f"{name}_share", "", rates[name] / rates[BEFORE]))
    lasted: dict[str, float] = {}
    for number, occurred in enumerate(history, 1):
        measured.append(_of_event(f"event_{number}_s", occurred.start_s))
        if occurred.end_s is not None and not occurred.is_cut and (metric := LASTED.get(occurred.action)):
            lasted[metric] = max(lasted.get(metric, 0.0), occurred.end_s - occurred.start_s)
    measured += [_of_event(metric, seconds) for metric, seconds in lasted.items()]
    if BEFORE in rates and (impaired_s := _impaired_s(history[0].start_s, intervals, rates[BEFORE])) is not None:
        measured.append(_of_load(IMPAIRED, "s", impaired_s))
    return tuple(measured)


def _impaired_s(event_s: float, intervals: Sequence[Interval], before: float) -> float | None:
    """Seconds from the first event until no later level of the throughput is below that before; at least an interval.

    Levels are those between changes of the course, so that a single slow second among others is none.
    """
    starts = [interval.start_s - intervals[0].start_s for interval in intervals]
    changes = [change.index for change in change_points([_rate([interval]) for interval in intervals])]
    spans = list(zip([0, *changes], [*changes, len(intervals)], strict=True))
    as_before = intervals[0].duration_s
    for begin, end in reversed(spans):
        if starts[end - 1] <= event_s or _rate(intervals[begin:end]) >= _AS_BEFORE * before:
            continue
        if end == len(intervals):
            return None
        return max(as_before, starts[end] - event_s)
    return as_before


def _by_phase(spans: Sequence[TrialPhase], intervals: Sequence[Interval]) -> dict[str, list[Interval]]:
    """The intervals of each phase that has any, by its name."""
    first_s = intervals[0].start_s
    inside: dict[str, list[Interval]] = {}
    for interval in intervals:
        middle_s = interval.start_s - first_s + interval.duration_s / 2
        phase = next((span for span in spans if span.start_s <= middle_s < span.end_s), None)
        if phase is not None:
            inside.setdefault(phase.name, []).append(interval)
    return inside


def _rate(intervals: Sequence[Interval]) -> float:
    operations = sum(interval.operations - interval.fsyncs for interval in intervals)
    return max(operations, 1) / sum(interval.duration_s for interval in intervals)


def _of_load(metric: str, unit: str, value: float) -> Measurement:
    return Measurement.of_value(metric, unit, value, "measure", "engine")


def _of_event(metric: str, value: float) -> Measurement:
    return Measurement.of_value(metric, "s", value, "measure", "events")
