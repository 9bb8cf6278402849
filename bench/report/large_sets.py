"""Processor time of importing and reporting other people's results with 1,000 levels and more, at 600 load levels.

Each level has runs at ten loads of 600, as in a folder of someone else's scripts: most cells are empty. Both times grow
with the number of runs. The page does not: it has 32 levels in tables and charts, 500 effects and 5,000 runs.

    .venv/bin/python bench/report/large_sets.py [--check]
"""

import argparse
import itertools
import os
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

LOADS, LOADS_OF_LEVEL = 600, 10
LEVELS = (500, 1000, 2000, 4000)
MOST_GROWTH = 2.6
"""Times as long that twice as many runs may take."""


def write_set(path: Path, levels: int) -> None:
    """Write a table with a column of levels, one of load levels, and one of figures that vary by 2 %."""
    rng = random.Random(levels)
    with path.open("w", encoding="utf-8") as table:
        table.write("buffer,threads,tps\n")
        for level in range(levels):
            for load in rng.sample(range(1, LOADS + 1), LOADS_OF_LEVEL):
                table.write(f"L{level},{load},{1000 * rng.gauss(1, 0.02):.1f}\n")


def processor_s(argv: Sequence[str]) -> float:
    """Run a command, and return the processor time that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "paribus", *argv], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    """Print a table; with `--check` end with 1 where a time grows faster than the set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="exit code 1 where a time grows faster than the set")
    options = parser.parse_args()
    times: list[tuple[float, float]] = []
    print("| levels | runs | import, s | report, s | page, MB |\n| ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder
        for levels in LEVELS:
            table, store, page = (Path(folder, f"{levels}{end}") for end in (".csv", ".db", ".html"))
            write_set(table, levels)
            imported = processor_s(["import", str(table), "--store", str(store)])
            reported = processor_s(["report", "last", "--store", str(store), "--format", "html", "-o", str(page)])
            times.append((imported, reported))
            size = page.stat().st_size / 1e6
            print(
                f"| {levels:,} | {levels * LOADS_OF_LEVEL:,} | {imported:.1f} | {reported:.1f} | {size:.1f} |",
                flush=True,
            )
    growth = max(
        after / before
        for first, second in itertools.pairwise(times)
        for before, after in zip(first, second, strict=True)
    )
    print(f"\nTwice as many runs take at most {growth:.2f} times as long; the limit is {MOST_GROWTH}.")
    return int(options.check and growth > MOST_GROWTH)


if __name__ == "__main__":
    sys.exit(main())
