"""A load that needs every processor: counts units of work for some seconds, and prints them per second.

In: seconds, and how much more throughput the compared level has, as a ratio. The level is the value of vm.swappiness,
so that a setting of the machine has an effect that is known. Called by a plan of `run.py`.
"""

import hashlib
import multiprocessing
import sys
import time
from pathlib import Path

SWAPPINESS = Path("/proc/sys/vm/swappiness")
COMPARED = 61  # the value of vm.swappiness that has the effect
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
    is_compared = int(SWAPPINESS.read_text()) == COMPARED
    size = round(_UNIT_BYTES / (ratio if is_compared else 1.0))
    with multiprocessing.Pool(_PROCESSES) as pool:
        began = time.monotonic()
        units = sum(pool.starmap(_units, [(seconds, size)] * _PROCESSES))
        print("rate:", units / (time.monotonic() - began))


if __name__ == "__main__":
    main()
