"""What of a machine should be the same in all trials of an experiment, read at the begin of each.

In: a host, the catalogue, what is under test, and the files that trials write to. Out: facts by name, those that a
trial may change left out. Called by the trial's runner.
"""

import hashlib
import json
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from paribus.errors import ParibusError
from paribus.hosts.mounts import MOUNTINFO, mounted_at
from paribus.hosts.transport import Host
from paribus.knobs.catalog import Catalogue
from paribus.knobs.discovery import members, place
from paribus.model import Knob, Location
from paribus.registry import knob_kinds

ABSENT = "absent"
_KINDS = frozenset({"sysfs", "sysctl", "every", "ratio_or_bytes"})
_SUBSYSTEMS = frozenset({"block", "vm", "thp", "cpu", "irq", "kernel"})
_FILES = {
    "kernel": "/proc/sys/kernel/osrelease",
    "boot": "/proc/sys/kernel/random/boot_id",
    "clock source": "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    "online processors": "/sys/devices/system/cpu/online",
}
_MEMORY = "/proc/meminfo"
_CLOCK = "/sys/devices/system/cpu/cpufreq/policy*/scaling_{}_freq"


def digest(conditions: Mapping[str, str]) -> str:
    """A short name of these facts, the same for the same ones; kept once, since most trials have the same."""
    return sys.intern(hashlib.sha256(json.dumps(dict(conditions), sort_keys=True).encode()).hexdigest()[:16])


@dataclass(frozen=True, slots=True)
class Conditions:
    """Where on a host they stand; `told` are those that do not change while it is looked at."""

    host: Host
    knobs: tuple[Knob, ...]
    mount: str | None
    told: Mapping[str, str]

    @classmethod
    def of(
        cls,
        host: Host,
        catalogue: Catalogue,
        location: Location,
        written: Collection[str],
        told: Mapping[str, str],
    ) -> "Conditions":
        """The readable knobs around what is under test, but for those that trials write to, and the rest."""
        rows = [row for row in catalogue if row.kind in _KINDS and row.name.partition(".")[0] in _SUBSYSTEMS]
        if not any("/cpufreq/" in path or "/intel_pstate/" in path for path in written):  # these move the limits
            rows += [_limit("lowest", "min"), _limit("highest", "max")]
        found = [knob for row in rows for knob in _placed(host, catalogue, row, location)]
        left = tuple(knob for knob in found if not set(knob.addresses) & set(written))
        return cls(host, left, None if location.mount in written else location.mount, told)

    def read(self) -> dict[str, str]:
        """What is in force now, in one look. Raises Unreachable and HostError."""
        reads = [knob_kinds.get(knob.kind).reads(knob) for knob in self.knobs]
        paths = [*_FILES.values(), _MEMORY, MOUNTINFO, *(path for some in reads for path in some)]
        texts = dict(zip(paths, self.host.read_each(paths), strict=True))
        found = {name: (texts[path] or "").strip() or ABSENT for name, path in _FILES.items()}
        found["memory"] = next((" ".join(line.split()[1:]) for line in (texts[_MEMORY] or "").splitlines()), ABSENT)
        if self.mount is not None:
            found["mount options"] = _mounted(texts[MOUNTINFO] or "", self.mount)
        for knob, own in zip(self.knobs, reads, strict=True):
            found[knob.name] = _value(knob, [texts[path] for path in own])
        return {**found, **self.told}


def _limit(which: str, name: str) -> Knob:
    """The bound of the processors' clock that is in force; the firmware and thermal daemons move it too."""
    summary = f"the {which} frequency that the governor may choose"
    return Knob(
        name=f"cpu.{name}_frequency_khz",
        kind="every",
        addresses=(_CLOCK.format(name),),
        type="integer",
        summary=summary,
        documentation=summary,
    )


def _placed(host: Host, catalogue: Catalogue, row: Knob, location: Location) -> list[Knob]:
    """The knob, or the members of the family, as far as they are on this machine."""
    try:
        rows = members(host, catalogue, row.name, location) if row.name.endswith(".*") else [row]
        placed = [place(host, one, location) for one in rows]
    except ParibusError:  # there is no device, or the kernel has it not
        return []
    there = host.read_each([knob_kinds.get(one.kind).reads(one)[0] for one in placed])
    return [one for one, text in zip(placed, there, strict=True) if text is not None]


def _value(knob: Knob, texts: list[str | None]) -> str:
    known = tuple(text for text in texts if text is not None)
    if len(known) < len(texts):
        return ABSENT
    try:
        return str(knob_kinds.get(knob.kind).parse(knob, known).value)
    except (ValueError, IndexError):
        return " ".join(known).strip()


def _mounted(text: str, point: str) -> str:
    try:
        mount = mounted_at(text, point)
    except ParibusError:
        return ABSENT
    return f"{mount.source} {mount.filesystem} {mount.flags},{mount.options}"
