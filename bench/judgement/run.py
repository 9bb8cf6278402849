"""Simulation of the judging procedure's properties; prints a table.

    python bench/judgement/run.py [--seed N] [--draws SHARE] [NUMBER…]

The seed determines every draw; `--draws 0.1` makes a tenth of the draws. Exit code 1 where a bound is violated.
"""

import argparse
import sys
import time

from properties import PROPERTIES


def main() -> int:
    """Print a row for every observed share."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=20261122)
    parser.add_argument("--draws", type=float, default=1.0, help="share of the draws that the bounds are made for")
    parser.add_argument("numbers", nargs="*", type=int, metavar="NUMBER", help="which properties; default: all")
    options = parser.parse_args()
    start_s = time.process_time()
    all_hold = True
    print("| property | what was drawn | draws | seen | bound | kept |\n| --- | --- | --- | --- | --- | --- |")
    for tested in PROPERTIES:
        if options.numbers and tested.number not in options.numbers:
            continue
        for observation in tested.observe(max(20, round(tested.draws * options.draws)), options.seed):
            all_hold = all_hold and observation.holds()
            observed = f"{observation.share.value * 100:.2f} ± {observation.share.error * 100:.2f} %"
            row = (
                f"{tested.number} {tested.name}",
                observation.name,
                observation.share.of,
                observed,
                observation.bound,
                "yes" if observation.holds() else "NO",
            )
            print("| " + " | ".join(map(str, row)) + " |", flush=True)
    print(f"\nSeed {options.seed}, {time.process_time() - start_s:.0f} s of one processor.")
    return 0 if all_hold else 1


if __name__ == "__main__":
    sys.exit(main())
