"""Health checks of a machine: the rows of a plan and of the folders of knobs, and their states now."""

import dataclasses
from collections.abc import Iterator

from paribus.errors import HostError, PlanError, Problem
from paribus.hosts.storage.stack import stack_of
from paribus.knobs import health
from paribus.knobs.catalog.health_rows import checks_of
from paribus.knobs.catalog.own_rows import configuration_folders, rows_in
from paribus.lab.machine.own_knobs import rows_for
from paribus.model import Condition, Fitness, HealthCheck, Plan
from paribus.parsers.redact import redact
from paribus.plan.form.parse import Parsed
from paribus.trial.target_session import Site


def watching(site: Site, parsed: Parsed, plan: Plan) -> Plan:
    """The plan with what is watched in its trials: its own rows, and those of the folders that can be read here.

    Raises PlanError where a row of the plan cannot be read, or where no trial would count now; UsageError for a file.
    """
    in_plan = parsed.table.health
    rows = {check.name: check for check in [*rows_for(parsed).health, *checks_of(in_plan)]}
    target = plan.target
    disks = dict.fromkeys(site.host.resolve(disk) for disk in target.devices)
    disks |= dict.fromkeys(filter(None, (target.device, *target.more_disks)))
    watched: list[HealthCheck] = []
    notes: list[str] = []
    unreadable: list[str] = []  # rows of folders, which may be for other machines
    problems: list[Problem] = []
    for reading in health.read_each(site.host, list(health.placed(list(rows.values()), list(disks)))):
        check, state = reading.check, reading.state
        row = check.name.partition(" ")[0]
        if state is None and row not in in_plan:
            if not reading.lacks_program:  # a controller's program that is not there is of another machine
                unreadable.append(check.name)
            continue
        watched.append(check)
        if state is None:
            todo = "correct the row, or remove it"
            problems.append(parsed.problem(("health", row), f"cannot be read: {redact(reading.refused)}", todo))
        elif reason := health.unsound(check, state):
            todo = "mend that first, or let the row say that trials count"
            problems.append(parsed.problem(("health", row), f"no trial would count now: {reason}", todo))
    if problems:
        raise PlanError(parsed.name, problems)
    if unreadable:
        notes.append(f"not watched, since they cannot be read here (paribus knobs check): {', '.join(unreadable)}")
    if watched:
        notes.append(f"watched in every trial: {', '.join(check.name for check in watched)}")
    if untried := [check.name for check in watched if check.proved == "transcript"]:
        notes.append(f"of these, only manuals are known, and no device was seen: {', '.join(untried)}")
    return dataclasses.replace(plan, health=tuple(watched), notes=(*plan.notes, *notes))


def states(site: Site, device: str) -> Iterator[Condition]:
    """The states now, by the rows of the system's and the user's folders; `device` is what the folder is on."""
    rows = rows_in(configuration_folders()).health
    try:
        disks = stack_of(site.host, device).disks if rows else ()
    except HostError:
        disks = ()
    for reading in health.read_each(site.host, list(health.placed(rows, disks))):
        check, state = reading.check, reading.state
        if state is None:
            yield Condition(check.name, Fitness.NOTE, redact(reading.refused), "correct the row, or remove it")
        elif reason := health.unsound(check, state):
            yield Condition(check.name, Fitness.UNFIT, reason, f"mend that first: {check.summary}")
        else:
            yield Condition(check.name, Fitness.FIT, f"{state} {check.unit}".strip())
