"""Events of a plan: what forbids them, and how they change its protocol.

The check of a plan calls this.
"""

import dataclasses
from collections.abc import Iterator, Sequence

from paribus.knobs.layouts.block_layers import Md
from paribus.knobs.layouts.layout import Layout, parse_layout
from paribus.knobs.layouts.lvm_layers import CacheLayer, Lvm
from paribus.knobs.layouts.volume import LayoutError, disk_named
from paribus.model import (
    EVENT,
    KILL_SERVER,
    LAYOUT,
    OF_DISK,
    OFFLINE,
    RETURNS,
    SERVER_PLACEHOLDERS,
    WITHOUT_LAYOUT,
    Facts,
    PlannedEvent,
    Protocol,
)
from paribus.plan.form.events import EventTable
from paribus.plan.form.file import PlanTable
from paribus.plan.form.key_paths import KeyPath
from paribus.plan.form.parse import Parsed
from paribus.plan.workloads import name_of, program_of, works_on_database
from paribus.units import show_size

FAILURES = ("fail-member", "error", OFFLINE)
"""Actions after which an array lacks a disk."""

_NEEDS_ARRAY = (*FAILURES, *RETURNS, "check", "resync")
_OF_ONE_DISK = (*FAILURES, "delay")
_RUN = "run"
_FAIL_MEMBER = "fail-member"
_MOMENTS = 'add it: at = "20s", or after = { bytes = "2GiB" }'

Complaint = tuple[KeyPath, str, str]


def events_of(table: PlanTable) -> tuple[PlannedEvent, ...]:
    """Returns the events of a plan in their order; one without a disk replaces the disk that failed last."""
    events: list[PlannedEvent] = []
    failed: list[str] = []
    for each in in_order(table):
        disk = each.disk or ""
        if each.do in FAILURES:
            failed.append(disk)
        elif each.do in RETURNS and failed:
            devices = [_device(name, table) for name in failed]
            device = _device(disk, table)
            place = failed.pop(devices.index(device) if device in devices else -1)
            disk = disk or place
        events.append(
            PlannedEvent(
                at_s=each.at,
                after_bytes=each.after.bytes if each.after else 0,
                action=each.do,
                disk=disk,
                until_s=each.until,
                delay_s=each.delay or 0.0,
                argv=tuple(each.run or ()),
                name=each.name or "",
                over_disk=_is_over_disk(each, table),
            )
        )
    return tuple(events)


def _device(disk: str | None, table: PlanTable) -> str:
    """The disk of an event by its name in target.devices, or as it is written where it is none of these."""
    try:
        return disk_named(disk, table.target.devices) if disk else ""
    except LayoutError:
        return disk or ""


def in_order(table: PlanTable) -> list[EventTable]:
    """Returns the events by time; in the order of the file where some happen after work, whose time is not known."""
    if any(event.after for event in table.event):
        return list(table.event)
    return sorted(table.event, key=lambda event: event.at)


def _is_over_disk(event: EventTable, table: PlanTable) -> bool:
    """Whether a device of device-mapper over the disk lets an event happen: LVM has no command that fails a disk."""
    if event.do == _FAIL_MEMBER:
        return any(_has_logical_raid(layout) and not _has_md_raid(layout) for layout in layouts_of(table))
    return event.do in OF_DISK


def has_raid(layout: Layout) -> bool:
    """Returns whether an array or a volume of a layout has redundancy that events can use."""
    return _has_md_raid(layout) or _has_logical_raid(layout)


def _has_md_raid(layout: Layout) -> bool:
    return any(isinstance(layer, Md) and layer.level for layer in layout.layers)


def _has_logical_raid(layout: Layout) -> bool:
    """Whether a volume of LVM has redundancy and is used as it is: a cache takes its name and hides its state."""
    is_cached = any(isinstance(layer, CacheLayer) for layer in layout.layers)
    return not is_cached and any(isinstance(layer, Lvm) and layer.is_redundant for layer in layout.layers)


def with_events(protocol: Protocol, table: PlanTable) -> Protocol:
    """Returns the protocol of a plan; with events every trial has a load of its own, and a layout that they damage."""
    if not table.event:
        return protocol
    sub_trials = 1 if any(event.do not in WITHOUT_LAYOUT for event in table.event) else protocol.sub_trials
    return dataclasses.replace(protocol, in_flight=False, sub_trials=sub_trials)


def programs(table: PlanTable) -> list[str]:
    """Returns the programs that run beside the load."""
    return [event.run[0] for event in table.event if event.run]


def complaints(parsed: Parsed, facts: Facts) -> Iterator[Complaint]:
    """Yields every reason against the events of a plan."""
    table = parsed.table
    yield from _of_names(table)
    yield from _of_order(table)
    for number, event in enumerate(table.event):
        if event.run and event.run[0] in facts.missing_programs:
            place: KeyPath = ("event", number, "run")
            yield place, f"{facts.hostname} has no program {event.run[0]!r}", "install it there, or give its full path"
    if not table.event:
        return
    layouts = list(layouts_of(table))
    if (
        not layouts
        and not has_members(table)
        and (of_layouts := [event.do for event in table.event if event.do not in WITHOUT_LAYOUT])
    ):
        message = f"{of_layouts[0]} happens to a layout, and this plan has none"
        todo = "add layout to [hold] or [factors], or name a controller's drive in target.may_fail"
        yield ("event",), message, todo
    for number, workload in enumerate(table.workload):
        if program_of(workload):
            message = f"events need the load engine, and {name_of(workload)} is a program"
            yield ("workload", number), message, "use a workload of the engine, or remove [[event]]"
    for number, event in enumerate(table.event):
        place = ("event", number)
        yield from _of_moment(event, place, parsed)
        yield from _against(event, place, table, layouts)


def _of_moment(event: EventTable, place: KeyPath, parsed: Parsed) -> Iterator[Complaint]:
    """Yields why the time of an event cannot come."""
    table = parsed.table
    if event.at >= table.protocol.trial:
        todo = "let it happen earlier, or lengthen protocol.trial"
        yield (*place, "at"), f"it would happen after the {table.protocol.trial:g} s of a trial", todo
    if event.after is None:
        if "at" not in event.model_fields_set and not _is_written(("at", "after"), place, parsed):
            yield place, f"it does not say when {event.do} happens", _MOMENTS
        return
    if of_servers := [name_of(workload) for workload in table.workload if works_on_database(workload)]:
        message = f"it waits for bytes of the load, and those of {of_servers[0]} are not counted"
        yield (*place, "after"), message, 'give the event a time instead: at = "20s"'
    if event.until is not None:
        yield (*place, "until"), "an event after an amount of work has no known time", "remove until, or use at"


def _is_written(keys: Sequence[str], place: KeyPath, parsed: Parsed) -> bool:
    """Whether the document has one of these keys at a place, also where its value was wrong and is reported."""
    written = parsed.document.get(str(place[0]))
    number = int(place[1])
    each = written[number] if isinstance(written, list) and number < len(written) else None
    return isinstance(each, dict) and any(key in each for key in keys)


def _of_order(table: PlanTable) -> Iterator[Complaint]:
    """Yields an event that its place in the file delays: where some wait for work, each waits for those above it."""
    if not any(event.after for event in table.event):
        return
    latest_s, most_bytes = 0.0, 0
    for number, event in enumerate(table.event):
        if event.at < latest_s:
            todo = "write the events in the order in which they happen"
            yield ("event", number, "at"), f"the event above it waits for {latest_s:g} s, and this one after it", todo
        if event.after and event.after.bytes < most_bytes:
            message = f"an event above it waits for {show_size(most_bytes)}, and this one after it"
            yield ("event", number, "after"), message, "write the events in the order in which they happen"
        latest_s = max(latest_s, event.at)
        most_bytes = max(most_bytes, event.after.bytes if event.after else 0)


def _against(event: EventTable, place: KeyPath, table: PlanTable, layouts: list[Layout]) -> Iterator[Complaint]:
    if event.disk is not None and event.do not in (*_OF_ONE_DISK, *RETURNS):
        yield (*place, "disk"), f"{event.do} is not of a disk", "remove it"
        return
    if event.do in _OF_ONE_DISK and event.disk is None:
        yield place, f"it does not say to which disk {event.do} happens", 'add it, such as disk = "ssd-2"'
        return
    before, _ = _around(event, table)
    earlier = [other for other in before if other.do in FAILURES]
    if event.do in RETURNS and not earlier:
        where = "above it in the file" if any(other.after for other in table.event) else "and an earlier time"
        yield place, "no disk has failed before", f'add an [[event]] with do = "fail-member" {where}'
        return
    for other in earlier if event.do in RETURNS else ():
        if event.disk is None or _device(event.disk, table) == _device(
            other.disk, table
        ):  # a spare may take the place of one that still fails
            yield from _still_failing(other, event, place)
    yield from _of_overlap(event, place, before, table)
    if event.name and (event.do in RETURNS or (event.do in FAILURES and _is_replaced(event, table))):
        todo = "remove the name: a failure that is replaced happens in every trial"
        yield (*place, "name"), f"{event.name} may be off, and failure and replacement belong together", todo
    yield from _of_times(event, place)
    yield from _of_server(event, place, table)
    yield from _of_kills(event, (*place, "do"), table)
    if event.disk is not None and event.disk not in table.target.may_fail:
        try:
            disk_named(event.disk, table.target.devices)
        except LayoutError as error:
            yield (*place, "disk"), str(error), ""
            return
    for layout in layouts if event.do == "trim" else ():
        if layout.file_system is None:
            yield (*place, "do"), f"{layout.text} has no file system to trim", "add one, or remove trim"
    for layout in layouts if event.do in _NEEDS_ARRAY else ():
        if not has_raid(layout):
            redundant = "md of level 1, 4, 5, 6 or 10, or lvm of type raid1, raid5 or raid10 without a cache"
            todo = f"give every layout {redundant}; or remove {event.do}"
            yield (*place, "do"), f"{layout.text} has no array with redundancy", todo


def _of_overlap(event: EventTable, place: KeyPath, before: list[EventTable], table: PlanTable) -> Iterator[Complaint]:
    """Yields an event that makes a disk slow or fail while another one does: the end of one would end both."""
    if event.do not in (*FAILURES, "delay"):
        return
    for other in before:
        lasts = other.do in (*FAILURES, "delay") and (other.until is None or other.until > event.at or event.after)
        is_back = any(each.do in RETURNS for each in before[before.index(other) :])
        if lasts and _device(other.disk, table) == _device(event.disk, table) and not (is_back and other.until is None):
            todo = "replace it before, or remove this event"
            if other.do != _FAIL_MEMBER and event.at:
                todo = f"end that before: until = {event.at:g} under its {other.do}"
            yield place, f"the {other.do} of {other.disk} goes on then", todo
            return


def _still_failing(failure: EventTable, event: EventTable, place: KeyPath) -> Iterator[Complaint]:
    """Yields why a disk cannot come back while its failure goes on."""
    if failure.do not in ("error", OFFLINE):
        return
    message = f"{failure.disk} still fails then"
    if failure.after:
        yield place, message, f"give its {failure.do} a time and an end, at and until; or use fail-member"
    elif failure.until is None or (failure.until > event.at and not event.after):
        end = "give it an end, until" if event.after else f"end that before: until = {event.at:g}"
        yield place, message, f"{end} under its {failure.do}"


def _is_replaced(event: EventTable, table: PlanTable) -> bool:
    return any(other.do in RETURNS for other in _around(event, table)[1])


def _around(event: EventTable, table: PlanTable) -> tuple[list[EventTable], list[EventTable]]:
    """The events before an event, and those after it."""
    ordered = in_order(table)
    index = next(index for index, other in enumerate(ordered) if other is event)
    return ordered[:index], ordered[index + 1 :]


def _of_names(table: PlanTable) -> Iterator[Complaint]:
    """Yields names of events that are used twice, and settings that no event has."""
    names = [event.name for event in table.event if event.name]
    for number, event in enumerate(table.event):
        if event.name and names.count(event.name) > 1:
            yield ("event", number, "name"), f"{event.name} is the name of several events", "give each its own"
    places: list[tuple[KeyPath, str]] = [(("factors", key), key) for key in table.factors]
    places += [(("hold", key), key) for key in table.hold]
    places += [
        (("combination", number, "settings", key), key)
        for number, each in enumerate(table.combination)
        for key in each.settings
    ]
    for place, key in places:
        subsystem, _, name = key.partition(".")
        if subsystem == EVENT and name not in names:
            yield place, f"no event of this plan is called {name}", f'add name = "{name}" to an [[event]]'


def _of_server(event: EventTable, place: KeyPath, table: PlanTable) -> Iterator[Complaint]:
    """Yields placeholders of a server that the plan does not have."""
    used = [name for name in SERVER_PLACEHOLDERS if any(f"{{{name}}}" in word for word in event.run or ())]
    database = table.database
    if not used:
        return
    if database is None or database.kind == "sqlite":
        yield (*place, "run"), f"{{{used[0]}}} is of a server, and this plan has none", "add [database]"
    elif database.dsn is not None:
        todo = "write the address itself; no password"
        yield (*place, "run"), f"{{{used[0]}}} is filled in of private servers only", todo
    elif others := [name_of(each) for each in table.workload if not works_on_database(each)]:
        yield (*place, "run"), f"{{{used[0]}}} is of a server, and {others[0]} is not on it", "remove that workload"


def _of_kills(event: EventTable, place: KeyPath, table: PlanTable) -> Iterator[Complaint]:
    """Yields why the server of a plan cannot be killed under its loads."""
    database = table.database
    if event.do != KILL_SERVER:
        return
    if database is None or database.kind == "sqlite":
        yield place, "this plan has no server that could be killed", "add [database]"
    elif database.dsn is not None:
        yield place, "a server that others use is not killed", "let Paribus start a private server: remove dsn"
    elif others := [name_of(each) for each in table.workload if not works_on_database(each)]:
        yield place, f"{others[0]} is not on the server", "remove that workload"


def _of_times(event: EventTable, place: KeyPath) -> Iterator[Complaint]:
    """Yields what is wrong with the end of an event, with its delay, and with its program."""
    for key, needing in (("until", (*OF_DISK, OFFLINE, _RUN)), ("delay", ("delay",)), ("run", (_RUN,))):
        if getattr(event, key) is not None and event.do not in needing:
            yield (*place, key), f"{event.do} has none", "remove it"
    if event.do == "delay" and event.delay is None:
        yield place, "it does not say by how much the disk is slow", 'add it, such as delay = "20ms"'
    if event.do == _RUN and event.run is None:
        yield place, "it does not say which program runs", 'add it, such as run = ["fstrim", "/data"]'
    if event.until is not None and event.until <= event.at:
        yield (*place, "until"), f"it is not after {event.at:g} s, when the event begins", "give a later time"


def has_members(table: PlanTable) -> bool:
    """Returns whether drives of a controller's volume fail in a plan, and no disks of a layout."""
    return any(event.disk in table.target.may_fail for event in table.event)


def faulty_disks(table: PlanTable) -> set[str]:
    """Returns the disks of target.devices that events make slow, or make fail."""
    named = {event.disk for event in table.event if event.disk and _is_over_disk(event, table)}
    return {disk for disk in table.target.devices if any(disk == name or disk.endswith(name) for name in named)}


def layouts_of(table: PlanTable) -> Iterator[Layout]:
    """Yields every layout of a plan that is one."""
    written = [*table.factors.get(LAYOUT, []), *([table.hold[LAYOUT]] if LAYOUT in table.hold else [])]
    written += [each.settings[LAYOUT] for each in table.combination if LAYOUT in each.settings]
    for level in written:
        try:
            yield parse_layout(level)
        except LayoutError:
            continue
