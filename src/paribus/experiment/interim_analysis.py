"""Looking at an experiment on its way: what is decided needs no more trials, and what a screen showed needs others.

Called by the walk after each block, and at the end. A comparison is looked at when its blocks so far are over, and
never because of what they showed.
"""

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy.engine import Engine as Store

from paribus.analysis.paired.effects import Summaries, metrics_of_pairs
from paribus.analysis.paired.judge import take_looks
from paribus.analysis.screening.screen import survivors
from paribus.experiment import noise
from paribus.i18n import N_, StoredMessage, stored_message
from paribus.model import ArmKey, Experiment, Look, Plan, Purpose, Trial, TrialState, arm_of
from paribus.plan.budget import confirmed_within
from paribus.plan.comparisons import Comparison, candidates, candidates_at, comparisons
from paribus.plan.design import confirmation, schedule_hash
from paribus.store import read, write
from paribus.trial.blocks import blocks_over


def look(
    plan: Plan, experiment: Experiment, store: Store, trials: Sequence[Trial], *, over: bool = False
) -> list[Look]:
    """Look at every comparison whose turn it is, keep what was seen, and spare the trials of what is decided.

    `over`: no more trials will be made. Returns the looks that decided something. Raises StoreError.
    """
    made = blocks_over(trials)
    due = [
        one
        for one in underway(plan, trials)
        if over or is_due(one, plan, made.get(one.key, 0)) or (one.screened and is_over(one, trials))
    ]
    if not due:
        return []
    before = read.looks(store, experiment.id)
    places = {one.key for one in due}
    summaries = read.summaries(
        store, experiment.id, metrics=metrics_of_pairs(plan.workloads), comparisons=sorted(places)
    )
    taken = looks_at(due, plan, trials, summaries, before, over=over)
    decided = decided_arms(plan, [*before, *taken])
    spared = [trial.order for trial in trials if trial.state is TrialState.PLANNED and arm_of(trial) in decided]
    write.add_looks(store, experiment.id, taken, spared)
    return [one for one in taken if one.verdict is not None]


def looks_at(
    due: Sequence[Comparison],
    plan: Plan,
    trials: Sequence[Trial],
    summaries: Summaries,
    before: Sequence[Look],
    *,
    over: bool,
) -> list[Look]:
    """The looks at these comparisons; a screen is over when it has no more trials, the others when all are."""
    ended = {one.key: over or bool(one.screened and is_over(one, trials)) for one in due}
    return [
        look
        for last in (False, True)
        for look in take_looks(
            trials,
            summaries,
            plan.workloads,
            plan.protocol,
            before,
            [place for place, is_last in ended.items() if is_last is last],
            factors=plan.factors,
            over=last,
        )
    ]


def confirm(plan: Plan, experiment: Experiment, store: Store, trials: Sequence[Trial]) -> StoredMessage | None:
    """Plan the trials that confirm what the screens showed, once these are over; says in words what it planned.

    Doing it twice is doing it once. Raises StoreError.
    """
    if not any(one.screened for one in comparisons(plan)):
        return None
    looks = read.looks(store, experiment.id)
    added, said = to_confirm(plan, trials, looks, noise.known(store, plan, experiment.fingerprint))
    if said:
        write.add_note(store, experiment.id, said)
    if added:
        write.add_trials(store, experiment.id, added, schedule_hash([*trials, *added]))
    return said


def to_confirm(
    plan: Plan, trials: Sequence[Trial], looks: Sequence[Look], known: Mapping[str, float]
) -> tuple[tuple[Trial, ...], StoredMessage | None]:
    """The trials that confirm what the screens showed, and in words what these are for; none while one goes on."""
    screens = [one for one in comparisons(plan) if one.screened]
    planned = any(trial.purpose is Purpose.CONFIRM for trial in trials)
    found = survivors(looks)
    if planned or not found or not all(is_over(one, trials) for one in screens):
        return (), None
    held, rounds = confirmed_within(plan, known, found, trials)
    more = confirmation(plan, held, rounds, trials) if held else ()
    said = N_("the screen shows an effect of {factors}: tried alone from here on")
    tried = stored_message(said, factors=_names(held))
    if len(held) == len(found):
        return more, tried
    said = N_("the budget does not hold the trials that would confirm what the screen showed of {factors}")
    left = stored_message(said, factors=_names([one for one in found if one not in held]))
    return more, stored_message("{tried}; {left}", tried=tried, left=left) if held else left


def _names(places: Sequence[tuple[str, str]]) -> list[str]:
    return sorted({factor for factor, _ in places})


def underway(plan: Plan, trials: Sequence[Trial]) -> list[Comparison]:
    """Every comparison that there are trials of, but for those that learn the noise."""
    confirmed = {(trial.factor, trial.workload) for trial in trials if trial.purpose is Purpose.CONFIRM}
    first = [one for one in comparisons(plan) if one.purpose is not Purpose.PLACEBO]
    return first + candidates_at(plan, confirmed)


def is_due(one: Comparison, plan: Plan, made: int) -> bool:
    """Whether a comparison is to be looked at after so many of its blocks."""
    if plan.protocol.method == "fixed":
        return False
    first = 2 * one.blocks_per_look if one.screened else one.blocks_per_look
    return made >= first and made % one.blocks_per_look == 0


def is_over(one: Comparison, trials: Sequence[Trial]) -> bool:
    """Whether no more trials of a comparison will be made."""
    mine = {t.block for t in trials if (t.factor, t.workload) == one.key and t.state is not TrialState.SPARED}
    return blocks_over(trials).get(one.key, 0) == len(mine)


def decided_arms(plan: Plan, looks: Collection[Look]) -> set[ArmKey]:
    """The arms of which every response is decided, and the baselines that nothing is compared with any more.

    A screen is decided when all its factors are.
    """
    known = {(k.factor, k.workload, k.arm, k.response, k.purpose) for k in looks if k.verdict is not None}
    found: set[ArmKey] = set()
    for one in comparisons(plan):
        responses, workload = one.workload.responses, one.workload.name
        if one.screened:
            asked = [(f.key, workload, f.labels[1], r, Purpose.SCREEN) for f in one.screened for r in responses]
            found |= {(one.factor, workload, arm.label) for arm in one.arms} if known.issuperset(asked) else set()
    for one in candidates(plan):
        responses, workload = one.workload.responses, one.workload.name
        baseline, *others = [(one.factor, workload, arm.label) for arm in one.arms]
        decided = {
            arm
            for arm in others
            for purpose in (Purpose.COMPARE, Purpose.CONFIRM)
            if known.issuperset((*arm, response, purpose) for response in responses)
        }
        found |= decided | ({baseline} if len(decided) == len(others) else set())
    return found | _needless_placebos(plan, found)


def _needless_placebos(plan: Plan, decided: Collection[ArmKey]) -> set[ArmKey]:
    """The arms of placebos under workloads where nothing else goes on."""
    compared = comparisons(plan)
    undecided = {
        one.workload.name
        for one in compared
        for arm in one.arms
        if one.purpose is not Purpose.PLACEBO and (one.factor, one.workload.name, arm.label) not in decided
    }
    return {
        (one.factor, one.workload.name, arm.label)
        for one in compared
        for arm in one.arms
        if one.purpose is Purpose.PLACEBO and one.workload.name not in undecided
    }
