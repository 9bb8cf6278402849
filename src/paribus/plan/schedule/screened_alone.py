"""Comparisons of screened factors by themselves, and the list of everything that may have trials.

After a screen its claims are confirmed, and what it finds equivalent is tried alone. Several factors may share the
trials of one baseline for that: they are then the arms of one comparison.
"""

import dataclasses
from collections.abc import Collection, Iterator

from paribus.model import Plan, Purpose, Settings, Workload
from paribus.plan.schedule.comparisons import (
    Comparison,
    PlannedArm,
    application_s,
    candidates,
    candidates_at,
    comparisons,
    is_toggled,
    measured,
    noise_comparisons,
    screened,
)

_TOGETHER = {Purpose.ALONE: "screened factors alone", Purpose.CONFIRM: "screened factors confirmed"}


def all_comparisons(plan: Plan) -> list[Comparison]:
    """Returns everything that may have trials: first comparisons, those that follow screens, and noise comparisons."""
    return [*candidates(plan), *comparisons(plan), *sharing_a_baseline(plan), *noise_comparisons(plan)]


def all_settings(plan: Plan) -> Iterator[tuple[Workload, Settings]]:
    """Yields each workload with each of the settings that may have trials."""
    yield from ((workload, plan.baseline) for workload in measured(plan))
    for comparison in all_comparisons(plan):
        yield from ((comparison.workload, settings) for settings in comparison.settings)


def sharing_a_baseline(plan: Plan) -> list[Comparison]:
    """Returns the comparisons of screened factors that share the trials of a baseline, with all their possible arms."""
    every_key = {(factor.key, workload.name) for workload in plan.workloads for factor in screened(plan, workload)}
    return [*each_alone(plan, every_key), *_confirmed_together(plan, every_key)]


def confirming(plan: Plan, survivors: Collection[tuple[str, str]]) -> list[Comparison]:
    """Returns the comparisons that confirm these factors and workloads of screens.

    Those whose settings are toggled share the trials of the baseline. Others have a comparison of their own, since with
    more than two arms carry-over cannot be washed out.
    """
    together = _confirmed_together(plan, survivors)
    shared = {(key, comparison.workload.name) for comparison in together for key in comparison.tested}
    single = [comparison for comparison in candidates_at(plan, survivors) if comparison.key not in shared]
    return [*together, *(dataclasses.replace(comparison, purpose=Purpose.CONFIRM) for comparison in single)]


def _confirmed_together(plan: Plan, survivors: Collection[tuple[str, str]]) -> list[Comparison]:
    toggled = {comparison.key for comparison in candidates_at(plan, survivors) if comparison.toggled}
    return [comparison for comparison in each_alone(plan, toggled, Purpose.CONFIRM) if len(comparison.tested) > 1]


def each_alone(plan: Plan, chosen: Collection[tuple[str, str]], purpose: Purpose = Purpose.ALONE) -> list[Comparison]:
    """Returns per workload a comparison whose arms are screened factors, each at its second level alone.

    They share the trials of the baseline. Factors that are costly to apply are left out.

    Args:
        plan: The plan.
        chosen: Factor and workload of the arms.
        purpose: Why they are compared.
    """
    result = []
    for workload in plan.workloads:
        factors = [
            factor
            for factor in screened(plan, workload)
            if (factor.key, workload.name) in chosen and not application_s([factor.key], plan)
        ]
        arms = [PlannedArm(factor.arm_alone, {**plan.baseline, factor.key: factor.levels[1]}) for factor in factors]
        if arms:
            tested = tuple(factor.key for factor in factors)
            together = (PlannedArm("baseline", plan.baseline), *arms)
            comparison = Comparison(_TOGETHER[purpose], workload, together, tested, purpose=purpose)
            result.append(dataclasses.replace(comparison, toggled=is_toggled(comparison, plan)))
    return result
