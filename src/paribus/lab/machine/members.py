"""Drives of a controller's volume that fail in the trials of a plan: their rows, and their states now."""

import dataclasses
from collections.abc import Iterator

from paribus.errors import HostError, PlanError, Problem
from paribus.knobs.catalog.member_rows import members_of
from paribus.knobs.members import placed, state_of
from paribus.lab.machine.own_knobs import rows_for
from paribus.model import Plan, VolumeMember
from paribus.parsers.redact import redact
from paribus.plan.form.parse import Parsed
from paribus.trial.target_session import Site


def with_members(site: Site, parsed: Parsed, plan: Plan) -> Plan:
    """The plan whose events have the rows of their drives; `plan` is watched already.

    Raises PlanError where a row is missing or wrong, or where a drive is not whole now; UsageError for a file.
    """
    may_fail = parsed.table.target.may_fail
    if not any(event.disk in may_fail for event in plan.events):
        return plan
    rows = {row.name: row for row in [*rows_for(parsed).members, *members_of(parsed.table.member)]}
    problems: list[Problem] = []
    for number, name in enumerate(may_fail):
        place = ("target", "may_fail", number)
        if name not in rows:
            todo = "write one, with fail and replace: see docs/how-to/events.md"
            problems.append(parsed.problem(place, f"no row of {name} says how the drive fails", todo))
            continue
        try:
            rows[name] = placed(site.host, rows[name])
        except HostError as error:
            problems.append(parsed.problem(place, error.message, error.todo))
            continue
        problems += [parsed.problem(place, *complaint) for complaint in _complaints(site, rows[name], plan)]
    if problems:
        raise PlanError(parsed.name, problems)
    events = tuple(dataclasses.replace(event, member=rows.get(event.disk)) for event in plan.events)
    failing = {event.disk: event.name for event in events if event.action == "fail-member"}
    notes = [
        f"{disk} fails in every trial{f' with event.{name} on' if name else ''}, and its volume then has no redundancy"
        for disk, name in failing.items()
    ]
    notes.append("take out spares, which would take the place of a drive that fails")
    notes.append("the time of a rebuild that goes on after a trial is not part of the estimate")
    if untried := [name for name in failing if rows[name].proved == "transcript"]:
        notes.append(f"the rows of these drives follow manuals, and were never tried on a device: {', '.join(untried)}")
    return dataclasses.replace(plan, events=events, notes=(*plan.notes, *notes))


def _complaints(site: Site, row: VolumeMember, plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield every reason against a failure of this drive now."""
    watched = {check.name.partition(" ")[0]: check for check in plan.health}
    for name in row.affects:
        check = watched.get(name)
        if check is None:
            todo = f"add a row [{name!r}] on health, which prints the state of the volume"
            yield f"{row.name} affects {name}, which is not watched", todo
        elif not check.sound and check.minimum is None and check.maximum is None:
            yield f"{name} does not say in which states the volume is whole", f"add sound to the row of {name}"
    try:
        state = state_of(site.host, row)
    except HostError as error:
        yield f"the state of {row.name} cannot be read: {redact(error.message)}", error.todo or "correct its row"
        return
    if state != row.whole:
        yield f"{row.name} is {state}, and not {row.whole}", "let it be rebuilt first, or correct whole in its row"
