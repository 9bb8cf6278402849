"""Other work on the machine, until it is killed: a share of each of two processors, even, in bursts or as a wave.

In: the shape, the cores used on average, and a seed. Called by `busy_machine.py`.
"""

import math
import multiprocessing
import random
import sys
import time

PROCESSES = 2
_SLICE_S = 0.02
_BURST_S = 2.0  # mean length of a burst, and of the pause after it
_PERIOD_S = 4.7  # not a multiple of the time of a trial


def _share(shape: str, cores: float, seed: int, at_s: float) -> float:
    """The share of a processor that each process uses at a time; the same in all processes."""
    even = cores / PROCESSES
    match shape:
        case "steady":
            return even
        case "periodic":
            return even * (1 + math.sin(2 * math.pi * at_s / _PERIOD_S + seed))
        case "bursts":
            rng, switch_s, on = random.Random(seed), 0.0, seed % 2 == 0
            while (switch_s := switch_s + rng.expovariate(1 / _BURST_S)) < at_s:
                on = not on
            return 2 * even if on else 0.0
    raise ValueError(f"unknown shape {shape}")


def _work(shape: str, cores: float, seed: int, began_s: float) -> None:
    """Compute for the share of each slice of time."""
    while True:
        start_s = time.monotonic()
        busy_s = _SLICE_S * min(1.0, _share(shape, cores, seed, start_s - began_s))
        while time.monotonic() - start_s < busy_s:
            sum(range(500))
        time.sleep(max(0.0, _SLICE_S - busy_s))


def main() -> None:
    """Work on every processor."""
    shape, cores, seed = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    began_s = time.monotonic()
    processes = [
        multiprocessing.Process(target=_work, args=(shape, cores, seed, began_s), daemon=True) for _ in range(PROCESSES)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()


if __name__ == "__main__":
    main()
