"""Error rates of the reach test: short experiments whose setting can, or cannot, act.

Each case is run on a file system on a loop device of its own, or on a private MariaDB. Needs root.

    sudo .venv/bin/python bench/reach/run.py --times 3 --results bench/reach/campaigns/NAME.jsonl

`--table` prints the table of finished results.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paribus import Lab

_MIB = 2**20
_FILES = 'kind = "fileio"\ntotal_size = "32MiB"\ncache = "cold"\nblock_size = "4KiB"\n'
_DIRECT = _FILES + 'mode = "rndrd"\ndirect = true\n'
_ROWS = 'kind = "oltp_update_index"\ntable_size = 2000\nthreads = [2]\n'
_READ_AHEAD, _REQUESTS = '"block.read_ahead_kb" = [128, 0]', '"block.nr_requests" = [64, 4]'
_FLUSH = '"mysql.innodb_flush_log_at_trx_commit" = [1, 2]'
_SYNC = '"mysql.sync_binlog" = [0, 1]'


@dataclass(frozen=True, slots=True)
class ReachCase:
    """An experiment: its factor and load, and whether the setting can act under that load."""

    name: str
    factor: str
    load: str
    can_act: bool
    database: str = ""


CASES = (
    ReachCase("read-ahead, direct reads", _READ_AHEAD, _FILES + 'mode = "seqrd"\ndirect = true\nthreads = [1]', False),
    ReachCase("read-ahead, buffered reads", _READ_AHEAD, _FILES + 'mode = "seqrd"\nthreads = [1]', True),
    ReachCase("nr_requests, one direct read", _REQUESTS.replace("4]", "32]"), _DIRECT + "threads = [1]", False),
    ReachCase("nr_requests, 32 direct reads", _REQUESTS, _DIRECT + "threads = [32]", True),
    ReachCase("scheduler, one direct read", '"block.scheduler" = ["none", "bfq"]', _DIRECT + "threads = [1]", True),
    ReachCase("sync_binlog, no binary log", _SYNC, _ROWS, False, 'log_bin = "OFF"'),
    ReachCase("sync_binlog, binary log", _SYNC, _ROWS, True, 'log_bin = "ON"'),
    ReachCase(
        "flush at commit, reads only", _FLUSH, _ROWS.replace("update_index", "point_select"), False, 'log_bin = "OFF"'
    ),
    ReachCase("flush at commit, updates", _FLUSH, _ROWS, True, 'log_bin = "OFF"'),
    ReachCase(
        "read-ahead of InnoDB, data in the pool",
        '"mysql.innodb_read_ahead_threshold" = [56, 0]',
        _ROWS,
        False,
        'log_bin = "OFF"',
    ),
    ReachCase(
        "swappiness, no swap space", '"vm.swappiness" = [60, 10]', _FILES + 'mode = "rndrw"\nthreads = [2]', False
    ),
    ReachCase(
        "dirty limit, reads only", '"vm.dirty" = ["20%", "10%"]', _FILES + 'mode = "rndrd"\nthreads = [2]', False
    ),
    ReachCase(
        "dirty limit, writes beyond it",
        '"vm.dirty" = ["1GiB", "1MiB"]',
        _FILES + 'mode = "rndwr"\nfsync_every = 0\nthreads = [2]',
        True,
    ),
)


@contextmanager
def _file_system(folder: Path) -> Iterator[Path]:
    """A mounted file system on a loop device."""
    image, point = folder / "disk.img", folder / "mounted"
    point.mkdir()
    with image.open("wb") as file:
        file.truncate(400 * _MIB)
    subprocess.run(["mkfs.ext4", "-q", str(image)], check=True)
    made = subprocess.run(["losetup", "--find", "--show", str(image)], check=True, capture_output=True, text=True)
    device = made.stdout.strip()
    subprocess.run(["mount", device, str(point)], check=True)
    try:
        yield point
    finally:
        subprocess.run(["umount", "--lazy", str(point)], check=True)
        subprocess.run(["losetup", "--detach", device], check=True)


def _paribus(folder: Path, *arguments: str) -> str:
    environment = os.environ | {"PARIBUS_STATE": str(folder / "state"), "PARIBUS_REGISTER": str(folder / "register")}
    command = [sys.executable, "-m", "paribus", *arguments, "--store", str(folder / "results.db")]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment).stdout


def run_case(reach_case: ReachCase, rounds: int) -> dict[str, Any]:
    """Run a case once; returns its verdict and its time."""
    with tempfile.TemporaryDirectory(prefix="paribus-reach-", dir="/var/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with _file_system(folder) as point:
            data = point / "data"
            data.mkdir()
            database = f'[database]\nkind = "mariadb"\n[database.settings]\n{reach_case.database}\n'
            plan = folder / "plan.toml"
            plan.write_text(
                f'name = "reach"\n[target]\npath = "{data}"\n{database if reach_case.database else ""}'
                f"[factors]\n{reach_case.factor}\n[[workload]]\n{reach_case.load}\n[protocol]\n"
                f'trial = "250ms"\nsettle = "50ms"\nrounds = {rounds}\nmargin = "10%"\nplacebo = false\n'
            )
            began = time.monotonic()
            _paribus(folder, "run", str(plan))
            took_s = time.monotonic() - began
            experiment = Lab(str(folder / "results.db")).experiment("last")
            effects = [effect for effect in experiment.report().effects if effect.load is None]
            factor = reach_case.factor.split('"')[1]
            states = [str(trial.state) for trial in experiment.trials() if trial.factor == factor]
    return {
        "case": reach_case.name,
        "can_act": reach_case.can_act,
        "verdict": str(effects[0].verdict) if effects else "none",
        "pairs": effects[0].pairs if effects else 0,
        "done": states.count("done"),
        "spared": states.count("spared"),
        "took_s": round(took_s, 1),
    }


def table(rows: Sequence[dict[str, Any]]) -> str:
    """The table of results."""
    lines = [
        "| case | setting can act | runs | no effect possible | wrongly so | other verdicts | trials saved |",
        "|---|---|---:|---:|---:|---|---:|",
    ]
    for reach_case in CASES:
        runs = [row for row in rows if row["case"] == reach_case.name]
        claimed = [row for row in runs if row["verdict"] == "no_effect_possible"]
        others = sorted({row["verdict"].replace("_", " ") for row in runs} - {"no effect possible"})
        saved = sum(row["spared"] for row in claimed)
        share = f"{saved / max(saved + sum(row['done'] for row in claimed), 1):.0%}" if claimed else ""
        wrong = len(claimed) if reach_case.can_act else 0
        cells = [reach_case.name, "yes" if reach_case.can_act else "no", len(runs), len(claimed), wrong]
        lines.append(f"| {' | '.join(map(str, [*cells, ', '.join(others), share]))} |")
    return "\n".join(lines)


def main() -> int:
    """Run what is missing, print the table; 1 where the test was wrong once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--only", default="", help="cases whose name contains this text")
    parser.add_argument("--table", action="store_true", help="print the finished results only")
    arguments = parser.parse_args()
    rows = (
        [json.loads(line) for line in arguments.results.read_text().splitlines()] if arguments.results.exists() else []
    )
    for _ in range(0 if arguments.table else arguments.times):
        for reach_case in [each for each in CASES if arguments.only in each.name]:
            row = run_case(reach_case, arguments.rounds)
            rows.append(row)
            print(row, flush=True)
            with arguments.results.open("a") as file:
                file.write(json.dumps(row) + "\n")
    print(table(rows))
    return int(any(row["can_act"] and row["verdict"] == "no_effect_possible" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
