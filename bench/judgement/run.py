"""Repeat the simulations behind the judging procedure and print their table.

    python bench/judgement/run.py [--seed N] [--draws SHARE] [NUMBER…]

Each property is drawn anew with the seed; `--draws 0.1` makes a tenth of the draws. Exit 1 where a bound is not kept.
"""

import argparse
import sys
import time

from properties import PROPERTIES


def main() -> int:
    """Print a row for every number that was looked at."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--seed", type=int, default=20261122)
    asked.add_argument("--draws", type=float, default=1.0, help="share of the draws that the bounds are made for")
    asked.add_argument("numbers", nargs="*", type=int, metavar="NUMBER", help="which properties; default: all")
    options = asked.parse_args()
    began = time.process_time()
    kept = True
    print("| property | what was drawn | draws | seen | bound | kept |\n| --- | --- | --- | --- | --- | --- |")
    for one in PROPERTIES:
        if options.numbers and one.number not in options.numbers:
            continue
        for seen in one.observe(max(20, round(one.draws * options.draws)), options.seed):
            kept = kept and seen.kept
            shown = f"{seen.seen.value * 100:.2f} ± {seen.seen.error * 100:.2f} %"
            row = (f"{one.number} {one.name}", seen.what, seen.seen.of, shown, seen.bound, "yes" if seen.kept else "NO")
            print("| " + " | ".join(map(str, row)) + " |", flush=True)
    print(f"\nSeed {options.seed}, {time.process_time() - began:.0f} s of one processor.")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
