"""Questions that an experiment leaves open and that more pairs can answer.

In: the trials and the effects over all load levels. Out: arms by factor. Called by the report and by `paribus again`.
"""

from collections.abc import Collection, Sequence

from paribus.model import DIRECTIONAL, RESPONSES, SINGLE, ArmKey, Effect, Tag, Trial, Verdict, arm_of, arms_given_up


def open_arms(trials: Sequence[Trial], effects: Sequence[Effect], hopeless: Collection[ArmKey]) -> dict[str, set[str]]:
    """Return the arms to ask again, by factor: undecided, suspect, or with too few valid pairs.

    Arms that the machine refuses, and those whose trials are too short or too coarse, need another plan.

    Args:
        trials: All trials of the experiment.
        effects: Its effects.
        hopeless: Arms that no number of pairs would decide.
    """
    whole = {(e.factor, e.workload, e.arm): e for e in effects if e.load is None}
    compared = {arm_of(trial) for trial in trials if trial.purpose in SINGLE and not trial.baseline}
    arms: dict[str, set[str]] = {}
    for key in (compared | set(whole)) - arms_given_up(trials) - set(hopeless):
        effect = whole.get(key)
        if effect is None or _is_open(effect) or _is_open_at_levels(effect, effects):
            factor, _, arm = key
            arms.setdefault(factor, set()).add(arm)
    return arms


def _is_open_at_levels(effect: Effect, effects: Sequence[Effect]) -> bool:
    """Return whether an effect depends on load, is better at no level so far, and may be at one by its interval."""
    if effect.verdict is not Verdict.DEPENDS_ON_LOAD:
        return False
    sign = 1 if RESPONSES[effect.response].higher_is_better else -1
    key = (effect.factor, effect.workload, effect.arm, effect.response)
    levels = [e for e in effects if e.load is not None and (e.factor, e.workload, e.arm, e.response) == key]
    gains = [sorted((sign * level.low, sign * level.high)) for level in levels]
    return not any(low > 0 for low, _ in gains) and any(high > effect.margin for _, high in gains)


def _is_open(effect: Effect) -> bool:
    """Whether an effect is undecided or suspect, and more pairs of such trials would decide it."""
    if effect.verdict in DIRECTIONAL:
        return Tag.SUSPECT in effect.tags
    is_undecided = effect.verdict in (Verdict.UNDECIDED, None)
    return is_undecided and (effect.decide_s is not None or not effect.would_decide)
