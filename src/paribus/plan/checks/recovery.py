"""Crashes of the private server in a plan, and power cuts: what forbids them. The check of a plan calls this."""

from collections.abc import Iterator

from paribus.knobs.layouts.file_systems import Ext4
from paribus.model import KILL_SERVER
from paribus.plan.checks.layouts import has_layouts, placed_layouts
from paribus.plan.form.key_paths import KeyPath
from paribus.plan.form.parse import Parsed
from paribus.plan.workloads import works_on_database

_ABLE = ("ext4", "xfs")  # that Linux can tell to lose what they have not written


def complaints(parsed: Parsed) -> Iterator[tuple[KeyPath, str, str]]:
    """Yields every reason against crashes."""
    table, database = parsed.table, parsed.table.database
    if table.protocol.recovery == "none":
        return
    place = ("protocol", "recovery")
    if any(event.do == KILL_SERVER for event in table.event):
        yield place, "the server is also killed by an event", "keep one of both"
    if database is None or database.kind == "sqlite" or not any(map(works_on_database, table.workload)):
        yield place, "no workload is on a server that could be killed", "add [database] and a workload on it"
    elif database.dsn is not None:
        yield place, "a server that others use is not killed", "let Paribus start a private server: remove dsn"
    if table.protocol.recovery == "power-cut":
        yield from _against_power_cuts(parsed)


def _against_power_cuts(parsed: Parsed) -> Iterator[tuple[KeyPath, str, str]]:
    """Yields the reasons against having the file system of a layout lose what it has not written."""
    hint = "use ext4 or xfs; recovery = true kills the server alone"
    if not has_layouts(parsed):
        cause = "a power cut needs a file system of its own, and this plan has no layout"
        remedy = "add a layout on disks that may be destroyed; recovery = true kills the server alone"
        yield ("protocol", "recovery"), cause, remedy
    for place, layout in placed_layouts(parsed):
        file_system = layout.file_system
        if file_system is None:
            yield place, "a layout without a file system holds no server that could lose its power", hint
        elif file_system.kind not in _ABLE:
            yield place, f"{file_system.kind} cannot be cut off as a power cut does", hint
        elif isinstance(file_system, Ext4) and not file_system.journal:
            yield (
                place,
                "ext4 without a journal has nothing that repairs it after a power cut",
                "remove journal = false",
            )
