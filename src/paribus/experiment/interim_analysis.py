"""Interim analysis: looks at comparisons, and the trials that decisions spare.

Called by the walk after each block and at the end. A comparison is looked at after a fixed number of its blocks, never
because of what they showed.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence

from sqlalchemy.engine import Engine as Store

from paribus.analysis.paired.effects import PairSeries, Summaries, metrics_of_pairs
from paribus.analysis.paired.finding import LEAST_UNITS
from paribus.analysis.paired.questions import questions
from paribus.analysis.paired.reach import counters_of, reach_looks, unreached
from paribus.analysis.paired.selection import take_selection_looks, undecided_levels
from paribus.analysis.paired.take_looks import take_looks
from paribus.model import ArmKey, Experiment, Look, Plan, Purpose, Trial, TrialState, arm_of
from paribus.plan.schedule.comparisons import Comparison, candidates, candidates_at, comparisons
from paribus.plan.schedule.screened_alone import sharing_a_baseline
from paribus.store import read, write
from paribus.trial.blocks import blocks_over

_LEAST_PAIRS, _LEAST_APPLICATIONS = 4, 2  # of blocks before the reach test
_MOST_TESTED_BLOCKS = 16  # after which it is left to looks: each test reads all trials of the comparison


def take_due_looks(
    plan: Plan, experiment: Experiment, store: Store, trials: Sequence[Trial], *, over: bool = False
) -> list[Look]:
    """Take every look that is due, store it, and spare the trials of decided comparisons.

    `over`: no more trials will be run. Returns the looks that decided something. Raises StoreError.
    """
    earlier_looks = read.looks(store, experiment.id)
    decided = decided_arms(plan, earlier_looks)
    completed = blocks_over(trials, decided)
    compared = underway(plan, trials)
    tested = [c for c in compared if reach_is_due(c, plan, completed.get(c.key, 0), over=over)]
    due = [c for c in compared if over or is_due(c, plan, completed.get(c.key, 0), trials, earlier_looks)]
    if not due and not tested:
        return []
    tested = [c for c in tested if not any((look.factor, look.workload) == c.key for look in earlier_looks)]
    if not due and not tested:
        return []
    keys = {comparison.key for comparison in (*due, *tested)}
    metrics = metrics_of_pairs(plan.workloads) | counters_of(plan.requirements)
    summaries = read.summaries(store, experiment.id, metrics=metrics, comparisons=sorted(keys))
    absent = unreached(trials, summaries, plan.requirements)
    new_looks = looks_at(due, plan, trials, summaries, earlier_looks, over=over, absent=absent)
    looked_at = {(look.factor, look.workload) for look in (*earlier_looks, *new_looks)}
    keys_tested = {comparison.key for comparison in tested} - looked_at
    new_looks += _reach_looks(keys_tested, plan, trials, summaries, earlier_looks, absent)
    decided = decided_arms(plan, [*earlier_looks, *new_looks])
    spared = [trial.order for trial in trials if trial.state is TrialState.PLANNED and arm_of(trial) in decided]
    write.add_looks(store, experiment.id, new_looks, spared)
    return [new for new in new_looks if new.verdict is not None]


def looks_at(
    due: Sequence[Comparison],
    plan: Plan,
    trials: Sequence[Trial],
    summaries: Summaries,
    earlier_looks: Sequence[Look],
    *,
    over: bool,
    absent: Collection[ArmKey] = (),
) -> list[Look]:
    """New looks at the `due` comparisons, and at which of their levels is best; the `absent` arms cannot have acted.

    A look is the last one of a screen that has no more trials, and of any comparison when `over`.
    """
    is_last_look = {
        comparison.key: over or bool(comparison.screened and is_over(comparison, trials)) for comparison in due
    }
    new_looks = [
        look
        for last in (False, True)
        for look in take_looks(
            trials,
            summaries,
            plan.workloads,
            plan.protocol,
            earlier_looks,
            [key for key, is_last in is_last_look.items() if is_last is last],
            factors=plan.factors,
            over=last,
            absent=absent,
        )
    ]
    so_far, keys = [*earlier_looks, *new_looks], [comparison.key for comparison in due]
    selecting = take_selection_looks(trials, summaries, plan.workloads, plan.protocol, so_far, keys, over=over)
    return new_looks + selecting


def reach_is_due(comparison: Comparison, plan: Plan, completed: int, *, over: bool) -> bool:
    """Whether the reach test of a comparison is due: each load level was tried twice.

    From the first look on, looks test it. At the end, what no look has seen is tested. A screen is not, since its
    trials are those of other factors too.
    """
    keys = {(requirement.factor, requirement.workload) for requirement in plan.requirements}
    if comparison.screened or comparison.key not in keys:
        return False
    levels = len(comparison.workload.levels)
    fewest = _LEAST_APPLICATIONS if comparison.sub_trials > 1 else max(_LEAST_PAIRS, 2 * levels)
    return over or fewest <= completed <= fewest + _MOST_TESTED_BLOCKS


def _reach_looks(
    keys: Collection[tuple[str, str]],
    plan: Plan,
    trials: Sequence[Trial],
    summaries: Summaries,
    earlier_looks: Sequence[Look],
    absent: Collection[ArmKey],
) -> list[Look]:
    """The looks that end comparisons of arms that cannot have acted."""
    decided = {(look.factor, look.workload, look.arm) for look in earlier_looks if look.verdict is not None}
    by_arm: dict[ArmKey, list[PairSeries]] = defaultdict(list)
    for series, _ in questions(trials, summaries, plan.workloads, plan.protocol, plan.factors):
        arm = (series.factor, series.workload, series.arm)
        if series.purpose is not Purpose.SCREEN and arm in absent and arm not in decided and arm[:2] in keys:
            by_arm[arm].append(series)
    return [look for all_series in by_arm.values() for look in reach_looks(all_series, earlier_looks)]


def underway(plan: Plan, trials: Sequence[Trial]) -> list[Comparison]:
    """Every comparison that has trials, except those that measure noise."""
    first = [comparison for comparison in comparisons(plan) if comparison.purpose is not Purpose.PLACEBO]
    return [*first, *after_screens(plan, trials)]


def after_screens(plan: Plan, trials: Sequence[Trial]) -> list[Comparison]:
    """The comparisons of screened factors by themselves that have trials."""
    keys = {(trial.factor, trial.workload) for trial in trials if trial.purpose in (Purpose.CONFIRM, Purpose.ALONE)}
    shared = [comparison for comparison in sharing_a_baseline(plan) if comparison.key in keys] if keys else []
    return [*candidates_at(plan, keys), *shared]


def is_due(comparison: Comparison, plan: Plan, completed: int, trials: Sequence[Trial], looks: Sequence[Look]) -> bool:
    """Whether a comparison is due for a look after `completed` of its blocks.

    While a block waits to be run again, `completed` stays as it is: it gives one look, and not one for each new block.
    A screen that has no more trials is due, since its confirmation follows.
    """
    return _is_stage_over(comparison, plan, completed, _looks_taken(comparison, looks)) or bool(
        comparison.screened and is_over(comparison, trials)
    )


def _is_stage_over(comparison: Comparison, plan: Plan, completed: int, taken: int) -> bool:
    """Whether so many completed blocks call for a look, of which `taken` were taken."""
    if plan.protocol.method == "fixed":
        return False
    first = 2 * comparison.blocks_per_look if comparison.screened else comparison.blocks_per_look
    if completed < first or completed % comparison.blocks_per_look != 0:
        return False
    least = first if comparison.screened else LEAST_UNITS["application" if comparison.sub_trials > 1 else "pair"]
    looks = completed // comparison.blocks_per_look - (least - 1) // comparison.blocks_per_look
    return looks <= 0 or looks > taken


def _looks_taken(comparison: Comparison, looks: Sequence[Look]) -> int:
    """Return the number of looks at those arms of a comparison that are undecided."""
    return max(
        (
            look.number
            for look in looks
            if look.verdict is None
            and (look.workload, look.purpose) == (comparison.workload.name, comparison.purpose)
            and (comparison.screened or look.factor == comparison.factor)
        ),
        default=0,
    )


def is_over(comparison: Comparison, trials: Sequence[Trial]) -> bool:
    """Whether no more trials of a comparison will be run."""
    blocks = {t.block for t in trials if (t.factor, t.workload) == comparison.key and t.state is not TrialState.SPARED}
    return blocks_over(trials).get(comparison.key, 0) == len(blocks)


def decided_arms(plan: Plan, looks: Collection[Look]) -> set[ArmKey]:
    """The arms whose responses are all decided, and the baselines that nothing is compared with any more.

    A screen is decided when all its factors are. Levels that may be the best are undecided until that is known.
    """
    decided_responses = {(k.factor, k.workload, k.arm, k.response, k.purpose) for k in looks if k.verdict is not None}
    arms: set[ArmKey] = set()
    may_be_best = undecided_levels(looks)
    for comparison in comparisons(plan):
        responses, workload = comparison.workload.responses, comparison.workload.name
        if comparison.screened:
            screened_responses = [
                (f.key, workload, f.labels[1], r, Purpose.SCREEN) for f in comparison.screened for r in responses
            ]
            arms |= (
                {(comparison.factor, workload, arm.label) for arm in comparison.arms}
                if decided_responses.issuperset(screened_responses)
                else set()
            )
    looked_at = {(look.factor, look.workload, look.arm) for look in looks}
    shared = sharing_a_baseline(plan)
    for comparison in [*candidates(plan), *shared]:
        responses, workload = comparison.workload.responses, comparison.workload.name
        baseline, *compared_arms = [(comparison.factor, workload, arm.label) for arm in comparison.arms]
        if comparison in shared:  # of all possible arms, those that were chosen
            compared_arms = [arm for arm in compared_arms if arm in looked_at]
            if not compared_arms:
                continue
        decided = {
            arm
            for arm in compared_arms
            for purpose in (Purpose.COMPARE, Purpose.CONFIRM)
            if decided_responses.issuperset((*arm, response, purpose) for response in responses)
        }
        arms |= (decided - may_be_best) | ({baseline} if len(decided) == len(compared_arms) else set())
    return arms | _needless_placebos(plan, arms)


def _needless_placebos(plan: Plan, decided: Collection[ArmKey]) -> set[ArmKey]:
    """The placebo arms under workloads where every other comparison is decided."""
    compared = comparisons(plan)
    undecided = {
        comparison.workload.name
        for comparison in compared
        for arm in comparison.arms
        if comparison.purpose is not Purpose.PLACEBO
        and (comparison.factor, comparison.workload.name, arm.label) not in decided
    }
    return {
        (comparison.factor, comparison.workload.name, arm.label)
        for comparison in compared
        for arm in comparison.arms
        if comparison.purpose is Purpose.PLACEBO and comparison.workload.name not in undecided
    }
