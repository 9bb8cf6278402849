"""Conditions of a machine that should be the same in all trials of an experiment, read at the start of each.

In: a host, the catalogue, the location under test, and the files that trials write to. Out: facts by name, without
those that a trial may change. Called by the trial's runner.
"""

import hashlib
import json
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from paribus.errors import ParibusError
from paribus.hosts.facts import BOOT_ID_FILE
from paribus.hosts.storage.mounts import MOUNTINFO, mounted_at
from paribus.hosts.transport import Host
from paribus.knobs.catalog import Catalogue
from paribus.knobs.discovery import members, place
from paribus.knobs.kinds import knob_kinds
from paribus.model import Knob, Location

ABSENT = "absent"
_SUBSYSTEMS = frozenset({"block", "md", "vm", "thp", "cpu", "irq", "kernel"})
_FILES = {
    "kernel": "/proc/sys/kernel/osrelease",
    "boot": BOOT_ID_FILE,
    "clock source": "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    "online processors": "/sys/devices/system/cpu/online",
}
_MEMORY = "/proc/meminfo"
_CLOCK = "/sys/devices/system/cpu/cpufreq/policy*/scaling_{}_freq"


def digest(conditions: Mapping[str, str]) -> str:
    """A short hash of these facts; interned, since most trials have the same."""
    return sys.intern(hashlib.sha256(json.dumps(dict(conditions), sort_keys=True).encode()).hexdigest()[:16])


@dataclass(frozen=True, slots=True)
class Conditions:
    """The condition knobs of a host; `fixed_facts` do not change during an experiment."""

    host: Host
    knobs: tuple[Knob, ...]
    mount: str | None
    fixed_facts: Mapping[str, str]

    @classmethod
    def of(
        cls,
        host: Host,
        catalogue: Catalogue,
        location: Location,
        written: Collection[str],
        fixed_facts: Mapping[str, str],
    ) -> "Conditions":
        """The readable knobs around the location under test that no trial writes to, and the fixed facts."""
        rows = [
            row
            for row in catalogue
            if knob_kinds.get(row.kind).is_condition and row.name.partition(".")[0] in _SUBSYSTEMS
        ]
        if not any("/cpufreq/" in path or "/intel_pstate/" in path for path in written):  # these knobs move the limits
            rows += [_limit("lowest", "min"), _limit("highest", "max")]
        placed = [knob for row in rows for knob in _placed(host, catalogue, row, location)]
        unwritten = tuple(knob for knob in placed if not set(knob.addresses) & set(written))
        return cls(host, unwritten, None if location.mount in written else location.mount, fixed_facts)

    def read(self) -> dict[str, str]:
        """The facts in force now, read in one round trip. Raises Unreachable and HostError."""
        reads = [knob_kinds.get(knob.kind).reads(knob) for knob in self.knobs]
        paths = [*_FILES.values(), _MEMORY, MOUNTINFO, *(path for paths in reads for path in paths)]
        texts = dict(zip(paths, self.host.read_each(paths), strict=True))
        facts = {name: (texts[path] or "").strip() or ABSENT for name, path in _FILES.items()}
        facts["memory"] = next((" ".join(line.split()[1:]) for line in (texts[_MEMORY] or "").splitlines()), ABSENT)
        if self.mount is not None:
            facts["mount options"] = _mounted(texts[MOUNTINFO] or "", self.mount)
        for knob, knob_paths in zip(self.knobs, reads, strict=True):
            facts[knob.name] = _value(knob, [texts[path] for path in knob_paths])
        return {**facts, **self.fixed_facts}


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
    """The knob, or the members of the family, as far as they exist on this machine."""
    try:
        rows = members(host, catalogue, row.name, location) if row.name.endswith(".*") else [row]
        placed = [place(host, member, location) for member in rows]
    except ParibusError:  # there is no device, or the kernel does not have the knob
        return []
    texts = host.read_each([knob_kinds.get(knob.kind).reads(knob)[0] for knob in placed])
    return [knob for knob, text in zip(placed, texts, strict=True) if text is not None]


def _value(knob: Knob, texts: list[str | None]) -> str:
    present = tuple(text for text in texts if text is not None)
    if len(present) < len(texts):
        return ABSENT
    try:
        return str(knob_kinds.get(knob.kind).parse(knob, present).value)
    except (ValueError, IndexError):
        return " ".join(present).strip()


def _mounted(text: str, point: str) -> str:
    try:
        mount = mounted_at(text, point)
    except ParibusError:
        return ABSENT
    return f"{mount.source} {mount.filesystem} {mount.flags},{mount.options}"
