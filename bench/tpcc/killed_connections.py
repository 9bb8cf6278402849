"""TPC-C while connections are killed: whether the twelve conditions hold afterwards.

    .venv/bin/python bench/tpcc/killed_connections.py [--minutes N] [--connections N] [--warehouses N]

On a private MariaDB and a private PostgreSQL under --directory a connection of the load is killed five times a second.
Exit code 1 where a condition does not hold.
"""

import argparse
import contextlib
import random
import sys
import tempfile
import threading
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "sql_engine"))

from clients import run_job  # noqa: E402
from servers import Server, mariadb, postgres  # noqa: E402

from paribus.engine.protocol import Job, Load, TpccJob  # noqa: E402
from paribus.errors import QueryRefused  # noqa: E402

_PAUSE_S = 0.2
_CONNECTIONS = {
    "mariadb": "SELECT id FROM information_schema.processlist WHERE db = 'sbtest'",
    "postgres": "SELECT pid FROM pg_stat_activity WHERE datname = 'sbtest'",
}
_KILL = {"mariadb": "KILL CONNECTION {}", "postgres": "SELECT pg_terminate_backend({})"}


def kill_connections(server: Server, ended: threading.Event, killed: list[str]) -> None:
    """Kill a connection to the database again and again, each time another one."""
    drawn = random.Random(1)
    while not ended.wait(_PAUSE_S):
        numbers = [row[0] for row in server.instance.query(_CONNECTIONS[server.kind]).rows]
        if numbers:
            number = drawn.choice(numbers)
            with contextlib.suppress(QueryRefused):  # it ended meanwhile
                server.instance.query(_KILL[server.kind].format(number))
                killed.append(number)


def drive(server: Server, options: argparse.Namespace) -> bool:
    """Load the tables, drive them while connections are killed, and check the conditions."""
    job = Job(
        phase="prepare",
        workload=TpccJob(database=server.address, warehouses=options.warehouses, mix=[45, 43, 4, 4, 4]),
        load=Load(outstanding=options.connections),
        seed=1,
    )
    run_job(job)
    ended, killed = threading.Event(), list[str]()
    killer = threading.Thread(target=kill_connections, args=(server, ended, killed))
    killer.start()
    try:
        *events, _ = run_job(job.model_copy(update={"phase": "run", "measure_s": 60.0 * options.minutes}))
    finally:
        ended.set()
        killer.join()
    result = next(event for event in events if event["event"] == "result")
    *events, _ = run_job(job.model_copy(update={"phase": "verify"}))
    verified = next((event["blocks"] for event in events if event["event"] == "verified"), 0)
    made_of = result["statements"]
    cells = (
        server.kind,
        str(options.connections),
        f"{options.minutes:g}",
        f"{result['operations']:,}",
        f"{len(killed):,}",
        f"{made_of['reconnects']:,}",
        f"{made_of['conflicts']:,}",
        f"{verified} of 12",
    )
    print("| " + " | ".join(cells) + " |", flush=True)
    return bool(verified == 12)


def main() -> int:
    """Print a row for each server."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--minutes", type=float, default=10.0)
    asked.add_argument("--connections", type=int, default=64)
    asked.add_argument("--warehouses", type=int, default=4)
    asked.add_argument("--directory", default="/var/tmp", help="where servers' users can reach it")  # noqa: S108
    options = asked.parse_args()
    head = ("server", "connections", "minutes", "transactions", "killed", "made again", "conflicts", "conditions hold")
    print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head), flush=True)
    with tempfile.TemporaryDirectory(prefix="paribus-bench-", dir=options.directory) as folder:
        Path(folder).chmod(0o755)
        with mariadb(folder) as server:
            holds = drive(server, options)
        with postgres(folder) as server:
            holds &= drive(server, options)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
