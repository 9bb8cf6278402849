"""Planned events in each trial, such as the failure of a disk."""

from dataclasses import dataclass
from typing import Literal

from paribus.model.machine import CommandLines
from paribus.model.words import Settings

EVENT = "event"
"""Prefix of the keys of settings that say whether an event happens."""

ON = "ON"

EventAction = Literal[
    "fail-member", "offline", "add", "replace", "check", "resync", "trim", "delay", "error", "run", "kill-server"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeMember:
    """A drive of a controller's volume: `fail` and `replace` are programs, and `command` prints its state.

    It is whole in the state `whole`, and on the way there in one of `rebuilding`. `affects` names the checks of health
    whose states follow it, such as that of the volume. `proved`: what tried it.
    """

    name: str
    command: CommandLines
    fail: tuple[str, ...]
    replace: tuple[str, ...]
    whole: str
    rebuilding: tuple[str, ...]
    affects: tuple[str, ...]
    proved: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedEvent:
    """An event of every trial, `at_s` after its measured time began and once its load read and wrote `after_bytes`.

    `disk` is the one that fails or is slow, or that takes the place of the failed one; empty for events of the whole
    layout. A disk is slow by `delay_s`, fails or is offline, and the program `argv` runs, until `until_s`; None: to the
    end of the trial. Where it has a `name`, a setting says whether it happens.
    """

    at_s: float
    after_bytes: int = 0
    action: EventAction
    disk: str = ""
    until_s: float | None = None
    delay_s: float = 0.0
    argv: tuple[str, ...] = ()
    name: str = ""
    over_disk: bool = False
    """Whether a device of device-mapper over the disk makes it happen."""
    member: VolumeMember | None = None
    """The drive that `disk` names, where that is one of a controller's volume."""

    def is_due(self, elapsed_s: float, done_bytes: int) -> bool:
        """Whether its time and its amount of work have come."""
        return self.at_s <= elapsed_s and self.after_bytes <= done_bytes

    def happens(self, settings: Settings) -> bool:
        """Whether it happens in a trial with these settings."""
        return settings.get(f"{EVENT}.{self.name}", ON) == ON


BEFORE = "before"
PHASES = {
    "fail-member": ("degraded", ""),
    "offline": ("degraded", ""),
    "add": ("rebuilding", "rebuilt"),
    "replace": ("rebuilding", "rebuilt"),
    "check": ("checking", "checked"),
    "resync": ("resyncing", "resynced"),
    "trim": ("trimming", "trimmed"),
    "delay": ("slow", "recovered"),
    "error": ("degraded", ""),
    "run": ("beside_job", "after_job"),
    "kill-server": ("down", "restarted"),
}
"""By action of an event: the phase that it begins, and the phase after its end; empty where it has no end."""

LASTED = {
    "add": "rebuild_s",
    "replace": "rebuild_s",
    "check": "check_s",
    "resync": "resync_s",
    "trim": "trim_s",
    "run": "job_s",
    "kill-server": "outage_s",
}
"""By action of an event that ends by itself: the metric of how long it took."""

IMPAIRED = "impaired_s"
"""The metric of the time from the first event of a trial until its throughput is as before."""

OF_DISK = ("delay", "error")
"""Actions that device-mapper does to a disk below a layout."""

RETURNS = ("add", "replace")
"""Actions that give an array a disk in place of the one that failed."""

OFFLINE = "offline"
KILL_SERVER = "kill-server"
WITHOUT_LAYOUT = ("run", KILL_SERVER)
"""Actions that need no layout."""

OF_MEMBER = ("fail-member", "replace")
"""Actions that happen to the drives of a controller's volume too."""
