"""Records of what happened during trials with events, such as the failure of a disk."""

from dataclasses import dataclass

from paribus.findings.estimate import Estimate
from paribus.units import LoadLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseFigures:
    """One phase of the trials of an arm.

    `throughput` is operations a second, `share` that of the throughput before the first event, None of that phase
    itself. `stall_s` is the longest response time of any trial, in seconds. `trials` reached the phase.
    """

    phase: str
    throughput: Estimate
    share: Estimate | None
    stall_s: float
    trials: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EventChange:
    """A change of the level of throughput where a phase begins, seen in the courses of `seen` of so many `trials`.

    `ratio` is the level after it over that before, and `delay_s` how long after the moment it came, the median; both
    None where no trial shows one.
    """

    phase: str
    seen: int
    trials: int
    delay_s: float | None
    ratio: Estimate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmPhases:
    """The phases of an arm under a workload at a load level, in the order of time.

    `rebuild_s` is how long a rebuild took; None where none ended within a trial. `rebuilt` of the `trials` saw its end.
    `rebuilt_bytes` went to the disk in that time, of the rebuild and of the load.
    `outage_s` is how long a killed server was away; None where none was killed.
    `impaired_s` is how long the throughput was not as before; in `impaired` trials it stayed so until the end.
    `course` is the mean throughput of each second of a trial. `changes` are those of its level that match an event,
    and `unmatched` is the number of others in all trials. In `verified` trials all data was read and was right.
    """

    factor: str
    arm: str
    workload: str
    load: LoadLevel
    phases: tuple[PhaseFigures, ...]
    rebuild_s: Estimate | None
    rebuilt: int
    rebuilt_bytes: Estimate | None
    outage_s: Estimate | None
    impaired_s: Estimate | None
    impaired: int
    course: tuple[float, ...]
    changes: tuple[EventChange, ...]
    unmatched: int
    verified: int
    trials: tuple[int, ...]
