"""Our engine beside fio and sysbench: operations a second, what they cost, how long they take, and how much memory.

The tools of a case run one after the other, in another order in each repetition, on the same file; shown are medians,
and the ratio of each pair of neighbours. It writes to one disk only, the one under the directory.

    .venv/bin/python bench/file_engine/run.py --markdown
"""

import argparse
import dataclasses
import json
import os
import platform
import sys
import time
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from cases import Case, all_cases
from contestants import Data, Figures, measured, reserved_huge_pages
from table import Row, aligned, markdown, rows

from paribus.engine.find import binary
from paribus.units import parse_size

ROOT = Path(__file__).parent.parent.parent
Runs = dict[tuple[str, str], list[Figures]]  # by contestant and its way, in order of the repetitions


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--repetitions", type=int, default=5, help="runs of each tool in each case [5]")
    parser.add_argument("--seconds", type=int, default=6, help="length of a run, at least 5 to mean anything [6]")
    parser.add_argument("--size", type=parse_size, default=2 * 2**30, help="size of the file [2GiB]")
    parser.add_argument("--directory", type=Path, default=ROOT / "engine" / "target", help="on the disk [%(default)s]")
    parser.add_argument("--cases", default="*", help="patterns of the cases to run, with commas [*]")
    parser.add_argument("--batched", action="store_true", help="let fio submit and reap in batches, too")
    parser.add_argument("--json", type=Path, help="file for the figures of every single run")
    parser.add_argument("--markdown", action="store_true", help="print it as for bench/README.md")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a limit is missed")
    return parser.parse_args()


def run(case: Case, data: Data, repetitions: int) -> Runs:
    """Every way of every contestant, so many times."""
    entries = [(who, way, go) for who, ways in case.contestants.items() for way, go in ways.items()]
    runs: Runs = {(who, way): [] for who, way, _ in entries}
    for repetition in range(repetitions):
        first = repetition % len(entries)
        for who, way, go in entries[first:] + entries[:first]:
            print(f"{case.name}: {repetition + 1} of {repetitions}: {who} {way}", file=sys.stderr)
            runs[who, way].append(go(data, case.load))
    return runs


def machine(data: Data, options: argparse.Namespace) -> str:
    """Return the machine and the tools of the measurement, in one sentence."""
    model = next((line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")), "?")
    tools = " and ".join(measured([tool, "--version"])[0].strip() for tool in ("fio", "sysbench"))
    return (
        f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores ({model}), Linux {platform.release()}, {tools}, "
        f"{data.size_bytes / 2**30:g} GiB on {_probe(data.directory.parent)['filesystem']}, "
        f"{options.repetitions} repetitions of {options.seconds} s."
    )


def _lines(path: str) -> list[str]:
    return Path(path).read_text(encoding="utf-8").splitlines()


def _probe(directory: Path) -> dict[str, Any]:
    """Return our engine's facts about a directory."""
    found: dict[str, Any] = json.loads(measured([binary(), "probe", str(directory)])[0])["directory"]
    return found


def carry_out(cases: list[Case], data: Data, options: argparse.Namespace) -> tuple[list[Row], dict[str, Any]]:
    """The rows of the table and the figures of every single run; the data is made and removed."""
    found: list[Row] = []
    raw = {}
    data.prepare()
    try:
        for case in cases:
            runs = run(case, data, options.repetitions)
            found += rows(case, runs)
            raw[case.name] = {
                f"{who} {way}".strip(): list(map(dataclasses.asdict, all_)) for (who, way), all_ in runs.items()
            }
    finally:
        data.remove()
    return found, raw


def main() -> int:
    """Run the cases and print the table."""
    options = parse()
    options.directory.mkdir(parents=True, exist_ok=True)
    if _probe(options.directory)["filesystem"] in ("tmpfs", "ramfs"):
        sys.exit(f"{options.directory} is in memory: name a directory on a disk with --directory")
    patterns = options.cases.split(",")
    cases = [c for c in all_cases(options.seconds, options.batched) if any(fnmatch(c.name, p) for p in patterns)]
    data = Data(options.directory.resolve() / "paribus-bench", 1, options.size)
    where = machine(data, options)
    with reserved_huge_pages() as reserved:
        if not reserved:
            print("only root can reserve huge pages for fio: the cases with them are left out", file=sys.stderr)
            cases = [case for case in cases if not case.name.endswith("-huge")]
        found, raw = carry_out(cases, data, options)
    if options.json:
        options.json.write_text(json.dumps({"machine": where, "runs": raw}, indent=1), encoding="utf-8")
    print(markdown(where, found) if options.markdown else aligned(where, found))
    return int(options.check and any(row.missed for row in found))


if __name__ == "__main__":
    sys.exit(main())
