"""Settings of a trial that the machine and its server have; the others are parameters of the workload's job."""

from paribus.model import Plan, Settings


def of_machine(plan: Plan, settings: Settings) -> Settings:
    """The settings without those of workloads and of the parameters of the plan's server."""
    owners = {owner for workload in plan.workloads for owner in workload.owners}
    if plan.database is not None and plan.database.is_server:
        owners.add(plan.database.family)
    return {key: value for key, value in settings.items() if key.partition(".")[0] not in owners}
