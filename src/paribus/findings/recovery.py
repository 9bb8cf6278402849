"""Records of crashes of servers and of what they cost, and of flushes that a crash would lose."""

from dataclasses import dataclass

from paribus.findings.estimate import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmRecovery:
    """Crashes of a private server with the settings of an arm.

    `restart_s` is from the kill until the server answers with its data recovered; None where it never did. Of
    `acknowledged` commits in the last second before all crashes it has lost `lost`. With a `power_cut` the file system
    also lost what it had not written; then the server was `spoilt` in so many trials: it did not start, or was damaged.
    """

    factor: str
    arm: str
    workload: str
    restart_s: Estimate | None
    acknowledged: int
    lost: int
    trials: tuple[int, ...]
    power_cut: bool = False
    spoilt: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmFlushes:
    """Flushes of a guest with the settings of an arm.

    The guest was told that `flushed_bytes` are on its disk. The memory of its hypervisor alone had `unwritten_bytes`
    of them, in `exposed` of the trials.
    """

    factor: str
    arm: str
    workload: str
    flushed_bytes: float
    unwritten_bytes: float
    exposed: int
    trials: tuple[int, ...]
