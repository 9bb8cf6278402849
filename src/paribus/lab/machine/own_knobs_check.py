"""Trial of the user's own knobs: read, set, read back, undone, read again."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from paribus.errors import JournalError
from paribus.knobs import health, members
from paribus.knobs.apply import Applier
from paribus.knobs.catalog import Catalogue
from paribus.knobs.catalog.own_rows import rows_in_file
from paribus.knobs.discovery import OUT_OF_PLAN, offer, same_program_stuck, touched
from paribus.knobs.journal import Journal
from paribus.knobs.journals import undo
from paribus.lab.machine.connection import site
from paribus.lab.machine.knob_queries import location_of
from paribus.model import Change, HealthCheck, Knob, Location, Offer, Value
from paribus.trial.target_session import Site


class KnobTrial(BaseModel):
    """Outcome of trying one row."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    knob: str
    before: str | None = Field(description="the value that was in force; null where it could not be read")
    tried: str | None = Field(description="the level that was set; null where none was")
    observed: str | None = Field(description="the value that was read then")
    after: str | None = Field(description="the value that was read after the undo")
    problem: str = Field(description="what is wrong with the row; empty where all is as it must be")


class HealthState(BaseModel):
    """Outcome of reading one row on health."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    state: str | None = Field(description="the state now; null where it could not be read")
    counts: bool = Field(description="whether a trial would count now")
    problem: str = Field(description="why it would not, or why the state could not be read; empty otherwise")


class KnobTrials(BaseModel):
    """The answer of `paribus knobs check --json`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: str
    knobs: list[KnobTrial]
    health: list[HealthState]


def try_rows(file: Path, device: str | None) -> KnobTrials:
    """Try every row of a file on this machine; each is restored. Raises UsageError, JournalError and NotRestored."""
    rows = rows_in_file(file)
    with site() as connected:
        location = location_of(rows.knobs, device, needs_disk=any(map(health.needs_disk, rows.health)))
        disks = [disk for disk in (location.device, *location.more_disks) if disk]
        return KnobTrials(
            file=str(file),
            knobs=list(_trials(connected, rows.knobs, location)),
            health=list(
                _states(connected, [*health.placed(rows.health, disks), *map(members.as_health, rows.members)])
            ),
        )


def _states(site: Site, checks: Sequence[HealthCheck]) -> Iterator[HealthState]:
    for reading in health.read_each(site.host, checks):
        problem = reading.refused if reading.state is None else health.unsound(reading.check, reading.state)
        yield HealthState(name=reading.check.name, state=reading.state, counts=not problem, problem=problem or "")


def _trials(connected: Site, rows: list[Knob], location: Location) -> Iterator[KnobTrial]:
    catalogue = connected.catalogue.with_rows(rows)
    stuck: list[Offer] = []
    for row in rows:
        offered = same_program_stuck(row, stuck) or offer(connected.host, catalogue, row.name, location, root=True)
        stuck += [offered] if offered.is_stuck else []
        before = offered.current
        if before is None:
            todo = "correct get, or remove the row" if offered.todo == OUT_OF_PLAN else offered.todo
            problem = "; ".join(filter(None, (offered.refused, todo)))
            yield _trial(row, None, None, None, None, problem)
            continue
        level = _another_level(row, before)
        if level is None:
            problem = f"{before} is in force, and it is not among the levels or the only one: add levels"
            yield _trial(row, before, None, None, None, problem)
            continue
        change = _set_and_restore(connected, catalogue, row, level, location)
        after = offer(connected.host, catalogue, row.name, location, root=True).current
        yield _trial(row, before, level, change.observed, after, _problem(change, before, after))


def _set_and_restore(connected: Site, catalogue: Catalogue, row: Knob, level: Value, location: Location) -> Change:
    """Apply the level under a journal, and restore."""
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-knob"
    addresses = sorted(touched(connected.host, catalogue, [row.name], location))
    journal = Journal(connected.host, connected.engine, name, addresses, volatile=False)
    try:
        try:
            changes = Applier(connected.host, catalogue, location, journal).apply({row.name: level}, [row.name])
        except JournalError:
            raise
        except BaseException:
            journal.restore()
            raise
        journal.restore()
    except JournalError:  # its process has ended; the journal is enough
        undo(connected.host, connected.engine, lambda _event: None, lost_experiment=name)
        raise
    return next(change for change in changes if change.knob == row.name)


def _another_level(row: Knob, before: Value) -> Value | None:
    """A level that is not in force; of a range, one of its ends."""
    levels = row.allowed or tuple(end for end in (row.minimum, row.maximum) if end is not None)
    if row.allowed and before not in row.allowed:
        return None
    return next((level for level in levels if level != before), None)


def _problem(change: Change, before: Value, after: Value | None) -> str:
    if change.refused and change.observed == change.wanted:
        return f"{change.wanted} is in force, and yet {change.refused}: let `set` end with exit code 0"
    if change.refused:
        cause = change.refused.rstrip(": ")
        return f"{cause}; run that by hand: where it asks, give set the option that answers, such as -y"
    if change.observed != change.wanted:
        return f"{change.wanted} was set, and {change.observed} is read: levels must be as `get` prints them"
    return "" if after == before else f"it was {before} before, and is {after} after the undo"


def _trial(
    row: Knob, before: Value | None, tried: Value | None, observed: Value | None, after: Value | None, problem: str
) -> KnobTrial:
    before_text, tried_text, observed_text, after_text = (
        None if value is None else str(value) for value in (before, tried, observed, after)
    )
    return KnobTrial(
        knob=row.name, before=before_text, tried=tried_text, observed=observed_text, after=after_text, problem=problem
    )
