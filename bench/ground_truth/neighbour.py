"""Somebody else on the machine: writes and computes in bursts of random length, until it is killed.

In: a folder and a seed. Called by `run.py`.
"""

import os
import random
import sys
import time
from pathlib import Path


def main() -> None:
    """Bursts of up to 0.4 seconds, with pauses of up to 1.2."""
    folder, seed = Path(sys.argv[1]), int(sys.argv[2])
    rng = random.Random(seed)
    block = os.urandom(4 * 1024)
    file = os.open(folder / "neighbour", os.O_RDWR | os.O_CREAT)
    while True:
        busy_until = time.monotonic() + rng.uniform(0.02, 0.4)
        while time.monotonic() < busy_until:
            if rng.random() < 0.5:
                os.pwrite(file, block, rng.randrange(16 * 1024) * len(block))
                os.fdatasync(file)
            else:
                sum(range(20_000))
        time.sleep(rng.uniform(0.06, 1.2))


if __name__ == "__main__":
    main()
