"""Phases of trials with events: throughput before a failure, while degraded, while rebuilding, and after."""

import math
from collections.abc import Mapping, Sequence

from paribus.analysis.diagnostics.event_changes import event_changes
from paribus.analysis.paired.effects import Summaries
from paribus.findings import ArmPhases, Estimate, PhaseFigures
from paribus.model import BEFORE, COMPARING, IMPAIRED, PHASES, Measurement, PlannedEvent, Trial, TrialState
from paribus.stats.pairs import mean_interval

_NAMES = dict.fromkeys([BEFORE, *(name for names in PHASES.values() for name in names if name)])


def compared_trials(trials: Sequence[Trial]) -> list[Trial]:
    """Return the trials that are compared and count."""
    return [trial for trial in trials if trial.purpose in COMPARING and trial.state is TrialState.DONE]


def arm_phases(
    trials: Sequence[Trial],
    summaries: Summaries,
    courses: Mapping[int, Measurement],
    events: Sequence[PlannedEvent],
    confidence: float,
) -> tuple[ArmPhases, ...]:
    """Return the phases of every arm under every workload at every load level; none without events.

    Means are geometric, with the t interval of the logarithms; trials are the unit.

    Args:
        trials: All trials of an experiment.
        summaries: Measurements by trial and metric.
        courses: Throughput with its points, by trial.
        events: The events of the plan.
        confidence: Coverage of the intervals.
    """
    by_arm: dict[tuple[str, str, str, object], list[Trial]] = {}
    for trial in compared_trials(trials):
        if any(_rate(name) in summaries.get(trial.order, {}) for name in _NAMES):
            by_arm.setdefault((trial.factor, trial.arm, trial.workload, trial.load), []).append(trial)
    return tuple(_of_arm(of_arm, summaries, courses, events, confidence) for of_arm in by_arm.values())


def _of_arm(
    trials: Sequence[Trial],
    summaries: Summaries,
    courses: Mapping[int, Measurement],
    events: Sequence[PlannedEvent],
    confidence: float,
) -> ArmPhases:
    first = trials[0]
    measured = [summaries[trial.order] for trial in trials]
    phases = [phase for name in _NAMES if (phase := _phase(name, measured, confidence))]
    changes, unmatched = event_changes(trials, summaries, courses, events, confidence)
    rebuilt_bytes = _values("rebuilt_bytes", measured)
    rebuilt_s, outages_s, impaired_s = (_values(name, measured) for name in ("rebuild_s", "outage_s", IMPAIRED))
    return ArmPhases(
        factor=first.factor,
        arm=first.arm,
        workload=first.workload,
        load=first.load,
        phases=tuple(phases),
        rebuild_s=_mean(rebuilt_s, confidence) if rebuilt_s else None,
        rebuilt=len(rebuilt_s),
        rebuilt_bytes=_mean(rebuilt_bytes, confidence) if rebuilt_bytes else None,
        outage_s=_mean(outages_s, confidence) if outages_s else None,
        impaired_s=_mean(impaired_s, confidence) if impaired_s else None,
        impaired=len(measured) - len(impaired_s),
        course=_mean_course([courses[trial.order].points for trial in trials if trial.order in courses]),
        changes=changes,
        unmatched=unmatched,
        verified=len(_values("verified_blocks", measured)),
        trials=tuple(trial.order for trial in trials),
    )


def _phase(name: str, measured: Sequence[Mapping[str, Measurement]], confidence: float) -> PhaseFigures | None:
    rates, shares = _values(_rate(name), measured), _values(f"{name}_share", measured)
    if not rates:
        return None
    return PhaseFigures(
        phase=name,
        throughput=_mean(rates, confidence),
        share=_mean(shares, confidence) if shares else None,
        stall_s=max(_values(f"{name}_stall_s", measured)),
        trials=len(rates),
    )


def _rate(phase: str) -> str:
    return f"{phase}_per_s"


def _values(metric: str, measured: Sequence[Mapping[str, Measurement]]) -> list[float]:
    return [metrics[metric].mean for metrics in measured if metric in metrics]


def _mean(values: Sequence[float], confidence: float) -> Estimate:
    """The geometric mean of positive values, with its interval."""
    mean, low, high = mean_interval([math.log(value) for value in values], confidence)
    return Estimate(math.exp(mean), None if low is None else math.exp(low), None if high is None else math.exp(high))


def _mean_course(courses: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """The mean of each second, over as many seconds as every trial has."""
    return tuple(sum(points) / len(points) for points in zip(*courses, strict=False))
