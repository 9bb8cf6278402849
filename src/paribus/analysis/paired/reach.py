"""The reach test: whether the mechanisms that a compared arm needs occurred in any trial of either arm.

An arm that was not reached cannot have had an effect. Nothing is concluded where a counter was not sampled.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from paribus.analysis.paired.descriptive import CONFIDENCE, descriptive_interval
from paribus.analysis.paired.effects import PairSeries, Summaries, whole_blocks
from paribus.analysis.paired.questions import comparison_key
from paribus.i18n import N_, gettext, translate_stored
from paribus.mechanisms import MECHANISMS, Occurred, has_least, least_duration_s, least_message
from paribus.model import (
    SINGLE,
    ArmKey,
    Effect,
    Look,
    Measurement,
    Purpose,
    Requirement,
    Trial,
    TrialState,
    Verdict,
    arm_of,
)
from paribus.units import show_duration

_EXCLUDED = N_("{knob} needs {mechanism}, and {fact}")
_NOT_SEEN = N_("{knob} needs {mechanism}, which no trial of either arm shows ({counters})")
_AT_SPEED = N_("{need}: at the measured speed it must last {duration}")
_DESCRIPTIVE = N_("the interval holds {confidence} of the pairs so far; it decides nothing")
_SAVED = N_("{n} planned trials were not run for that reason, which saved about {duration}")


def counters_of(requirements: Sequence[Requirement]) -> set[str]:
    """Return the metrics that the reach test reads."""
    mechanisms = [MECHANISMS[requirement.mechanism] for requirement in requirements]
    metrics = {metric for mechanism in mechanisms for metric in (*mechanism.counters, mechanism.written) if metric}
    if any(requirement.threshold is not None for requirement in requirements):
        metrics.add("memory_available_bytes")
    return metrics


def unreached(
    trials: Sequence[Trial], summaries: Summaries, requirements: Sequence[Requirement]
) -> dict[ArmKey, tuple[Requirement, ...]]:
    """Return the arms that cannot have acted, each with an absent mechanism of every knob that it changes.

    Args:
        trials: All trials of an experiment.
        summaries: Measurements by trial and metric, those of `counters_of` included.
        requirements: The requirements of the plan.
    """
    by_arm: dict[ArmKey, dict[str, list[Requirement]]] = defaultdict(lambda: defaultdict(list))
    for requirement in requirements:
        key = (requirement.factor, requirement.workload, requirement.arm)
        by_arm[key][requirement.knob].append(requirement)
    alone = list(whole_blocks(trials, SINGLE).values())
    screened = [trial for block in whole_blocks(trials, (Purpose.SCREEN,)).values() for trial in block]
    result = {}
    for key, knobs in by_arm.items():
        factor, workload, arm = key
        tried = [
            trial
            for block in alone
            if any(arm_of(trial) == key for trial in block)
            for trial in block
            if trial.baseline or trial.arm == arm
        ] + [trial for trial in screened if trial.workload == workload and factor in trial.settings]
        if not tried:
            continue
        absent = [
            next((each for each in needs if _is_absent(each, tried, summaries)), None) for needs in knobs.values()
        ]
        if None not in absent:
            result[key] = tuple(filter(None, absent))
    return result


def _is_absent(requirement: Requirement, trials: Sequence[Trial], summaries: Summaries) -> bool:
    """Whether the plan excludes a mechanism, or the counters of every trial show that it did not occur."""
    if requirement.obstacle:
        return True
    mechanism = MECHANISMS[requirement.mechanism]
    occurrences: list[Occurred] = [
        mechanism.occurred(summaries.get(trial.order, {}), requirement.threshold) for trial in trials
    ]
    return all(occurred is False for occurred in occurrences)


def reach_looks(all_series: Sequence[PairSeries], looks: Sequence[Look]) -> list[Look]:
    """Return the looks that end the comparison of an arm that was not reached, one for each of its responses.

    None while the pairs of a response differ from zero: the comparison then continues, since evidence of an effect
    prevails.
    """
    numbers = {comparison_key(series): 0 for series in all_series}
    for look in looks:
        numbers[look.factor, look.arm, look.workload, look.response] = look.number
    new_looks = [_reach_look(series, numbers[comparison_key(series)] + 1) for series in all_series]
    return [] if None in new_looks else list(filter(None, new_looks))


def _reach_look(series: PairSeries, number: int) -> Look | None:
    described = descriptive_interval(series)
    if described is None or not described.low <= 0 <= described.high:
        return None
    return Look(
        factor=series.factor,
        arm=series.arm,
        workload=series.workload,
        response=series.response,
        number=number,
        pairs=series.units,
        alpha_spent=0.0,
        low=described.low,
        high=described.high,
        estimate=described.estimate,
        verdict=Verdict.NO_EFFECT_POSSIBLE,
        purpose=series.purpose,
    )


def unreached_effect(
    series: PairSeries,
    margin: float,
    look: Look,
    absent: Sequence[Requirement],
    trials: Sequence[Trial],
    summaries: Summaries,
) -> Effect:
    """Return the effect of an arm that was not reached, as its last look shows it."""
    orders = sorted(order for pair in series.pairs for order in pair.trials)
    measured = [summaries.get(order, {}) for order in orders]
    return Effect(
        factor=series.factor,
        baseline=series.baseline,
        arm=series.arm,
        workload=series.workload,
        response=series.response,
        load=None,
        estimate=look.estimate,
        low=look.low,
        high=look.high,
        confidence=CONFIDENCE,
        pairs=look.pairs,
        margin=margin,
        method="reach test: mechanisms that the setting needs",
        look=look.number,
        verdict=Verdict.NO_EFFECT_POSSIBLE,
        tags=(),
        reasons=(*reasons_of(absent, measured), _descriptive(), *_saved(series, trials)),
        trials=tuple(orders),
    )


def reasons_of(absent: Iterable[Requirement], summaries: Sequence[Mapping[str, Measurement]]) -> list[str]:
    """Return the absent mechanism of each knob, as sentences; `summaries` are of the trials of the arm."""
    reasons = []
    for requirement in absent:
        mechanism = gettext(requirement.mechanism)
        if requirement.obstacle:
            fact = gettext(requirement.obstacle, **requirement.values)
            reasons.append(gettext(_EXCLUDED, knob=requirement.knob, mechanism=mechanism, fact=fact))
        else:
            counters = ", ".join(MECHANISMS[requirement.mechanism].counters)
            reasons.append(gettext(_NOT_SEEN, knob=requirement.knob, mechanism=mechanism, counters=counters))
        if has_least(requirement):
            reasons.append(_too_short(requirement, summaries))
    return reasons


def _too_short(requirement: Requirement, summaries: Sequence[Mapping[str, Measurement]]) -> str:
    """Return the least a trial must write or last, and its length for that at the mean rate of the trials."""
    need = translate_stored(least_message(requirement))
    needed_s = least_duration_s(requirement, summaries)
    if needed_s is None or needed_s == requirement.least_s:
        return need
    return gettext(_AT_SPEED, need=need, duration=show_duration(needed_s))


def _descriptive() -> str:
    return gettext(_DESCRIPTIVE, confidence=f"{CONFIDENCE:.0%}")


def _saved(series: PairSeries, trials: Sequence[Trial]) -> list[str]:
    """Return the planned trials that were not run, and their time by that of the trials that were."""
    of_comparison = [
        t for t in trials if (t.factor, t.workload) == (series.factor, series.workload) and t.purpose in SINGLE
    ]
    is_last = {trial.arm for trial in of_comparison} == {series.baseline, series.arm}
    concerned = [trial for trial in of_comparison if trial.arm == series.arm or (is_last and trial.baseline)]
    spared = sum(trial.state is TrialState.SPARED for trial in concerned)
    took = [trial.took_s for trial in concerned if trial.state is TrialState.DONE]
    if not spared or not took:
        return []
    return [gettext(_SAVED, n=spared, duration=show_duration(spared * sum(took) / len(took)))]


def prevails(verdict: Verdict | None) -> bool:
    """Return whether a verdict is evidence of an effect, which a failed reach test does not replace."""
    return verdict in (Verdict.BETTER, Verdict.WORSE, Verdict.DEPENDS_ON_LOAD)
