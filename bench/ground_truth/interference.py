"""A throttle that stalls one setting, or makes the next trial pay for it: what an arm may do to itself and to others.

In: how (`stalls` or `carries-over`), the limit of the compared arm, and a seed. Watches the load's control group, and
lowers its throttle for a part of a trial. A stall ends before the trial does, so that the setting is found in force.
Called by `hard_truths.py`, until it is killed.
"""

import random
import sys
import time
from pathlib import Path

GROUP = Path("/sys/fs/cgroup/blkio/paribus-load")
THROTTLE = GROUP / "blkio.throttle.write_iops_device"
STALLED_SHARE, STALL, STALL_S = 0.15, 0.7, 0.8  # of the trials; of the limit; seconds
CARRIED, CARRIED_S = 0.85, 0.35
_GLANCE_S = 0.003


def _limit() -> tuple[str, int]:
    """The device and its limit; 0 where there is none."""
    try:
        device, limit = THROTTLE.read_text().split()
    except (OSError, ValueError):
        return "", 0
    return device, int(limit)


def _loads() -> str:
    """The processes of the load; each trial of a plan without changes in flight has its own."""
    try:
        return (GROUP / "cgroup.procs").read_text()
    except OSError:
        return ""


def _lower(device: str, limit: int, share: float, seconds: float) -> None:
    """Lower the limit for a time, unless somebody sets another one meanwhile."""
    lowered = round(limit * share)
    try:
        THROTTLE.write_text(f"{device} {lowered}")
        until = time.monotonic() + seconds
        while time.monotonic() < until and _limit()[1] == lowered:
            time.sleep(_GLANCE_S)
        if _limit()[1] == lowered:
            THROTTLE.write_text(f"{device} {limit}")
    except OSError:  # the group has gone: the experiment is over
        return


def main() -> None:
    """Look at the throttle until killed."""
    how, compared, rng = sys.argv[1], int(sys.argv[2]), random.Random(int(sys.argv[3]))
    before, loads_before = 0, ""
    while True:
        device, limit = _limit()
        loads = _loads()
        begins = loads not in ("", loads_before)
        if how == "stalls" and begins and limit == compared and rng.random() < STALLED_SHARE:
            _lower(device, limit, STALL, STALL_S)
        if how == "carries-over" and limit and limit != before == compared:
            _lower(device, limit, CARRIED, CARRIED_S)
        before, loads_before = limit, loads or loads_before
        time.sleep(_GLANCE_S)


if __name__ == "__main__":
    main()
