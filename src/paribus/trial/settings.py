"""Settings of a trial by what has them; those of no machine or server are parameters of the workload's job."""

from paribus.model import Plan, Settings, is_of_hypervisor


def of_machine(plan: Plan, settings: Settings) -> Settings:
    """The settings of the target, without those of workloads and of the parameters of the plan's server."""
    owners = {owner for workload in plan.workloads for owner in workload.owners}
    if plan.database is not None and plan.database.is_server:
        owners.add(plan.database.family)
    of_target = {key: value for key, value in settings.items() if not is_of_hypervisor(key)}
    return {key: value for key, value in of_target.items() if key.partition(".")[0] not in owners}


def of_hypervisor(settings: Settings) -> Settings:
    """The settings of the machine that the target is a guest of."""
    return {key: value for key, value in settings.items() if is_of_hypervisor(key)}
