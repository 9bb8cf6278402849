"""Parts that arrays of md and RAID volumes of LVM share: the kernel's md driver is below both."""

from paribus.errors import HostError

IDLE = ("idle", "frozen")
"""Actions of an array that neither synchronises nor rebuilds nor checks."""


def no_failure() -> HostError:
    """Return the error of a replacement before any failure."""
    return HostError("no disk has failed in this trial", "let the failure happen in every trial")
