"""Settings that an experiment recommends, by factor: for applying them, and for a change that others make."""

from collections.abc import Mapping

from paribus.errors import Inapplicable, UsageError
from paribus.i18n import N_, gettext
from paribus.model import Plan, Settings, Value
from paribus.plan.schedule.comparisons import PlannedArm, candidates, screened
from paribus.report.view.view_models import Advice


def recommended_arms(plan: Plan, advised: Advice) -> tuple[PlannedArm, PlannedArm, tuple[str, ...]]:
    """The baseline and the recommended arm, and the settings that vary. Raises Inapplicable if there is no such arm."""
    for comparison in candidates(plan):
        for arm in comparison.arms:
            if (comparison.factor, arm.label) == (advised.factor, advised.arm):
                return comparison.arms[0], arm, comparison.tested
    raise Inapplicable(f"the plan has no level {advised.arm} of the factor {advised.factor}", "see: paribus report")


def recommended_settings(plan: Plan, advised: Advice) -> Settings:
    """Settings of the recommended arm, by knob. Raises Inapplicable if the plan has no such arm."""
    _, arm, tested = recommended_arms(plan, advised)
    return {key: arm.settings[key] for key in tested if key in arm.settings}


def refuse_contradiction(settings_by_factor: Mapping[str, Settings]) -> None:
    """Raise UsageError if two factors require different values of one knob."""
    factor_and_value: dict[str, tuple[str, Value]] = {}
    for factor, arm in settings_by_factor.items():
        for key, value in arm.items():
            earlier_factor, earlier_value = factor_and_value.setdefault(key, (factor, value))
            if earlier_value != value:
                raise UsageError(
                    f"{earlier_factor} recommends {key} = {earlier_value}, {factor} recommends {value}",
                    "choose one of these factors with --factor",
                )


def untested_combination_notes(plan: Plan, factors: list[str]) -> list[str]:
    """A note if the factors were not measured together."""
    together = {factor.key for workload in plan.workloads for factor in screened(plan, workload)}
    alone = [factor for factor in factors if factor not in together]
    if len(factors) < 2 or not alone:
        return []
    message = N_("{factors} were not measured together: each was compared with the baseline alone")
    return [gettext(message, factors=", ".join(factors))]
