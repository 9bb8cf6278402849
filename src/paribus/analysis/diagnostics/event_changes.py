"""Changes of level in the courses of trials with events, and the events that they match."""

import math
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from paribus.analysis.paired.effects import Summaries
from paribus.findings import Estimate, EventChange
from paribus.model import LASTED, PHASES, Measurement, PlannedEvent, Trial
from paribus.stats.change_points import ChangePoint, change_points
from paribus.stats.pairs import mean_interval

_NEAR_S = 2.0  # seconds of the load have an event at their end


def event_changes(
    trials: Sequence[Trial],
    summaries: Summaries,
    courses: Mapping[int, Measurement],
    events: Sequence[PlannedEvent],
    confidence: float,
) -> tuple[tuple[EventChange, ...], int]:
    """Return the changes at each moment of the trials of an arm, and the number of changes that match no moment.

    Args:
        trials: Trials of one arm.
        summaries: Measurements by trial and metric.
        courses: Throughput with its points, by trial.
        events: The events of the plan.
        confidence: Coverage of the intervals.
    """
    moments: dict[str, int] = defaultdict(int)
    matched: dict[str, list[tuple[float, float]]] = defaultdict(list)
    unmatched = 0
    for trial in trials:
        times = dict(_moments(summaries[trial.order], events))
        for phase in times:
            moments[phase] += 1
        nearest: dict[str, list[tuple[float, ChangePoint]]] = defaultdict(list)
        for at_s, change in _changes(courses.get(trial.order)):
            phase = min(times, key=lambda name: abs(times[name] - at_s))
            if abs(times[phase] - at_s) <= _NEAR_S:
                nearest[phase].append((at_s - times[phase], change))
            else:
                unmatched += 1
        for phase, changes in nearest.items():
            delay_s = min((delay for delay, _ in changes), key=abs)
            matched[phase].append((delay_s, sum(change.log_ratio for _, change in changes)))
    described = (_described(phase, matched[phase], number, confidence) for phase, number in moments.items())
    return tuple(described), unmatched


def _described(phase: str, matched: Sequence[tuple[float, float]], trials: int, confidence: float) -> EventChange:
    ratio = None
    if matched:
        mean, low, high = mean_interval([size for _, size in matched], confidence)
        ratio = Estimate(math.exp(mean), *(None if end is None else math.exp(end) for end in (low, high)))
    delay_s = statistics.median(delay for delay, _ in matched) if matched else None
    return EventChange(phase=phase, seen=len(matched), trials=trials, delay_s=delay_s, ratio=ratio)


def _moments(measured: Mapping[str, Measurement], events: Sequence[PlannedEvent]) -> Iterator[tuple[str, float]]:
    """Yields the phases that begin in a trial after the first, with the times."""
    for number, event in enumerate(events, 1):
        begun = measured.get(f"event_{number}_s")
        if begun is None:
            continue
        phase, after = PHASES[event.action]
        yield phase, begun.mean
        if after and (lasted := measured.get(LASTED.get(event.action, ""))):
            yield after, begun.mean + lasted.mean
        elif after and event.until_s is not None:
            yield after, event.until_s


def _changes(course: Measurement | None) -> Iterator[tuple[float, ChangePoint]]:
    """Yields the changes of level in a course, with their times."""
    if course is None or not course.step_s:
        return
    for change in change_points(course.points, least=1 / course.step_s):
        yield (course.start_s or 0.0) + change.index * course.step_s, change
