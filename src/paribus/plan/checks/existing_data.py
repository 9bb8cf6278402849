"""Whether a plan may use a database of others as it is, and whether that has what the load works on."""

from collections.abc import Iterator

from paribus.i18n import N_, StoredMessage, stored_message
from paribus.model import Facts, Plan, Workload
from paribus.plan.data import Complaint, data_sets
from paribus.plan.database import DatabaseTable

_FOR_GOOD = N_("the load changes rows of {name} on {server} for good: no copy of them is made or restored")


def notes(plan: Plan) -> Iterator[StoredMessage]:
    """Yields a note on each database whose rows change for good."""
    if plan.database and plan.database.running:
        names = (data.existing for sets in data_sets(plan).values() for data in sets if data.existing and data.written)
        for name in dict.fromkeys(names):
            yield stored_message(_FOR_GOOD, name=name, server=plan.database.running.address)


def complaints(plan: Plan, facts: Facts, table: DatabaseTable | None) -> Iterator[Complaint]:
    """Yields every reason against a workload on existing data.

    Args:
        plan: The plan.
        facts: The machine as found.
        table: The plan's table [database]; None without one.
    """
    sets = data_sets(plan)
    for workload in {workload.plan_name: workload for workload in plan.workloads}.values():
        for name in dict.fromkeys(data.existing for data in sets[workload.plan_name] if data.existing):
            yield from _complaints_of(workload, name, facts, table)


def _complaints_of(workload: Workload, name: str, facts: Facts, table: DatabaseTable | None) -> Iterator[Complaint]:
    """Yields the reasons against a workload on the database of this name."""
    if table is None or table.dsn is None:
        hint = 'write under [database]: dsn = "mysql://user@host/", or remove existing'
        yield Complaint(workload.plan_name, "existing", f"database {name} is looked for on a running server", hint)
        return
    if name not in table.may_write:
        message = f"the load changes rows of {name}, and no copy of them is made"
        hint = f'to allow that for good, write under [database]: may_write = ["{name}"]'
        yield Complaint(workload.plan_name, "existing", message, hint)
    if workload.data != "keep":
        hint = 'use data = "keep", the default'
        yield Complaint(workload.plan_name, "data", f"the rows of {name} cannot be put back", hint)
    server = facts.database
    if server is None:
        return
    if reason := server.unusable.get(name):
        message = f"database {name} has no TPC-C as tpcc-mysql makes it: {reason}"
        yield Complaint(workload.plan_name, "existing", message, "name a database that tpcc-mysql has made")
    needed, present = int(str(workload.parameters["warehouses"])), server.warehouses.get(name)
    if present is not None and needed > present:
        message = f"{needed} warehouses are asked for, and {name} has {present}"
        yield Complaint(workload.plan_name, "warehouses", message, f"write warehouses = {present}")
