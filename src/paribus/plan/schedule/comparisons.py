"""Comparisons of a plan: arms, baseline first, of each factor or of the combinations, under each workload.

A screen compares several factors in the same trials. Its two arms are a setting of all of them and the mirror image,
drawn anew for each block.
"""

import dataclasses
import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from paribus.model import (
    COMBINATION,
    LAYOUT,
    PLATFORM,
    RATES,
    WITHOUT_LAYOUT,
    Factor,
    Plan,
    Purpose,
    Settings,
    Workload,
)
from paribus.plan.schedule.rounds import SPLIT_BLOCKS_PER_ROUND, blocks_per_look, pairs_per_round
from paribus.registry import data_of, workload_kinds
from paribus.stats.foldover import least_pairs, rows_for
from paribus.stats.planner import sub_trials

NOISE_FLOOR, PLACEBO, SCREEN = "noise floor", "placebo", "screen"
_ARMS_PER_PLACEBO = 4
TRIALS_TOGGLED = 2
"""Trials of each arm in a block whose settings are toggled: baseline, other, other, baseline."""
_LEAST_SCREENED = {"auto": 4, "screen": 2}  # fewest factors of a screen, by `design`
_BETWEEN_SD, _WITHIN_SD = (
    0.01,
    0.0187,
)  # log-ratio sd between applications and between trials of one, if each application restarts a server
# Seconds to apply, where not measured. A load's own conditions cost nothing: its process starts for each trial anyway.
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

    `tested` are the keys of the settings that vary, `screened` the factors of a screen. Each application of an arm
    takes `apply_s` seconds and holds for `sub_trials` trials. Settings that are `toggled` are applied several times in
    a block, under one load, with a short trial each.
    """

    factor: str
    workload: Workload
    arms: tuple[PlannedArm, ...]
    tested: tuple[str, ...]
    screened: tuple[Factor, ...] = ()
    sub_trials: int = 1
    apply_s: float = 0.0
    purpose: Purpose = Purpose.COMPARE
    toggled: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """The names of its factor and workload, which identify it in a plan."""
        return self.factor, self.workload.name

    @property
    def blocks_per_round(self) -> int:
        """Blocks that make a round: passes over the load levels, or a fixed number of blocks of several levels each."""
        return SPLIT_BLOCKS_PER_ROUND if self.sub_trials > 1 else pairs_per_round(len(self.workload.levels))

    @property
    def blocks_per_look(self) -> int:
        """Blocks between two looks: a round or a long pass; for a screen, one replicate of its design."""
        if self.screened:
            return rows_for(len(self.screened))
        return self.blocks_per_round if self.sub_trials > 1 else blocks_per_look(len(self.workload.levels))

    @property
    def trials_per_block(self) -> int:
        """Trials of a block; of toggled settings each arm has two, in mirrored order."""
        return len(self.arms) * (TRIALS_TOGGLED if self.toggled else self.sub_trials)

    @property
    def settings(self) -> tuple[Settings, ...]:
        """The settings of each arm."""
        return tuple(arm.settings for arm in self.arms)


def comparisons(plan: Plan) -> list[Comparison]:
    """Returns what an experiment compares first: one factor at a time, and the screens.

    Settings that a comparison does not vary stay at their baseline, or held.
    """
    screens = {workload.name: screened(plan, workload) for workload in plan.workloads}
    screened_together = {(factor.key, workload) for workload, factors in screens.items() for factor in factors}
    single = [comparison for comparison in candidates(plan) if comparison.key not in screened_together]
    arms = (PlannedArm(_MIRROR, plan.baseline), PlannedArm(_DRAWN, plan.baseline))
    chosen = [*single, *(_placebos(single, plan) if plan.protocol.placebo else [])]
    for workload in plan.workloads:
        if factors := screens[workload.name]:
            keys = tuple(factor.key for factor in factors)
            apply_s = application_s(keys, plan)
            together = Comparison(SCREEN, workload, arms, keys, factors, apply_s=apply_s, purpose=Purpose.SCREEN)
            chosen.append(dataclasses.replace(together, toggled=is_toggled(together, plan)))
    return chosen


def _placebos(single: Sequence[Comparison], plan: Plan) -> list[Comparison]:
    """Returns comparisons of the baseline with itself: per workload, one for every four arms that are tried alone."""
    placebos = []
    for workload in plan.workloads:
        under_workload = [comparison for comparison in single if comparison.workload == workload]
        for number in range(sum(len(comparison.arms) - 1 for comparison in under_workload) // _ARMS_PER_PLACEBO):
            comparison = _equal_arms(f"{PLACEBO} {number + 1}", workload, under_workload, plan)
            toggled = all(other.toggled for other in under_workload)
            placebos.append(dataclasses.replace(comparison, purpose=Purpose.PLACEBO, toggled=toggled))
    return placebos


def _equal_arms(name: str, workload: Workload, compared: Sequence[Comparison], plan: Plan) -> Comparison:
    """Returns the baseline against itself; it sets what `compared` sets, except what is costly to apply."""
    tested = tuple(sorted({key for comparison in compared if comparison.sub_trials == 1 for key in comparison.tested}))
    arms = (PlannedArm("baseline", plan.baseline), PlannedArm("baseline again", plan.baseline))
    return Comparison(name, workload, arms, tested, apply_s=application_s(tested, plan))


def screened(plan: Plan, workload: Workload) -> tuple[Factor, ...]:
    """Returns the factors that are screened together under a workload; none if there are too few.

    Each factor needs two levels that are possible at any level of the others. With `design = "auto"` a screen needs
    four factors, and rounds for two replicates. A screen that the plan asks for needs two factors.
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
    """Returns whether a factor has two different levels with the same data, at any level of the other factors."""
    if len(factor.levels) != 2 or factor.levels[0] == factor.levels[1] or factor.key == PLATFORM:
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
    """Returns the candidates of these factors and workloads."""
    return [comparison for comparison in candidates(plan) if comparison.key in keys]


def candidates(plan: Plan) -> list[Comparison]:
    """Returns each factor of a plan, and its combinations, as a comparison of its own under each workload."""
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
            chosen.append(_comparison(COMBINATION, workload, arms, tested, plan))
    return chosen


def _comparison(
    factor: str, workload: Workload, arms: tuple[PlannedArm, ...], tested: tuple[str, ...], plan: Plan
) -> Comparison:
    """Returns a comparison with as many trials per application as pay off, at most two passes over the load levels."""
    protocol, apply_s = plan.protocol, application_s(tested, plan)
    comparison = Comparison(factor, workload, arms, tested, apply_s=apply_s)
    if is_in_flight(comparison, plan):
        return dataclasses.replace(comparison, toggled=is_toggled(comparison, plan))
    usual_settle_s = min(protocol.trial_s / 2, 30.0)  # not the calibrated time, which would change the schedule later
    worthwhile = sub_trials(apply_s, protocol.trial_s, usual_settle_s, _BETWEEN_SD, _WITHIN_SD) if apply_s else 1
    limit = 2 * len(workload.levels)
    return dataclasses.replace(comparison, sub_trials=min(protocol.sub_trials or worthwhile, limit))


def application_s(tested: Iterable[str], plan: Plan) -> float:
    """Returns the seconds that an application of these settings takes: measured here before, else the usual value.

    Events of a layout damage it, so that every application builds it.
    """
    of_layout = [event for event in plan.events if event.action not in WITHOUT_LAYOUT and event.member is None]
    tested = {*tested, LAYOUT} if of_layout else tested
    usual = {knob.name: _USUAL_APPLY_S.get(knob.takes_effect, 0.0) for knob in plan.knobs}
    return sum(plan.protocol.apply_s.get(key, usual.get(key, 0.0)) for key in tested)


def is_in_flight(comparison: Comparison, plan: Plan) -> bool:
    """Returns whether the settings of a comparison can change under load.

    All of them must take effect at once, and the load must be the engine's.
    """
    if workload_kinds.get(comparison.workload.kind).tool:
        return False
    live = {knob.name for knob in plan.knobs if knob.takes_effect == "live"}
    return plan.protocol.in_flight and comparison.workload.cache == "warm" and live.issuperset(comparison.tested)


def is_toggled(comparison: Comparison, plan: Plan) -> bool:
    """Returns whether settings change back and forth under one load: they act at once and leave nothing behind.

    Percentiles need many operations or seconds, so that they have long trials unless the plan says otherwise.
    """
    protocol = plan.protocol
    lasting = {comparison.factor, *comparison.tested}.intersection(protocol.washed_out)
    if protocol.segment_s is None or lasting or not is_in_flight(comparison, plan):
        return False
    return protocol.segment_chosen or set(comparison.workload.responses) <= set(RATES)


def washes_out(comparison: Comparison, plan: Plan) -> bool:
    """Returns whether a trial of a comparison first runs one trial longer where its own arm did not run before it."""
    return len(comparison.arms) == 2 and _may_carry_over(comparison, plan)


def adjusts_for_carry_over(comparison: Comparison, plan: Plan) -> bool:
    """Returns whether the judging adjusts for carry-over: almost every trial of more than two arms would run longer."""
    return len(comparison.arms) > 2 and _may_carry_over(comparison, plan)


def _may_carry_over(comparison: Comparison, plan: Plan) -> bool:
    return comparison.sub_trials == 1 and comparison.factor in plan.protocol.washed_out


def noise_comparisons(plan: Plan) -> list[Comparison]:
    """Returns the baseline against itself under each workload.

    Each application sets everything that some comparison sets, except what is costly to apply. The result is the noise
    of the machine and of applying settings.
    """
    compared = comparisons(plan)
    by_workload = {
        workload.name: (workload, [comparison for comparison in compared if comparison.workload == workload])
        for workload in plan.workloads
    }
    return [
        dataclasses.replace(_equal_arms(NOISE_FLOOR, workload, compared_here, plan), purpose=Purpose.NOISE_FLOOR)
        for workload, compared_here in by_workload.values()
        if compared_here
    ]


def measured(plan: Plan) -> list[Workload]:
    """Returns the series of matrices under which nothing is compared; they are measured at the baseline."""
    compared = {comparison.workload.name for comparison in comparisons(plan)}
    return [workload for workload in plan.workloads if workload.part_of and workload.name not in compared]
