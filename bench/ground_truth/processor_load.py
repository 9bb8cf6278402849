"""A load that needs every processor: counts units of work for some seconds, and prints them per second.

In: seconds, and the ratio of throughput at the compared level to that at the baseline. The levels are values of
`vm.compaction_proactiveness`, so that a setting of the machine has a known effect. Called by `busy_machine.py`.
"""

import hashlib
import multiprocessing
import sys
import time
from pathlib import Path

PROACTIVENESS = Path("/proc/sys/vm/compaction_proactiveness")
COMPARED = 21  # the value of vm.compaction_proactiveness that has the effect
_PROCESSES = 2
_UNIT_BYTES = 100_000


def _units(seconds: float, size: int) -> int:
    """The units of work, of `size` bytes each, that a processor does in this time."""
    data = bytes(size)
    end, done = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        hashlib.sha256(data)
        done += 1
    return done


def main() -> None:
    """Work on every processor."""
    seconds, ratio = float(sys.argv[1]), float(sys.argv[2])
    is_compared = int(PROACTIVENESS.read_text()) == COMPARED
    size = round(_UNIT_BYTES / (ratio if is_compared else 1.0))
    with multiprocessing.Pool(_PROCESSES) as pool:
        began = time.monotonic()
        units = sum(pool.starmap(_units, [(seconds, size)] * _PROCESSES))
        print("rate:", units / (time.monotonic() - began))


if __name__ == "__main__":
    main()
