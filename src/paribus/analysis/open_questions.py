"""Questions that an experiment leaves open and that more pairs can answer.

In: the trials and the effects over all load levels. Out: arms by factor. Called by the report and by `paribus again`.
"""

from collections.abc import Collection, Sequence

from paribus.model import DIRECTIONAL, SINGLE, ArmKey, Effect, Tag, Trial, Verdict, arm_of, arms_given_up


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
        if effect is None or _is_open(effect):
            factor, _, arm = key
            arms.setdefault(factor, set()).add(arm)
    return arms


def _is_open(effect: Effect) -> bool:
    """Whether an effect is undecided or suspect, and more pairs of such trials would decide it."""
    if effect.verdict in DIRECTIONAL:
        return Tag.SUSPECT in effect.tags
    is_undecided = effect.verdict in (Verdict.UNDECIDED, None)
    return is_undecided and (effect.decide_s is not None or not effect.would_decide)
