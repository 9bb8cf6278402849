"""TPC-C while its connections are killed: after it, the twelve consistency conditions must hold.

    .venv/bin/python proof/tpcc/run.py [--minutes N] [--connections N] [--warehouses N] [--seed N]

On private servers of each kind under --directory. Every half second one of the load's connections, drawn at random, is
killed by the server; the engine connects again and repeats the transaction.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from paribus.databases import Instance
from paribus.engine.find import binary
from paribus.engine.protocol import Job, Load, TpccJob
from paribus.hosts.local import LocalHost

_DATABASE = "tpcc"
_EVERY_S = 0.5
_SETTINGS = {"mariadb": {"max_connections": "200"}, "postgres": {"max_connections": "200"}}
_SESSIONS = {
    "mariadb": "SELECT id FROM information_schema.processlist WHERE db = 'tpcc'",
    "postgres": "SELECT pid FROM pg_stat_activity WHERE datname = 'tpcc'",
}
_KILL = {"mariadb": "KILL {}", "postgres": "SELECT pg_terminate_backend({})"}


def _events(job: Job) -> list[dict[str, Any]]:
    """Return all events of the engine for a job."""
    process = subprocess.Popen([binary(), "run"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin and process.stdout
    process.stdin.write(job.model_dump_json() + "\n")
    process.stdin.flush()  # it stays open: its end would end the load
    events = [json.loads(line) for line in process.stdout]
    process.stdin.close()
    process.wait()
    return events


def _kill_some(instance: Instance, kind: str, draw: random.Random, stop: threading.Event) -> int:
    """Kill connections until asked to stop; their number."""
    kills = 0
    while not stop.wait(_EVERY_S):
        sessions = [row[0] for row in instance.query(_SESSIONS[kind]).rows]
        if sessions:
            instance.query(_KILL[kind].format(draw.choice(sessions)))
            kills += 1
    return kills


def _row(kind: str, folder: str, options: argparse.Namespace) -> tuple[list[str], bool]:
    """The line of a kind of server, and whether its data is consistent."""
    instance = Instance(LocalHost(), binary(), f"{folder}/{kind}", kind, settings=_SETTINGS[kind])
    try:
        instance.create()
        instance.start()
        instance.query(f"CREATE DATABASE {_DATABASE}")
        address = instance.address().model_copy(update={"database": _DATABASE})
        workload = TpccJob(database=address, warehouses=options.warehouses, mix=[45, 43, 4, 4, 4])  # type: ignore[arg-type]
        _events(Job(phase="prepare", workload=workload, seed=options.seed))
        stop, counted = threading.Event(), [0]
        draw = random.Random(options.seed)
        killer = threading.Thread(target=lambda: counted.__setitem__(0, _kill_some(instance, kind, draw, stop)))
        killer.start()
        load = Load(outstanding=options.connections)
        seconds = 60.0 * options.minutes
        events = _events(Job(phase="run", workload=workload, load=load, measure_s=seconds, seed=options.seed + 1))
        stop.set()
        killer.join()
        result = next((event for event in events if event["event"] == "result"), None)
        ended = _events(Job(phase="verify", workload=workload))
        verdict = next(event for event in ended if event["event"] in ("verified", "error"))
        if result is None:
            return [kind, f"{counted[0]:,}", str(events[-1]), "", "", ""], False
        made_of = result["statements"]
        is_right = verdict["event"] == "verified" and counted[0] > 0 and not result["errors"]
        cells = [
            f"{counted[0]:,}",
            f"{result['operations']:,}",
            f"{made_of['reconnects']:,}",
            f"{made_of['conflicts']:,}",
        ]
        return [kind, *cells, f"{verdict['blocks']} of 12" if is_right else str(verdict.get("message"))], is_right
    finally:
        instance.remove()


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--warehouses", type=int, default=2)
    parser.add_argument("--seed", type=int, default=4711)
    parser.add_argument("--directory", default="/var/tmp", help="where servers' users can reach it")  # noqa: S108
    options = parser.parse_args()
    all_right = True
    print("| server | connections killed | transactions | reconnects | conflicts | conditions that hold |")
    print("|---|---:|---:|---:|---:|---|")
    with tempfile.TemporaryDirectory(prefix="paribus-proof-", dir=options.directory) as folder:
        Path(folder).chmod(0o755)
        for kind in _SETTINGS:
            cells, is_right = _row(kind, folder, options)
            print("| " + " | ".join(cells) + " |", flush=True)
            all_right &= is_right
    how = f"{options.minutes:g} min each, {options.connections} connections, seed {options.seed}"
    print(f"\n{how}, {os.cpu_count()} cores.")
    return 0 if all_right else 1


if __name__ == "__main__":
    sys.exit(main())
