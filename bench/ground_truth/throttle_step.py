"""A step of known size at a known time: lowers or raises the load's throttle for some seconds, then restores it.

In: a file for the steps, and a seed for their size and time. Out: a line of JSON with the size as a ratio, and the
seconds from the start of this program. Called by `steps.py` as an event of each trial.
"""

import json
import random
import sys
import time
from pathlib import Path

from interference import THROTTLE

RATIOS = (0.5, 0.7, 0.85, 0.93, 1.08, 1.2, 1.5)
_FIRST_S, _LEVEL_S = 2.0, 6.0  # the step comes within the one, and stays for the other


def main() -> None:
    """Make one step and its way back."""
    began = time.monotonic()
    rng = random.Random(f"{sys.argv[2]} {time.time_ns()}")
    ratio = rng.choice(RATIOS)
    time.sleep(rng.uniform(0.0, _FIRST_S))
    device, limit = THROTTLE.read_text().split()
    THROTTLE.write_text(f"{device} {round(int(limit) * ratio)}")
    down_s = time.monotonic() - began
    time.sleep(_LEVEL_S)
    THROTTLE.write_text(f"{device} {limit}")
    with Path(sys.argv[1]).open("a") as file:
        file.write(json.dumps({"ratio": ratio, "at_s": down_s, "back_s": time.monotonic() - began}) + "\n")


if __name__ == "__main__":
    main()
