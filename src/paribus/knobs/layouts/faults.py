"""Disks of a layout that can be made slow or made to fail while it is in use, by device-mapper.

In: the disks that events of the plan do that to. Out: a device over each, which passes everything on until its table
is replaced. Source of the tables: the kernel's documentation of dm-linear, dm-delay and dm-flakey.
"""

import contextlib
import dataclasses
import re
from collections.abc import Collection

from paribus.errors import HostError, Missing
from paribus.hosts.storage.devices import SECTOR_BYTES
from paribus.hosts.transport import Host
from paribus.knobs.layouts.volume import BuildStep, MadeLayer, Names, Volume

PROGRAM, PACKAGE = "dmsetup", "dmsetup"
MODULES = {"delay": "dm_delay", "error": "dm_flakey", "fail-member": "dm_flakey"}
"""By action of an event: the kernel module that it needs."""

_FOLDER, _PREFIX, _OVER = "/dev/mapper/", "paribus-", "-over-"


def with_faults(volumes: tuple[Volume, ...], disks: Collection[str], names: Names) -> MadeLayer:
    """The volumes, with a device over each of these disks in its place."""
    steps: list[BuildStep] = []
    made: list[Volume] = []
    for volume in volumes:
        if volume.path not in disks:
            made.append(volume)
            continue
        name = device_over(volume.path, names)
        table = passing_on(volume.path, volume.size_bytes)
        steps.append(BuildStep(argv=(PROGRAM, "create", name, "--table", table)))
        made.append(dataclasses.replace(volume, path=f"{_FOLDER}{name}"))
    return MadeLayer(tuple(steps), tuple(made))


def device_over(disk: str, names: Names) -> str:
    """The name in device-mapper of the device over a disk; it ends as the disk's does."""
    end = re.sub("[^A-Za-z0-9.-]", "-", disk.rpartition("/")[2])
    return f"{_PREFIX}{names.tag}{_OVER}{end}"


def is_fault_device(path: str) -> bool:
    """Whether this is the path of such a device."""
    return path.startswith(f"{_FOLDER}{_PREFIX}") and _OVER in path


def passing_on(disk: str, size_bytes: int) -> str:
    """The table of a device that only passes on."""
    return f"0 {size_bytes // SECTOR_BYTES} linear {disk} 0"


def delaying(disk: str, size_bytes: int, delay_s: float) -> str:
    """The table of a device that completes every operation later."""
    return f"0 {size_bytes // SECTOR_BYTES} delay {disk} 0 {max(1, round(delay_s * 1000))}"


def failing(disk: str, size_bytes: int) -> str:
    """The table of a device that fails every operation: 0 s up, 1 s down.

    Not that of dm-error, which has no disk below it: what lies on it could then not be told from a stranger's.
    """
    return f"0 {size_bytes // SECTOR_BYTES} flakey {disk} 0 0 1"


SCSI_RUNNING = "running"
"""State that the kernel gives a SCSI disk that works."""


def scsi_state_of(host: Host, disk: str) -> str:
    """The file that takes a SCSI disk offline. Raises HostError for another disk, which has none."""
    path = f"/sys/class/block/{host.resolve(disk).removeprefix('/dev/')}/device/state"
    with contextlib.suppress(Missing):
        if host.read(path).strip() in (SCSI_RUNNING, "offline"):
            return path
    raise HostError(f"{disk} cannot be taken offline: it is no SCSI, SAS or SATA disk", 'use do = "fail-member"')
