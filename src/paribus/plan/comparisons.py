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
    screened_together = {(factor.key, workload) for workload, factors in screens.items() for factor in factors}
    single = [comparison for comparison in candidates(plan) if comparison.key not in screened_together]
    arms = (PlannedArm(_MIRROR, plan.baseline), PlannedArm(_DRAWN, plan.baseline))
    chosen = [*single, *(_placebos(single, plan) if plan.protocol.placebo else [])]
    for workload in plan.workloads:
        if factors := screens[workload.name]:
            keys = tuple(factor.key for factor in factors)
            apply_s = _apply_s(keys, plan)
            chosen.append(Comparison(SCREEN, workload, arms, keys, factors, apply_s=apply_s, purpose=Purpose.SCREEN))
    return chosen


def _placebos(single: Sequence[Comparison], plan: Plan) -> list[Comparison]:
    """The baseline against itself among the others, once for every four arms that are tried alone under a workload."""
    placebos = []
    for workload in plan.workloads:
        under_workload = [comparison for comparison in single if comparison.workload == workload]
        for number in range(sum(len(comparison.arms) - 1 for comparison in under_workload) // _ARMS_PER_PLACEBO):
            comparison = _equals(f"{PLACEBO} {number + 1}", workload, under_workload, plan)
            placebos.append(dataclasses.replace(comparison, purpose=Purpose.PLACEBO))
    return placebos


def _equals(name: str, workload: Workload, compared: Sequence[Comparison], plan: Plan) -> Comparison:
    """The baseline against itself, all that these comparisons set being set each time, but for what is costly."""
    tested = tuple(sorted({key for comparison in compared if comparison.sub_trials == 1 for key in comparison.tested}))
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
    independent = [
        factor for factor in plan.factors if workload.name in factor.scope and _is_free(factor, plan, workload)
    ]
    names = {factor.key for factor in independent}
    dependent = {knob.name for knob in plan.knobs if knob.exists_under in names}
    chosen = tuple(factor for factor in independent if factor.key not in dependent)
    pairs = pairs_per_round(len(workload.load_levels)) * (protocol.rounds or math.inf)
    return chosen if len(chosen) >= _LEAST_SCREENED[protocol.design] and pairs >= least_pairs(len(chosen)) else ()


def _is_free(factor: Factor, plan: Plan, workload: Workload) -> bool:
    """Whether a factor has two levels that differ, each with the same data, whatever the other factors are."""
    if len(factor.levels) != 2 or factor.levels[0] == factor.levels[1]:
        return False
    if factor.key.partition(".")[0] not in workload.owners:
        return True
    parameters = [other for other in plan.factors if other.key.partition(".")[0] in workload.owners and other != factor]
    others = [{other.key: level} for other in parameters for level in other.levels] or [{}]
    try:
        sets = [data_of(workload, {**plan.baseline, **other, factor.key: factor.levels[1]}) for other in others]
        base = [data_of(workload, {**plan.baseline, **other}) for other in others]
    except ValidationError:
        return False
    return sets == base


def candidates_at(plan: Plan, keys: Collection[tuple[str, str]]) -> list[Comparison]:
    """The candidates of these factors and workloads."""
    return [comparison for comparison in candidates(plan) if comparison.key in keys]


def every_comparison(plan: Plan) -> list[Comparison]:
    """All that there may be trials of: what is compared first, what confirms, what compares equals."""
    return [*candidates(plan), *comparisons(plan), *noise_comparisons(plan)]


def every_setting(plan: Plan) -> Iterator[tuple[Workload, Settings]]:
    """Each workload with each of the settings that there may be trials of."""
    yield from ((workload, plan.baseline) for workload in measured(plan))
    for comparison in every_comparison(plan):
        yield from ((comparison.workload, settings) for settings in comparison.settings)


def candidates(plan: Plan) -> list[Comparison]:
    """Each factor of a plan, and its combinations, as a comparison of its own under each workload."""
    chosen = []
    for workload in plan.workloads:
        for factor in plan.factors:
            if workload.name in factor.scope:
                arms = tuple(
                    PlannedArm(label, {**plan.baseline, factor.key: level})
                    for level, label in zip(factor.levels, factor.labels, strict=True)
                )
                chosen.append(_comparison(factor.key, workload, arms, (factor.key,), plan))
        if plan.combinations:
            combined = (
                PlannedArm(combination.name, {**plan.baseline, **combination.settings})
                for combination in plan.combinations
            )
            tested = tuple(sorted({key for combination in plan.combinations for key in combination.settings}))
            arms = (PlannedArm("baseline", plan.baseline), *combined)
            chosen.append(_comparison("combination", workload, arms, tested, plan))
    return chosen


def _comparison(
    factor: str, workload: Workload, arms: tuple[PlannedArm, ...], tested: tuple[str, ...], plan: Plan
) -> Comparison:
    """With as many trials in each application as are worth making, at most two passes over the load levels."""
    protocol, apply_s = plan.protocol, _apply_s(tested, plan)
    comparison = Comparison(factor, workload, arms, tested, apply_s=apply_s)
    if is_in_flight(comparison, plan):
        return comparison
    usual_settle_s = min(protocol.trial_s / 2, 30.0)  # not what is learned later: the schedule stays as it is
    worthwhile = sub_trials(apply_s, protocol.trial_s, usual_settle_s, _BETWEEN_SD, _WITHIN_SD) if apply_s else 1
    limit = 2 * len(workload.levels)
    return dataclasses.replace(comparison, sub_trials=min(protocol.sub_trials or worthwhile, limit))


def _apply_s(tested: Iterable[str], plan: Plan) -> float:
    """Seconds that an application of these settings takes: as measured here before, else as is usual."""
    usual = {knob.name: _USUAL_APPLY_S.get(knob.takes_effect, 0.0) for knob in plan.knobs}
    return sum(plan.protocol.apply_s.get(key, usual.get(key, 0.0)) for key in tested)


def is_in_flight(comparison: Comparison, plan: Plan) -> bool:
    """Whether the settings of a comparison can change while the load goes on: all of them take effect at once, and
    the load is the engine's."""
    if workload_kinds.get(comparison.workload.kind).tool:
        return False
    live = {knob.name for knob in plan.knobs if knob.takes_effect == "live"}
    return plan.protocol.in_flight and comparison.workload.cache == "warm" and live.issuperset(comparison.tested)


def noise_comparisons(plan: Plan) -> list[Comparison]:
    """The baseline against itself under each workload, all that some comparison sets being set each time, but for what
    is costly to apply.

    What it shows is noise: of the machine, and of the way in which settings are applied.
    """
    compared = comparisons(plan)
    by_workload = {
        workload.name: (workload, [comparison for comparison in compared if comparison.workload == workload])
        for workload in plan.workloads
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
