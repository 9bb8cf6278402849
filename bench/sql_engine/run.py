"""Our SQL engine beside sysbench and pgbench: what a query costs the client, and how many there are a second.

    .venv/bin/python bench/sql_engine/run.py [--pairs N] [--seconds N] [--rows N] [--check]

Private servers are made under --directory, with data that sysbench can use as well as we do. In each case the two run
one after the other over the Unix socket, in another order each time; shown are medians, and the median ratio of the
pairs.
The cost is the processor time of the whole client process, connecting included, for each statement it carried out.
Beside point selects is the least that they can cost in this way: a loop in C that does nothing but the system calls.
"""

import argparse
import functools
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from clients import Ran, ours, ours_prepares, pgbench, pgbench_prepares, sysbench, sysbench_prepares
from floor import floor, loading_floor
from servers import Server, mariadb, postgres

OF_LEAST = 1.05
"""Most that a statement may cost, of the least that it can."""
Run = Callable[[], Ran]


def runs(name: str, number: int, kinds: list[Run]) -> list[list[Ran]]:
    """So many runs of each kind, the order alternating."""
    found: list[list[Ran]] = [[] for _ in kinds]
    for repetition in range(number):
        print(f"{name}: {repetition + 1} of {number}", file=sys.stderr)
        for which in range(len(kinds))[:: 1 if repetition % 2 == 0 else -1]:
            found[which].append(kinds[which]())
    return found


def row(name: str, rival: str, mine: list[Ran], theirs: list[Ran], least: list[Ran]) -> tuple[str, bool]:
    """A line of the table, and whether its bars hold: as fast as the rival, and as cheap as can be or as the rival."""

    def middle(runs: list[Ran], of: Callable[[Ran], float]) -> float:
        return statistics.median(map(of, runs))

    def ratio(of: Callable[[Ran], float], others: list[Ran]) -> float:
        return statistics.median(of(one) / of(other) for one, other in zip(mine, others, strict=True))

    cost, speed = ratio(lambda run: run.cpu_us, theirs), ratio(lambda run: run.statements_per_s, theirs)
    of_least = ratio(lambda run: run.cpu_us, least) if least else 0.0
    kept = (of_least <= OF_LEAST if least else cost <= 1.0) and speed >= 1.0
    cells = [
        name,
        rival,
        f"{middle(mine, lambda run: run.cpu_us):.2f}",
        f"{middle(theirs, lambda run: run.cpu_us):.2f}",
        f"{middle(least, lambda run: run.cpu_us):.2f}" if least else "",
        f"{cost:.2f}",
        f"{of_least:.2f}" if least else "",
        f"{middle(mine, lambda run: run.statements_per_s):,.0f}",
        f"{middle(theirs, lambda run: run.statements_per_s):,.0f}",
        f"{speed:.2f}",
        f"{middle(mine, lambda run: run.p95_ms):.2f}",
        f"{middle(theirs, lambda run: run.p95_ms):.2f}",
        "yes" if kept else "no",
    ]
    return "| " + " | ".join(cells) + " |", kept


HEAD = [
    "case",
    "rival",
    "us each",
    "rival's",
    "least",
    "ratio",
    "to least",
    "statements/s",
    "rival's",
    "ratio",
    "p95 ms",
    "rival's",
]


def main() -> int:
    """Print the tables."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--pairs", type=int, default=5)
    asked.add_argument("--seconds", type=int, default=5)
    asked.add_argument("--rows", type=int, default=100_000)
    asked.add_argument("--directory", default="/var/tmp", help="where servers' users can reach it")  # noqa: S108
    asked.add_argument("--check", action="store_true", help="exit with 1 where a bar does not hold")
    options = asked.parse_args()
    head = [*HEAD, "kept"]
    print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
    all_kept = True
    with tempfile.TemporaryDirectory(prefix="paribus-bench-", dir=options.directory) as folder:
        Path(folder).chmod(0o755)
        with mariadb(folder) as server:
            all_kept &= compare(server, "sysbench", sysbench, ("point_select", "read_write"), (1, 2, 8, 64), options)
            all_kept &= loading(server, options)
            crowd(server, options)
        with postgres(folder) as server:
            pgbench_prepares(server, options.rows)
            all_kept &= compare(server, "pgbench", pgbench, ("point_select",), (8, 64), options)
    print(f"\n{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f} at the end, {sysbench_version()}.")
    return 0 if all_kept or not options.check else 1


def compare(
    server: Server,
    rival: str,
    theirs: Callable[[Server, str, int, int, int], Ran],
    mixes: tuple[str, ...],
    connections: tuple[int, ...],
    options: argparse.Namespace,
) -> bool:
    """Every mix at every number of connections, on the same data."""
    ours_prepares(server, options.rows)
    kept = True
    for mix in mixes:
        for number in connections:
            name = f"{server.kind}, {mix}, {number}"
            arguments = (server, mix, number, options.seconds, options.rows)
            kinds = [ours, theirs, *([loop] if mix == "point_select" else [])]
            mine, others, *least = runs(name, options.pairs, [functools.partial(kind, *arguments) for kind in kinds])
            line, holds = row(name, rival, mine, others, least[0] if least else [])
            print(line, flush=True)
            kept &= holds
    return kept


def loop(server: Server, mix: str, connections: int, seconds: int, rows: int) -> Ran:  # noqa: ARG001  point selects
    """The least that a client can cost."""
    rate, cpu_us = floor(server, connections, seconds, rows)
    return Ran(rate, cpu_us, 0.0, 0)


def loading(server: Server, options: argparse.Namespace) -> bool:
    """Rows a second of making the tables, one and several, by as many threads as there are cores."""
    print("\n| making | rows/s | sysbench's | server alone | ratio | bar | kept |\n|" + " --- |" * 7)
    all_kept = True
    for tables in (1, 4):
        rows = 5 * options.rows // tables
        found = []
        for _ in range(options.pairs):
            mine = ours_prepares(server, rows, tables, anew=True)
            least = [loading_floor(server)] if tables == 1 else []
            found.append([tables * rows / one for one in (mine, sysbench_prepares(server, rows, tables), *least)])
        ratio = statistics.median(one / other for one, other, *_ in found)
        cells = [f"{statistics.median(column):,.0f}" for column in zip(*found, strict=True)]
        kept = ratio >= 2.0
        cells = [f"{tables} x {rows:,} rows", *(*cells, "")[:3], f"{ratio:.2f}", "2.00", "yes" if kept else "no"]
        print("| " + " | ".join(cells) + " |", flush=True)
        all_kept &= kept
    print()
    return all_kept


def crowd(server: Server, options: argparse.Namespace) -> None:
    """Print the memory and the rate of 1,024 connections."""
    ours_prepares(server, options.rows, anew=True)
    ran = ours(server, "point_select", 1024, options.seconds, options.rows)
    print(
        f"1,024 connections: {ran.memory_bytes / 1e6:.0f} MB, {ran.statements_per_s:,.0f} statements/s (bar 200 MB)\n"
    )


def sysbench_version() -> str:
    """As it says itself."""
    return subprocess.run(["sysbench", "--version"], capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
