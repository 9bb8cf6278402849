"""Layouts of a plan: what forbids them on this host, the programs that they need, and what building them takes.

The check of a plan calls this.
"""

import dataclasses
import shlex
import sys
from collections.abc import Iterator
from typing import Any

from paribus.i18n import N_, StoredMessage, stored_message
from paribus.knobs import guard
from paribus.knobs.layouts import faults, mount_options
from paribus.knobs.layouts.bcache import Bcache
from paribus.knobs.layouts.block_layers import Crypt, Md, Partition
from paribus.knobs.layouts.build import Build, build_of
from paribus.knobs.layouts.layout import Layout, parse_layout
from paribus.knobs.layouts.lvm_layers import Lvm
from paribus.knobs.layouts.volume import BuildStep, LayoutError, Names, disk_named
from paribus.model import LAYOUT, BlockDevice, DatabaseFacts, Facts, Plan, Settings
from paribus.plan.checks.events import events_of, faulty_disks
from paribus.plan.data import size_bytes
from paribus.plan.form.file import PlanTable, WorkloadTable
from paribus.plan.form.key_paths import KeyPath
from paribus.plan.form.parse import Parsed
from paribus.plan.schedule.copies import extra_bytes
from paribus.plan.workloads import name_of, parameters_in, program_of, works_on_database
from paribus.units import show_size

_READ_AHEAD, _TOP_READ_AHEAD, _TOP = "block.read_ahead_kb", "block.top.read_ahead_kb", "block.top."
_STACKED = (Md, Crypt, Lvm, Bcache)
_TAG = "0000"  # the names of an experiment have its number
_NAMES = Names(_TAG)
_POINT = "/layout"
_STEP_S = 1.0
_BYTES_PER_S = 200e6  # of synchronising, and of making data, where nothing was measured
_LITTLE_SHARE = 0.01  # of all disks
_UNUSED = N_("{layout} leaves {size} of its disks unused, since they have unlike sizes")

Complaint = tuple[KeyPath, str, str]


def on_layouts(parsed: Parsed, facts: Facts) -> Facts:
    """Returns the facts, without those of the file system at target.path where the data lies on layouts."""
    if not has_layouts(parsed):
        return facts
    return dataclasses.replace(facts, direct_refused="", free_bytes=sys.maxsize)


def programs(parsed: Parsed) -> list[str]:
    """Returns the programs that make the layouts of a plan and take them apart."""
    of_events = [faults.PROGRAM] if faulty_disks(parsed.table) else []
    return of_events + [program for layout in _layouts(parsed) for program in layout.programs]


def modules(parsed: Parsed) -> list[str]:
    """Returns the kernel modules that the layouts of a plan need."""
    of_events = {faults.MODULES[event.action] for event in events_of(parsed.table) if event.over_disk}
    return [*sorted(of_events), *(module for layout in _layouts(parsed) for module in layout.modules)]


def only_in_sandbox(parsed: Parsed, facts: Facts) -> Iterator[Complaint]:
    """Yields the reason against a plan whose disks are those of its sandbox, and none of them is on this machine."""
    table = parsed.table
    disks = [facts.block_devices.get(device) for device in table.target.devices]
    if table.sandbox and table.target.host == "local" and disks and all(disk and disk.refused for disk in disks):
        hint = f"run it there: paribus sandbox run {parsed.name}; or name disks of this machine and remove [sandbox]"
        yield ("sandbox",), "the disks of this plan are those of a sandbox, and this machine has none of them", hint


def complaints(parsed: Parsed, facts: Facts) -> Iterator[Complaint]:
    """Yields every reason against the layouts of a plan: their disks, their programs, and what is beside them."""
    yield from _read_ahead(parsed, facts)
    devices, written = parsed.table.target.devices, dict(_written(parsed))
    if not written:
        if devices:
            yield ("target", "devices"), "no setting of this plan is a layout", "remove it, or add layout to [factors]"
        return
    if not devices:
        place = next(iter(written))
        yield place, "a layout needs disks", 'name them: add to [target] devices = ["/dev/disk/by-id/…"]'
        return
    yield from _beside(parsed.table, next(iter(written)))
    sizes: dict[str, int] = {}
    for number, device in enumerate(devices):
        unknown = BlockDevice(path=device, refused=f"{device} was not looked at")
        block_device = facts.block_devices.get(device, unknown)
        if (refusal := guard.refusal(block_device, parsed.table.target.may_destroy)) is not None:
            yield ("target", "devices", number), refusal.message, refusal.remedy
        sizes[device] = block_device.size_bytes
    if all(sizes.values()):
        for place, level in written.items():
            yield from _against(place, level, sizes, parsed.table, facts)


def _read_ahead(parsed: Parsed, facts: Facts) -> Iterator[Complaint]:
    """Yields the read-ahead of block devices that no file system of the plan uses: something above has its own."""
    file_systems = [layout.file_system for layout in _layouts(parsed)]
    caching = [each.kind for each in file_systems if each is not None and each.has_own_read_ahead]
    if caching and len(caching) == len(file_systems):
        message = f"{caching[0]} has a read-ahead of its own, and that of block devices is not used"
        for key in (_READ_AHEAD, _TOP_READ_AHEAD):
            yield from ((place, message, "remove it") for place, _ in _settings_of(parsed.table, key))
        return
    is_stacked = any(isinstance(layer, _STACKED) for layout in _layouts(parsed) for layer in layout.layers)
    top = "what lies on the disks" if is_stacked else facts.top
    for place, _ in _settings_of(parsed.table, _READ_AHEAD) if top else ():
        yield (
            place,
            f"{top} has a read-ahead of its own, and that of the disks is not used",
            f"use {_TOP_READ_AHEAD}",
        )


def _beside(table: PlanTable, first: KeyPath) -> Iterator[Complaint]:
    """Yields what a plan must not have beside layouts, the `first` of which has this place."""
    if LAYOUT not in table.factors and LAYOUT not in table.hold:
        yield first, "the baseline has no layout", "add one to [hold], or make layout a factor"
    if LAYOUT in table.factor_scope:
        yield ("factor_scope", LAYOUT), "a layout is under every workload", "remove it"
    if table.database is not None and table.database.dsn is not None:
        yield ("database", "dsn"), "a running server does not lie on a layout", "let Paribus start a private server"
    for number, workload in enumerate(table.workload):
        if workload.precondition is not None:
            yield ("workload", number, "precondition"), "is lost whenever a layout is built", "remove it"
    for name, settings in (("factors", table.factors), ("hold", table.hold)):
        for key in settings:
            if key.startswith("mount."):
                yield (name, key), "a layout has mount options of its own", 'write them there: mount = ["noatime"]'


def _against(place: KeyPath, level: Any, sizes: dict[str, int], table: PlanTable, facts: Facts) -> Iterator[Complaint]:
    try:
        layout = parse_layout(level)
        build = build_of(layout, sizes, _NAMES, _POINT, faulty_disks(table))
    except LayoutError as error:
        if _is_a_layout(level):  # what is none was reported as a level
            yield place, str(error), ""
        return
    if len(build.below) > 1 and (above := [key for key in {**table.factors, **table.hold} if key.startswith(_TOP)]):
        todo = "use the knob of its disks, or join them with md or lvm"
        yield place, f"its file system lies on {len(build.below)} devices, and {above[0]} is of one", todo
    if layout.file_system is None and (of_files := [name_of(each) for each in table.workload if _needs_files(each)]):
        todo = "add xfs, ext4, btrfs or zfs to the layout, or use a workload of kind fileio or iomatrix"
        yield place, f"it has no file system, and {of_files[0]} needs files", todo
    if faulty_disks(table) and any(isinstance(layer, Partition) for layer in layout.layers):
        todo = "remove partition, or the events delay, error and, of lvm, fail-member"
        yield place, "device-mapper lies between disks and layers there, and has no partitions", todo
    for option in layout.mount_options:
        file_system = layout.layers[-1].kind  # without which there are no options
        if (refusal := mount_options.refusal(file_system, option, facts.kernel)) is not None:
            yield place, refusal.message, refusal.remedy or "remove it"
    for module in facts.missing_modules & layout.modules.keys():
        package = layout.modules[module]
        todo = f"install it there: apt-get install {package}" if package else "use another layer"
        yield place, f"the kernel of {facts.hostname}, {facts.kernel}, has no module {module}", todo
    missing = {package for program, package in layout.programs.items() if program in facts.missing_programs}
    if missing:
        packages = " ".join(sorted(missing))
        todo = f"install them there: apt-get install {packages}"
        yield place, f"{facts.hostname} lacks the programs of {packages}", todo


def _needs_files(workload: WorkloadTable) -> bool:
    """Whether a workload cannot lie on a device itself; one in mode seqwr begins with empty files."""
    return works_on_database(workload) or bool(program_of(workload)) or parameters_in(workload).get("mode") == "seqwr"


def too_small(parsed: Parsed, plan: Plan, facts: Facts) -> Iterator[Complaint]:
    """Yields the layouts that do not hold the data of the plan's workloads."""
    needed_bytes = size_bytes(plan).get("", 0) + extra_bytes(plan, facts.database or DatabaseFacts())
    for place, level in _written(parsed):
        build = _build(level, plan)
        if build is not None and build.usable_bytes < needed_bytes:
            message = f"it holds about {show_size(build.usable_bytes)}, the workloads need {show_size(needed_bytes)}"
            yield place, message, "make less data, or name larger disks"


def notes(parsed: Parsed, plan: Plan) -> Iterator[StoredMessage]:
    """Yields a note on each layout that leaves a part of its disks unused."""
    for _, level in _written(parsed):
        build = _build(level, plan)
        if build is not None and build.unused_bytes > _LITTLE_SHARE * sum(plan.target.device_bytes):
            layout, size = parse_layout(level).text, show_size(build.unused_bytes)
            yield stored_message(_UNUSED, layout=layout, size=size)


def differ_in_free_share(first: str, second: str) -> bool:
    """Returns whether two layouts differ in `over_provision` alone."""
    layouts = [parse_layout(text) for text in (first, second)]
    filled = [
        [
            layer.model_copy(update={"over_provision": 0.0}) if isinstance(layer, Partition) else layer
            for layer in each.layers
        ]
        for each in layouts
    ]
    first_layout, second_layout = layouts
    has_same_disks = first_layout.disks == second_layout.disks
    has_same_options = first_layout.mount_options == second_layout.mount_options
    return (
        first_layout.layers != second_layout.layers and filled[0] == filled[1] and has_same_disks and has_same_options
    )


def disk_bytes(plan: Plan, settings: Settings) -> int:
    """Returns the size of the disks below the layout of an arm; 0 without a layout."""
    if LAYOUT not in settings:
        return 0
    sizes = dict(zip(plan.target.devices, plan.target.device_bytes, strict=True))
    disks = parse_layout(settings[LAYOUT]).disks or sizes
    return sum(sizes[disk_named(disk, sizes)] for disk in disks)


def device_bytes(parsed: Parsed, facts: Facts) -> tuple[int, ...]:
    """Returns the sizes of the disks of a plan's layouts, 0 where one is unknown."""
    disks = [facts.block_devices.get(device) for device in parsed.table.target.devices]
    return tuple(disk.size_bytes if disk else 0 for disk in disks)


def commands_of(plan: Plan, text: str, tag: str = _TAG, point: str = _POINT) -> list[str]:
    """Returns the commands that build a layout, in their order; `tag` is in the names of its devices."""
    build = _build(text, plan, Names(tag), point)
    return [line for step in build.steps for line in _lines(step)] if build else []


def _lines(step: BuildStep) -> Iterator[str]:
    """Yields a step as a person would type it."""
    if step.argv:
        yield shlex.join(step.argv)
    for device, attribute, value in step.attributes:
        yield f"echo {value} >/sys/class/block/$(basename $(readlink -f {device}))/{attribute}"


def lasting_lines(plan: Plan, text: str, tag: str, point: str) -> list[str]:
    """Returns what makes a layout come back at the next boot."""
    build, layout = _build(text, plan, Names(tag), point), parse_layout(text)
    if build is None:
        return []
    has_arrays = any(isinstance(layer, Md) for layer in layout.layers)
    lines = ["mdadm --detail --scan >>/etc/mdadm/mdadm.conf && update-initramfs -u"] if has_arrays else []
    if layout.file_system is not None:
        kind, options = layout.file_system.kind, ",".join(layout.mount_options) or "defaults"
        source = layout.file_system.source(Names(tag), build.top)
        is_pool = source != build.top.path  # which boots import by a file
        lines += [f"zpool set cachefile=/etc/zfs/zpool.cache {source}"] if is_pool else []
        identity = source if is_pool else f"UUID=$(blkid -s UUID -o value {source})"
        lines.append(f'echo "{identity} {point} {kind} {options} 0 0" >>/etc/fstab')
    return lines


def application_s(plan: Plan) -> dict[str, float]:
    """Returns the seconds that building the slowest layout and making its data take; none without layouts."""
    factor = next((factor for factor in plan.factors if factor.key == LAYOUT), None)
    levels = factor.levels if factor else [plan.baseline[LAYOUT]] if LAYOUT in plan.baseline else []
    builds = [build for level in levels if (build := _build(level, plan))]
    if not builds:
        return {}
    data_s = size_bytes(plan).get("", 0) / _BYTES_PER_S
    return {LAYOUT: data_s + max(_build_s(build) for build in builds)}


def _build_s(build: Build) -> float:
    is_synchronised = any(step.waits_for for step in build.steps)
    disk_bytes = build.top.size_bytes / build.top.data_disks
    return len(build.steps) * _STEP_S + (disk_bytes / _BYTES_PER_S if is_synchronised else 0.0)


def _build(level: Any, plan: Plan, names: Names = _NAMES, point: str = _POINT) -> Build | None:
    sizes = dict(zip(plan.target.devices, plan.target.device_bytes, strict=False))
    if not all(sizes.values()) or len(sizes) < len(plan.target.devices):
        return None
    try:
        over = {disk_named(event.disk, sizes) for event in plan.events if event.over_disk}
        return build_of(parse_layout(level), sizes, names, point, over)
    except LayoutError:
        return None


def _written(parsed: Parsed) -> Iterator[tuple[KeyPath, Any]]:
    """Every layout of a plan, with its place."""
    return _settings_of(parsed.table, LAYOUT)


def _settings_of(table: PlanTable, key: str) -> Iterator[tuple[KeyPath, Any]]:
    """Every value that a plan gives to a setting, with its place."""
    for number, level in enumerate(table.factors.get(key, [])):
        yield ("factors", key, number), level
    if key in table.hold:
        yield ("hold", key), table.hold[key]
    for number, combination in enumerate(table.combination):
        if key in combination.settings:
            yield ("combination", number, "settings", key), combination.settings[key]


def has_layouts(parsed: Parsed) -> bool:
    """Returns whether a plan names a layout."""
    return any(True for _ in _written(parsed))


def placed_layouts(parsed: Parsed) -> Iterator[tuple[KeyPath, Layout]]:
    """Yields every layout of a plan that can be read, with its place."""
    for place, level in _written(parsed):
        if _is_a_layout(level):
            yield place, parse_layout(level)


def _layouts(parsed: Parsed) -> Iterator[Layout]:
    return (layout for _, layout in placed_layouts(parsed))


def _is_a_layout(level: Any) -> bool:
    try:
        parse_layout(level)
    except LayoutError:
        return False
    return True
