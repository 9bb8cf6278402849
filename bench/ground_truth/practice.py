"""A run as the field makes it: one load, one limit, one figure.

In: a folder for data, a limit of writes per second, a load level. Out: writes per second. Called by `run.py`.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from ceteris.engine.find import binary

GROUP = Path("/sys/fs/cgroup/blkio/ground-truth")
SIZE_BYTES = 256 * 2**20
BLOCK_BYTES = 4096


def prepare(folder: Path) -> None:
    """Make the data."""
    (folder / "data").mkdir()
    _run(_job(folder, "prepare"), [binary()])


def rate(folder: Path, limit_per_s: int, outstanding: int, measure_s: float) -> float:
    """Writes per second in a control group with this limit."""
    number = (folder / "data").stat().st_dev
    disk = (Path("/sys/dev/block") / f"{os.major(number)}:{os.minor(number)}").resolve()
    whole = disk if (disk / "queue").exists() else disk.parent
    GROUP.mkdir(exist_ok=True)
    try:
        device = (whole / "dev").read_text().strip()
        (GROUP / "blkio.throttle.write_iops_device").write_text(f"{device} {limit_per_s}")
        timed = {"load": {"outstanding": outstanding}, "settle_s": 0.2, "measure_s": measure_s}
        joining = ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(GROUP / "cgroup.procs"), binary()]
        events = _run(_job(folder, "run") | timed, joining)
    finally:
        GROUP.rmdir()
    return float(next(event["throughput_per_s"] for event in events if event["event"] == "result"))


def _job(folder: Path, phase: str) -> dict[str, Any]:
    workload = {
        "kind": "fileio",
        "data": {"directory": str(folder / "data"), "files": 1, "total_size_bytes": SIZE_BYTES},
        "io": {"engine": "io_uring", "direct": True},
        "access": {"mode": "rndwr", "block_size_bytes": BLOCK_BYTES, "fsync_every": 0, "fsync_at_end": False},
    }
    return {"protocol": 2, "phase": phase, "workload": workload}


def _run(job: dict[str, Any], command: list[str]) -> list[dict[str, Any]]:
    """What the engine says; its stdin stays open until it has ended."""
    with subprocess.Popen([*command, "run"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as engine:
        assert engine.stdin and engine.stdout
        engine.stdin.write(json.dumps(job) + "\n")
        engine.stdin.flush()
        events = [json.loads(line) for line in engine.stdout]
    if engine.returncode != 0:
        raise RuntimeError(f"the engine ended with {engine.returncode}: {events[-1:]}")
    return events
