"""Looking at an experiment on its way: what is decided needs no more trials.

Called by the walk after each block, and at the end. A comparison is looked at when its blocks so far are over, and
never because of what they showed.
"""

from collections.abc import Collection, Sequence

from sqlalchemy.engine import Engine as Store

from ceteris.analysis.judge import take_looks
from ceteris.model import Experiment, Look, Plan, Trial, TrialState
from ceteris.plan.design import Comparison, blocks_per_look, comparisons
from ceteris.store import read, write
from ceteris.trial.blocks import Arm, arm_of, blocks_over


def look(
    plan: Plan, experiment: Experiment, store: Store, trials: Sequence[Trial], *, over: bool = False
) -> list[Look]:
    """Look at every comparison whose turn it is, keep what was seen, and spare the trials of what is decided.

    `over`: no more trials will be made. Returns the looks that decided something. Raises StoreError.
    """
    compared = comparisons(plan)
    due = [one for one in compared if over or _is_due(one, plan, trials)]
    if not due:
        return []
    before = read.looks(store, experiment.id)
    taken = take_looks(
        trials,
        read.summaries(store, experiment.id),
        plan.workloads,
        read.plan(store, experiment.id).protocol,  # its margin may have become known on the way
        before,
        {(one.factor, one.workload.name) for one in due},
        over=over,
    )
    decided = decided_arms(compared, [*before, *taken])
    spared = [trial.order for trial in trials if trial.state is TrialState.PLANNED and arm_of(trial) in decided]
    write.add_looks(store, experiment.id, taken, spared)
    return [one for one in taken if one.verdict is not None]


def _is_due(one: Comparison, plan: Plan, trials: Sequence[Trial]) -> bool:
    if plan.protocol.method == "fixed":
        return False
    made = blocks_over(trials).get((one.factor, one.workload.name), 0)
    return made > 0 and made % blocks_per_look(len(one.workload.load_levels)) == 0


def decided_arms(compared: Sequence[Comparison], looks: Collection[Look]) -> set[Arm]:
    """The arms of which every response is decided, and the baselines that nothing is compared with any more."""
    known = {(one.factor, one.workload, one.arm, one.response) for one in looks if one.verdict is not None}
    found: set[Arm] = set()
    for one in compared:
        baseline, *others = [(one.factor, one.workload.name, arm.label) for arm in one.arms]
        decided = {arm for arm in others if all((*arm, response) in known for response in one.workload.responses)}
        found |= decided | ({baseline} if len(decided) == len(others) else set())
    return found
