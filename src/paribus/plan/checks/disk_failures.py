"""Failures of disks in a plan, followed through each of its layouts: what an array does without, and what replaces it.

In: a plan whose disks have known sizes. Out: a reason against each event that a layout could not have.
"""

from collections.abc import Iterator, Mapping, Sequence

from paribus.knobs.layouts.block_layers import Md
from paribus.knobs.layouts.build import Build, build_of
from paribus.knobs.layouts.layout import Layout
from paribus.knobs.layouts.volume import LayoutError, Names, RedundantMembers, disk_named
from paribus.model import OFFLINE, RETURNS, Facts
from paribus.plan.checks.events import FAILURES, Complaint, faulty_disks, has_raid, in_order, layouts_of
from paribus.plan.form.events import EventTable
from paribus.plan.form.parse import Parsed
from paribus.units import show_size

_NAMES, _POINT, _MD = Names("0000"), "/layout", "/dev/md/"


def complaints(parsed: Parsed, facts: Facts) -> Iterator[Complaint]:
    """Yields every reason against failures and replacements, the first of each layout."""
    table = parsed.table
    disks = {device: facts.block_devices.get(device) for device in table.target.devices}
    for number, event in enumerate(table.event):
        disk = _named(event, disks) if event.do == OFFLINE else ""
        if disk and (device := disks[disk]) is not None and not device.has_scsi_state:
            message = f"{event.disk} cannot be taken offline: it is no SCSI, SAS or SATA disk"
            yield ("event", number, "do"), message, 'use do = "fail-member", or error'
    sizes = {device: disk.size_bytes if disk else 0 for device, disk in disks.items()}
    if not all(sizes.values()):
        return
    events = in_order(table)
    for layout in layouts_of(table):
        if not has_raid(layout):  # reported with its events
            continue
        try:
            build = build_of(layout, sizes, _NAMES, _POINT, faulty_disks(table))
        except LayoutError:  # reported with the layouts
            continue
        for event, following in _sequences(events, layout, build, sizes):
            place = ("event", next(number for number, other in enumerate(table.event) if other is event))
            if (complaint := following.complaint(event)) is not None:
                yield place, *complaint
                break


def _named(event: EventTable, devices: Mapping[str, object]) -> str:
    """The disk of an event, by its name in target.devices; empty where it has none that is there."""
    try:
        return disk_named(event.disk, devices) if event.disk else ""
    except LayoutError:
        return ""


def _sequences(
    events: Sequence[EventTable], layout: Layout, build: Build, sizes: Mapping[str, int]
) -> "Iterator[tuple[EventTable, _Following]]":
    """Yields the events of a trial in which none that has a name happens, then those with one of these each."""
    names = [event.name for event in events if event.name and event.do in FAILURES]
    for name in names or [""]:
        following = _Following(layout, build, sizes)
        for event in events:
            if event.name is None or event.do not in FAILURES or event.name == name:
                yield event, following


class _Following:
    """The state of a layout while the events of a trial happen to it."""

    def __init__(self, layout: Layout, build: Build, sizes: Mapping[str, int]) -> None:
        """Begins with every disk in its place."""
        self._text = layout.text
        has_md_raid = any(isinstance(layer, Md) and layer.level for layer in layout.layers)
        of_md = [each for each in build.redundancy if each.array.startswith(_MD)]
        self._redundancy = of_md if has_md_raid else [each for each in build.redundancy if each.may_fail]
        self._sizes = sizes
        self._in_use = set(build.disks)
        self._failed: list[str] = []
        self._place_of: dict[str, str] = {}  # by disk that replaced another one: the disk that the build names

    def complaint(self, event: EventTable) -> tuple[str, str] | None:
        """Returns why an event cannot happen, and what to do; after one that can, the layout is as it then is."""
        disk = _named(event, self._sizes)
        if event.disk and not disk:  # reported with the event
            return None
        if event.do in FAILURES:
            return self._fails(disk, event.disk or disk)
        if event.do in RETURNS:
            return self._returns(event, disk)
        return None

    def _fails(self, disk: str, name: str) -> tuple[str, str] | None:
        place = self._place_of.get(disk, disk)
        groups = self._groups(place)
        if disk in self._failed:
            return f"{name} has failed before", "let it be replaced before, or remove this event"
        if disk not in self._in_use or not groups:
            return f"{name} is in no array of {self._text}", "name a disk of an array, or remove the event"
        places = {each: self._place_of.get(each, each) for each in (*self._failed, disk)}
        for group in groups:
            if group.may_fail == 0:
                return f"{self._text} does not work without {name}", "give that array redundancy, or remove the event"
            lost = {each: member for each, of in places.items() if (member := group.member_on(of)) is not None}
            if len({member.path for member in lost.values()}) > group.may_fail:
                number = f"{group.may_fail} {'disk' if group.may_fail == 1 else 'disks'}"
                failed = ", ".join(each.rpartition("/")[2] for each in lost if each != disk)
                message = f"{self._text} does without {number} there, and {failed} has failed before"
                return message, "replace it before, or remove this event"
        self._failed.append(disk)
        return None

    def _returns(self, event: EventTable, disk: str) -> tuple[str, str] | None:
        if not self._failed:
            return "every disk that failed is replaced by then", "remove this event, or let a disk fail before"
        disk = disk or self._failed[-1]
        if disk in self._failed:
            self._failed.remove(disk)
            return None
        if event.do == "add":
            return f"{event.disk} has not failed before, and add brings back a disk that has", "use replace"
        if disk in self._in_use:
            todo = "name the failed disk, or one that the layout leaves free by its own disks = […]"
            return f"{event.disk} is in use in {self._text}", todo
        failed = self._failed.pop()
        place = self._place_of.pop(failed, failed)
        least = min(member.size_bytes for group in self._groups(place) for member in group.members)
        if self._sizes[disk] < least:
            message = f"{event.disk} has {show_size(self._sizes[disk])}, and takes the place of {show_size(least)}"
            return message, "name a larger disk"
        self._in_use ^= {disk, failed}
        self._place_of[disk] = place
        return None

    def _groups(self, place: str) -> list[RedundantMembers]:
        """The members that stand in for a disk, in the lowest array that it is in."""
        groups = [each for each in self._redundancy if each.member_on(place) is not None]
        return [each for each in groups if each.array == groups[0].array]
