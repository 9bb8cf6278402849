"""What a plan compares: arms, baseline first, of each factor or of the combinations, under each workload.

In: a checked plan. Out: Comparisons. A screen stands for several factors that are compared in the same trials; its
two arms are a setting of all of them and the mirror image, drawn anew for each block.
"""

import dataclasses
import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from paribus.model import Factor, Plan, Purpose, Settings, Workload
from paribus.plan.rounds import SPLIT_BLOCKS_PER_ROUND, blocks_per_look, pairs_per_round
from paribus.registry import data_of, workload_kinds
from paribus.stats.foldover import least_pairs, rows_for
from paribus.stats.planner import sub_trials

NOISE_FLOOR, PLACEBO, SCREEN = "noise floor", "placebo", "screen"
_ARMS_PER_PLACEBO = 4
_LEAST_SCREENED = {"auto": 4, "screen": 2}  # factors that are worth a screen
_BETWEEN_SD, _WITHIN_SD = 0.01, 0.0187  # of applications, and of trials in one; where each restarts a server
# What applying takes where it was not measured; the conditions of a load are those of a process that starts anyway.
_USUAL_APPLY_S = {"remount": 0.5, "reload": 5.0, "reboot": 120.0, "rebuild": 3600.0}
_DRAWN, _MIRROR = "as drawn", "mirror image"


@dataclass(frozen=True, slots=True)
class PlannedArm:
    """One combination of settings being compared."""

    label: str
    settings: Settings


@dataclass(frozen=True, slots=True)
class Comparison:
    """The arms of one factor, or of the combinations, under one workload; the first arm is the baseline.

    `tested` are the settings that it varies; `screened` the factors of a screen. Each application of an arm holds for
    `sub_trials`, and takes `apply_s` seconds.
    """

    factor: str
    workload: Workload
    arms: tuple[PlannedArm, ...]
    tested: tuple[str, ...]
    screened: tuple[Factor, ...] = ()
    sub_trials: int = 1
    apply_s: float = 0.0
    purpose: Purpose = Purpose.COMPARE

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from others: the names of its factor and workload."""
        return self.factor, self.workload.name

    @property
    def blocks_per_round(self) -> int:
        """Those that make a round: passes over the load levels, or so many blocks of several levels each."""
        return SPLIT_BLOCKS_PER_ROUND if self.sub_trials > 1 else pairs_per_round(len(self.workload.levels))

    @property
    def blocks_per_look(self) -> int:
        """Those after which it is looked at: a round, or a long pass; of a screen, a replicate of its design."""
        if self.screened:
            return rows_for(len(self.screened))
        return self.blocks_per_round if self.sub_trials > 1 else blocks_per_look(len(self.workload.levels))

    @property
    def settings(self) -> tuple[Settings, ...]:
        """Those of each arm."""
        return tuple(arm.settings for arm in self.arms)


def comparisons(plan: Plan) -> list[Comparison]:
    """What a plan's experiment compares first: one factor at a time, and those that are screened together.

    What a comparison does not vary is at its baseline, or held.
    """
    screens = {workload.name: screened(plan, workload) for workload in plan.workloads}
    together = {(factor.key, workload) for workload, factors in screens.items() for factor in factors}
    alone = [one for one in candidates(plan) if one.key not in together]
    arms = (PlannedArm(_MIRROR, plan.baseline), PlannedArm(_DRAWN, plan.baseline))
    found = [*alone, *(_placebos(alone, plan) if plan.protocol.placebo else [])]
    for workload in plan.workloads:
        if factors := screens[workload.name]:
            keys = tuple(factor.key for factor in factors)
            cost = _apply_s(keys, plan)
            found.append(Comparison(SCREEN, workload, arms, keys, factors, apply_s=cost, purpose=Purpose.SCREEN))
    return found


def _placebos(alone: Sequence[Comparison], plan: Plan) -> list[Comparison]:
    """The baseline against itself among the others, once for every four arms that are tried alone under a workload."""
    found = []
    for workload in plan.workloads:
        mine = [one for one in alone if one.workload == workload]
        for number in range(sum(len(one.arms) - 1 for one in mine) // _ARMS_PER_PLACEBO):
            one = _equals(f"{PLACEBO} {number + 1}", workload, mine, plan)
            found.append(dataclasses.replace(one, purpose=Purpose.PLACEBO))
    return found


def _equals(name: str, workload: Workload, like: Sequence[Comparison], plan: Plan) -> Comparison:
    """The baseline against itself, all that these comparisons set being set each time, but for what is costly."""
    tested = tuple(sorted({key for one in like if one.sub_trials == 1 for key in one.tested}))
    arms = (PlannedArm("baseline", plan.baseline), PlannedArm("baseline again", plan.baseline))
    return Comparison(name, workload, arms, tested, apply_s=_apply_s(tested, plan))


def screened(plan: Plan, workload: Workload) -> tuple[Factor, ...]:
    """The factors that are screened together under a workload: all that can be, where these are enough.

    It needs two levels of each, which can be had whatever the others are. Where it is the plan's choice, so are four
    factors, and as many rounds as make two replicates; a screen that the plan asks for is made from two factors on.
    """
    protocol = plan.protocol
    if protocol.design == "one-at-a-time" or protocol.method == "open-ended":
        return ()
    free = [one for one in plan.factors if workload.name in one.scope and _is_free(one, plan, workload)]
    names = {factor.key for factor in free}
    depends = {knob.name for knob in plan.knobs if knob.exists_under in names}
    found = tuple(factor for factor in free if factor.key not in depends)
    pairs = pairs_per_round(len(workload.load_levels)) * (protocol.rounds or math.inf)
    return found if len(found) >= _LEAST_SCREENED[protocol.design] and pairs >= least_pairs(len(found)) else ()


def _is_free(factor: Factor, plan: Plan, workload: Workload) -> bool:
    """Whether a factor has two levels that differ, each with the same data, whatever the other factors are."""
    if len(factor.levels) != 2 or factor.levels[0] == factor.levels[1]:
        return False
    if factor.key.partition(".")[0] not in workload.owners:
        return True
    parameters = [one for one in plan.factors if one.key.partition(".")[0] in workload.owners and one != factor]
    others = [{one.key: level} for one in parameters for level in one.levels] or [{}]
    try:
        sets = [data_of(workload, {**plan.baseline, **other, factor.key: factor.levels[1]}) for other in others]
        base = [data_of(workload, {**plan.baseline, **other}) for other in others]
    except ValidationError:
        return False
    return sets == base


def candidates_at(plan: Plan, places: Collection[tuple[str, str]]) -> list[Comparison]:
    """The candidates of these factors and workloads."""
    return [one for one in candidates(plan) if one.key in places]


def every_comparison(plan: Plan) -> list[Comparison]:
    """All that there may be trials of: what is compared first, what confirms, what compares equals."""
    return [*candidates(plan), *comparisons(plan), *noise_comparisons(plan)]


def every_setting(plan: Plan) -> Iterator[tuple[Workload, Settings]]:
    """Each workload with each of the settings that there may be trials of."""
    yield from ((workload, plan.baseline) for workload in measured(plan))
    for one in every_comparison(plan):
        yield from ((one.workload, settings) for settings in one.settings)


def candidates(plan: Plan) -> list[Comparison]:
    """Each factor of a plan, and its combinations, as a comparison of its own under each workload."""
    found = []
    for workload in plan.workloads:
        for factor in plan.factors:
            if workload.name in factor.scope:
                arms = tuple(
                    PlannedArm(label, {**plan.baseline, factor.key: level})
                    for level, label in zip(factor.levels, factor.labels, strict=True)
                )
                found.append(_comparison(factor.key, workload, arms, (factor.key,), plan))
        if plan.combinations:
            combined = (PlannedArm(c.name, {**plan.baseline, **c.settings}) for c in plan.combinations)
            tested = tuple(sorted({key for combination in plan.combinations for key in combination.settings}))
            arms = (PlannedArm("baseline", plan.baseline), *combined)
            found.append(_comparison("combination", workload, arms, tested, plan))
    return found


def _comparison(
    factor: str, workload: Workload, arms: tuple[PlannedArm, ...], tested: tuple[str, ...], plan: Plan
) -> Comparison:
    """With as many trials in each application as are worth making, at most two passes over the load levels."""
    protocol, apply_s = plan.protocol, _apply_s(tested, plan)
    found = Comparison(factor, workload, arms, tested, apply_s=apply_s)
    if is_in_flight(found, plan):
        return found
    usual_settle_s = min(protocol.trial_s / 2, 30.0)  # not what is learned later: the schedule stays as it is
    worth = sub_trials(apply_s, protocol.trial_s, usual_settle_s, _BETWEEN_SD, _WITHIN_SD) if apply_s else 1
    most = 2 * len(workload.levels)
    return dataclasses.replace(found, sub_trials=min(protocol.sub_trials or worth, most))


def _apply_s(tested: Iterable[str], plan: Plan) -> float:
    """Seconds that an application of these settings takes: as measured here before, else as is usual."""
    usual = {knob.name: _USUAL_APPLY_S.get(knob.takes_effect, 0.0) for knob in plan.knobs}
    return sum(plan.protocol.apply_s.get(key, usual.get(key, 0.0)) for key in tested)


def is_in_flight(one: Comparison, plan: Plan) -> bool:
    """Whether the settings of a comparison can change while the load goes on: all of them take effect at once, and
    the load is the engine's."""
    if workload_kinds.get(one.workload.kind).tool:
        return False
    live = {knob.name for knob in plan.knobs if knob.takes_effect == "live"}
    return plan.protocol.in_flight and one.workload.cache == "warm" and live.issuperset(one.tested)


def noise_comparisons(plan: Plan) -> list[Comparison]:
    """The baseline against itself under each workload, all that some comparison sets being set each time, but for what
    is costly to apply.

    What it shows is noise: of the machine, and of the way in which settings are applied.
    """
    compared = comparisons(plan)
    by_workload = {
        workload.name: (workload, [one for one in compared if one.workload == workload]) for workload in plan.workloads
    }
    return [
        dataclasses.replace(_equals(NOISE_FLOOR, workload, like, plan), purpose=Purpose.NOISE_FLOOR)
        for workload, like in by_workload.values()
        if like
    ]


def measured(plan: Plan) -> list[Workload]:
    """The series of matrices that nothing is compared under: they are measured as the machine is, or held."""
    compared = {comparison.workload.name for comparison in comparisons(plan)}
    return [workload for workload in plan.workloads if workload.part_of and workload.name not in compared]
