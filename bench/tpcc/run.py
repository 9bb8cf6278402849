"""Our TPC-C beside a script for sysbench: rows loaded a second, and what a transaction costs the client.

    .venv/bin/python bench/tpcc/run.py [--pairs N] [--seconds N] [--warehouses N] [--check]

A private MariaDB is made under --directory. Both make the same tables with as many threads as there are cores; so does
the server itself with LOAD DATA from its own files, and no client. Then both drive the data that ours has made, one
after the other over the Unix socket, in another order each time. Shown are
medians, and the median ratio of the pairs. The cost is the processor time of the whole client process, connecting
included, for each transaction. The script sends the same statements as text, as scripts for sysbench do; ours has them
prepared, its default. "Least" is what the requests of ours cost a loop in C that reads of the answers only where they
end (`replay.c`).
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "sql_engine"))

from clients import run_job, run_program  # noqa: E402
from replay import record, replay  # noqa: E402
from servers import DATABASE, Server, mariadb  # noqa: E402

from paribus.engine.protocol import Job, Load, TpccJob  # noqa: E402

_RATE = re.compile(r"transactions:\s+([0-9]+)\s+\(([0-9.]+) per sec")
_P95 = re.compile(r"95th percentile:\s+([0-9.]+)")
_DECK = [45, 43, 4, 4, 4]
_CONNECTIONS = (8, 64)
_COST_BAR, _LEAST_BAR, _LOADING_BAR, _OWN_BAR = 0.5, 1.1, 3.0, 1.3
_RECORDED_S = 5.0
_REPLAYED = "replayed"
_HEAD = (
    *("connections", "us each", "sysbench's", "ratio", "bar", "least", "to least", "bar"),
    *("per s", "sysbench's", "ratio", "p95 ms", "sysbench's"),
)
_LARGEST_FIRST = (
    "stock",
    "order_line",
    "customer",
    "orders",
    "history",
    "item",
    "new_orders",
    "district",
    "warehouse",
)
_INDEXES = re.compile(r",\s*KEY `(\w+)` (\([^)]*\))")


@dataclass(frozen=True)
class Ran:
    """One run: transactions a second, microseconds of processor time of each, and p95 in milliseconds."""

    per_s: float
    cpu_us: float
    p95_ms: float


def _ours(server: Server, warehouses: int, phase: str, connections: int = 1, seconds: float | None = None) -> list[Any]:
    job = Job(
        phase=phase,  # type: ignore[arg-type]
        workload=TpccJob(database=server.address, warehouses=warehouses, mix=_DECK),
        load=Load(outstanding=connections),
        measure_s=seconds,
        seed=int(time.time()),
    )
    if phase in ("prepare", "verify"):
        job = job.model_copy(update={"seed": 1})
    return run_job(job)


def ours(server: Server, connections: int, options: argparse.Namespace) -> Ran:
    """The engine, by a job on its stdin."""
    *events, used = _ours(server, options.warehouses, "run", connections, options.seconds)
    result = next(event for event in events if event["event"] == "result")
    return Ran(
        per_s=result["throughput_per_s"],
        cpu_us=(used.ru_utime + used.ru_stime) / result["operations"] * 1e6,
        p95_ms=result["response"]["p95_s"] * 1e3,
    )


def _sysbench(server: Server, options: argparse.Namespace, *arguments: str) -> tuple[str, float]:
    where = [f"--mysql-socket={server.address.socket}", "--mysql-user=root", f"--mysql-db={DATABASE}"]
    argv = ["sysbench", str(HERE / "tpcc.lua"), *where, f"--warehouses={options.warehouses}", *arguments]
    ended = run_program(argv)
    return ended.out, ended.cpu_s


def sysbench(server: Server, connections: int, options: argparse.Namespace) -> Ran:
    """sysbench with the script beside this file, and a thread for each connection."""
    text, cpu_s = _sysbench(server, options, f"--threads={connections}", f"--time={options.seconds}", "run")
    rate, p95 = _RATE.search(text), _P95.search(text)
    assert rate and p95, text
    return Ran(float(rate[2]), cpu_s / int(rate[1]) * 1e6, float(p95[1]))


def _own(server: Server, number: int) -> float:
    """Seconds in which the server makes the tables anew from its own files, with a connection for each core."""
    folder = Path(str(server.instance.query("SELECT @@secure_file_priv").rows[0][0]))
    files = {table: folder / f"{table}-{number}.rows" for table in _LARGEST_FIRST}
    created = {}
    for table, file in files.items():
        server.instance.query(f"SELECT * INTO OUTFILE '{file}' FROM {DATABASE}.{table}")  # noqa: S608  a constant
        created[table] = str(server.instance.query(f"SHOW CREATE TABLE {DATABASE}.{table}").rows[0][1])
    _empty(server)
    indexes = []
    for table, statement in created.items():
        server.instance.query(_INDEXES.sub("", statement).replace(f"`{table}`", f"{DATABASE}.{table}", 1))
        for name, columns in _INDEXES.findall(statement):
            indexes.append(f"CREATE INDEX {name} ON {DATABASE}.{table} {columns}")
    loads = [f"LOAD DATA INFILE '{file}' INTO TABLE {DATABASE}.{table}" for table, file in files.items()]
    began = time.monotonic()
    with ThreadPoolExecutor(os.cpu_count()) as connections:
        for statements in (loads, indexes):
            list(connections.map(server.instance.query, statements))
    took_s = time.monotonic() - began
    for file in files.values():
        file.unlink()
    return took_s


Least = Callable[[int], float]
"""Microseconds of processor time that a transaction costs at least, at so many connections."""


def least(server: Server, options: argparse.Namespace) -> Least:
    """Record a load on tables of its own, which sending it again does not leave consistent."""
    server.instance.query(f"CREATE DATABASE {_REPLAYED}")
    address = server.address.model_copy(update={"database": _REPLAYED})
    apart = replace(server, address=address)
    _ours(apart, options.warehouses, "prepare")

    def drive(path: str) -> None:
        recording = replace(server, address=address.model_copy(update={"socket": path}))
        _ours(recording, options.warehouses, "run", 1, _RECORDED_S)

    recorded = record(str(server.address.socket), drive)
    return lambda connections: replay(str(server.address.socket), recorded, connections, options.seconds)[1]


def _empty(server: Server) -> None:
    server.instance.query(f"DROP DATABASE {DATABASE}")
    server.instance.query(f"CREATE DATABASE {DATABASE}")


def loads(server: Server, options: argparse.Namespace, number: int) -> tuple[float, float, float]:
    """Warehouses a minute that ours, the rival and the server alone make, one after the other in an empty database.

    Ours comes last, so that its tables stay.
    """
    _empty(server)
    began = time.monotonic()
    _sysbench(server, options, f"--threads={os.cpu_count()}", "prepare")
    theirs_s = time.monotonic() - began
    own_s = _own(server, number)
    _empty(server)
    began = time.monotonic()
    _ours(server, options.warehouses, "prepare")
    mine_s = time.monotonic() - began
    mine, theirs, own = (60 * options.warehouses / seconds for seconds in (mine_s, theirs_s, own_s))
    return mine, theirs, own


def _print(cells: Sequence[str]) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--warehouses", type=int, default=2)
    parser.add_argument("--directory", default="/var/tmp", help="where servers' users can reach it")  # noqa: S108
    parser.add_argument("--check", action="store_true", help="exit with 1 where a bar does not hold")
    options = parser.parse_args()
    holds = True
    with tempfile.TemporaryDirectory(prefix="paribus-bench-", dir=options.directory) as folder:
        Path(folder).chmod(0o755)
        with mariadb(folder) as server:
            made = [loads(server, options, number) for number in range(options.pairs)]
            holds &= _loading(made, options.warehouses)
            print()
            _print(_HEAD)
            _print(["---"] * len(_HEAD))
            replayed = least(server, options)
            for connections in _CONNECTIONS:
                pairs, costs = [], []
                for number in range(options.pairs):
                    kinds = [ours, sysbench] if number % 2 == 0 else [sysbench, ours]
                    ran = {kind: kind(server, connections, options) for kind in kinds}
                    pairs.append((ran[ours], ran[sysbench]))
                    costs.append(replayed(connections))
                holds &= _row(connections, pairs, costs)
            verified = next(e for e in _ours(server, options.warehouses, "verify")[:-1] if e["event"] == "verified")
    version = subprocess.run(["sysbench", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    print(f"\n{verified['blocks']} consistency conditions hold after both. {os.cpu_count()} cores, {version}.")
    return 0 if holds or not options.check else 1


def _loading(made: Sequence[tuple[float, float, float]], warehouses: int) -> bool:
    """Print how fast tables were made; whether the bars hold."""
    mine, theirs, own = (statistics.median(column) for column in zip(*made, strict=True))
    ratio = statistics.median(ours / rivals for ours, rivals, _ in made)
    to_own = statistics.median(alone / ours for ours, _, alone in made)
    _print(["loading", "warehouses/min", "sysbench's", "ratio", "bar", "the server's own", "its ratio to ours", "bar"])
    _print(["---"] * 8)
    cells = [f"{mine:.1f}", f"{theirs:.1f}", f"{ratio:.2f}", f"{_LOADING_BAR}", f"{own:.1f}", f"{to_own:.2f}"]
    _print([f"{warehouses} warehouses", *cells, f"{_OWN_BAR}"])
    return ratio >= _LOADING_BAR and to_own <= _OWN_BAR


def _row(connections: int, pairs: Sequence[tuple[Ran, Ran]], costs: Sequence[float]) -> bool:
    """Print the line of a number of connections; whether its bars hold. `costs`: the least of each pair."""
    mine, theirs = zip(*pairs, strict=True)
    cost = statistics.median(one.cpu_us / other.cpu_us for one, other in pairs)
    to_least = statistics.median(one.cpu_us / cost_us for (one, _), cost_us in zip(pairs, costs, strict=True))
    speed = statistics.median(one.per_s / other.per_s for one, other in pairs)
    _print(
        [
            f"{connections}",
            f"{statistics.median(ran.cpu_us for ran in mine):.0f}",
            f"{statistics.median(ran.cpu_us for ran in theirs):.0f}",
            f"{cost:.2f}",
            f"{_COST_BAR}",
            f"{statistics.median(costs):.0f}",
            f"{to_least:.2f}",
            f"{_LEAST_BAR}",
            f"{statistics.median(ran.per_s for ran in mine):,.0f}",
            f"{statistics.median(ran.per_s for ran in theirs):,.0f}",
            f"{speed:.2f}",
            f"{statistics.median(ran.p95_ms for ran in mine):.1f}",
            f"{statistics.median(ran.p95_ms for ran in theirs):.1f}",
        ]
    )
    return cost <= _COST_BAR and to_least <= _LEAST_BAR


if __name__ == "__main__":
    sys.exit(main())
