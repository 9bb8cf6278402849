"""Whether verdicts are true: experiments whose answer is set by a throttle, on a real disk with a neighbour.

    sudo python bench/ground_truth/run.py --results bench/ground_truth/campaigns/NAME.jsonl [--only N]

A control group limits the writes per second, so the true ratio of two settings is known exactly. Twenty experiments
compare 5,000 with 5,000 writes per second, ten each 5,000 with 3 % less, 3 % more, 5 % less and 10 % more; beside half
of them a second process makes random load. Each experiment is judged by Ceteris, and by the field's practice: one long
run of each setting at each load level, one after the other, a difference when it exceeds 2 %. A campaign that was cut
off goes on with the experiments that are not in its results yet; `--table` prints what it found.
"""

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import table

ROOT = Path(__file__).parents[2]
BASE = 5000
EFFECTS = {0.0: 20, -0.03: 10, 0.03: 10, -0.05: 10, 0.10: 10}
LEVELS = (1, 2, 4, 8)
TRIAL_S = 1.0
PRACTICE_S = 2.0
MARGIN = 0.02

PLAN = """
name = "ground-truth"
[target]
path = "{path}"
[factors]
"cgroup.writes_per_s" = [{base}, {other}]
[[workload]]
kind       = "fileio"
mode       = "rndwr"
engine     = "io_uring"
direct     = true
files      = 1
fsync_every = 0
fsync_at_end = false
block_size = "4KiB"
total_size = "256MiB"
data       = "keep"
threads    = {levels}
[protocol]
trial  = "{trial}s"
settle = "0.2s"
margin = "{margin}"
rounds = 10
seed   = {seed}
"""


@dataclass(frozen=True)
class Case:
    """One experiment: its number, the true effect as a ratio, and whether somebody else uses the disk."""

    number: int
    effect: float
    neighbour: bool


def cases() -> list[Case]:
    """All of them in random order, always the same, so that no effect has a time of day of its own."""
    wanted = [(effect, n % 2 == 1) for effect, count in EFFECTS.items() for n in range(count)]
    random.Random(20261122).shuffle(wanted)
    return [Case(number, effect, neighbour) for number, (effect, neighbour) in enumerate(wanted, start=1)]


@contextmanager
def neighbour(path: Path, seed: int, *, wanted: bool) -> Iterator[None]:
    """A process that writes and computes in bursts of random length, as other tenants do."""
    if not wanted:
        yield
        return
    script = Path(__file__).with_name("neighbour.py")
    beside = subprocess.Popen([sys.executable, str(script), str(path), str(seed)])
    try:
        yield
    finally:
        beside.kill()
        beside.wait()


def experiment(case: Case, folder: Path) -> dict[str, object]:
    """Carry it out as a user would, and read the report."""
    plan = folder / "plan.toml"
    other = round(BASE * (1 + case.effect))
    plan.write_text(
        PLAN.format(
            path=folder, base=BASE, other=other, levels=list(LEVELS), trial=TRIAL_S, margin=MARGIN, seed=case.number
        )
    )
    env = os.environ | {"CETERIS_STORE": str(folder / "store.db")}
    began = time.monotonic()
    command = [sys.executable, "-m", "ceteris.cli.main"]
    done = subprocess.run(
        [*command, "run", str(plan), "--json", "--report", str(folder / "report.html")],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    took = time.monotonic() - began
    if done.returncode not in (0, 3):
        raise RuntimeError(done.stderr)
    report = json.loads(done.stdout)
    whole = [effect for effect in report["effects"] if effect["load"] is None]
    true = math.log(other / BASE)
    return {
        "seconds": took,
        "trials": report["trials"],
        "effect": whole[0] if whole else None,
        "notes": report["notes"],
        "true": true,
    }


def practice(case: Case, folder: Path) -> dict[str, object]:
    """The field's way: a long run of each setting at each load level, all of the first before all of the second."""
    began = time.monotonic()
    rates = {limit: [_rate(limit, level, folder) for level in LEVELS] for limit in _limits(case)}
    first, second = rates.values()
    return {"seconds": time.monotonic() - began, "ratio": sum(second) / sum(first), "rates": [*first, *second]}


def _limits(case: Case) -> list[tuple[int, int]]:
    """Numbered, since the two may be equal."""
    return [(0, BASE), (1, round(BASE * (1 + case.effect)))]


def _rate(limit: tuple[int, int], level: int, folder: Path) -> float:
    """Writes per second that the engine completes in a group with this limit."""
    from ceteris.engine.find import binary

    group = Path("/sys/fs/cgroup/blkio/ground-truth")
    group.mkdir(exist_ok=True)
    number = (folder / "data").stat().st_dev
    device = f"{os.major(number)}:{os.minor(number)}"
    (group / "blkio.throttle.write_iops_device").write_text(f"{device} {limit[1]}")
    job = {
        "protocol": 2,
        "phase": "run",
        "workload": {
            "kind": "fileio",
            "data": {"directory": str(folder / "data"), "files": 1, "total_size_bytes": 256 * 2**20},
            "io": {"engine": "io_uring", "direct": True},
            "access": {"mode": "rndwr", "block_size_bytes": 4096, "fsync_every": 0, "fsync_at_end": False},
        },
        "load": {"outstanding": level},
        "settle_s": 0.2,
        "measure_s": PRACTICE_S,
        "seed": level,
    }
    engine = subprocess.Popen(
        [binary(), "run"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: (group / "cgroup.procs").write_text(str(os.getpid())),  # noqa: PLW1509
    )
    assert engine.stdin and engine.stdout
    engine.stdin.write(json.dumps(job) + "\n")
    engine.stdin.flush()
    events = [json.loads(line) for line in engine.stdout]
    engine.wait()
    group.rmdir()
    return float(next(event["throughput_per_s"] for event in events if event["event"] == "result"))


def prepare(folder: Path) -> None:
    """The data of the field's runs."""
    from ceteris.engine.find import binary

    (folder / "data").mkdir()
    job = {
        "protocol": 2,
        "phase": "prepare",
        "workload": {
            "kind": "fileio",
            "data": {"directory": str(folder / "data"), "files": 1, "total_size_bytes": 256 * 2**20},
            "io": {"engine": "io_uring", "direct": True},
            "access": {"mode": "rndwr", "block_size_bytes": 4096},
        },
    }
    subprocess.run([binary(), "run"], input=json.dumps(job) + "\n", text=True, check=True, stdout=subprocess.DEVNULL)


def campaign(results: Path, only: int | None) -> None:
    """Every case that is not in the results yet, each kept as soon as it is over."""
    known = {row["number"] for row in table.read(results)} if results.exists() else set()
    results.parent.mkdir(parents=True, exist_ok=True)
    for case in cases()[:only]:
        if case.number in known:
            continue
        with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
            folder = Path(name)
            prepare(folder)
            with neighbour(folder, case.number, wanted=case.neighbour):
                row = asdict(case) | {"ceteris": experiment(case, folder), "practice": practice(case, folder)}
        with results.open("a") as kept:
            kept.write(json.dumps(row) + "\n")
        found = row["ceteris"]["effect"]  # type: ignore[index]
        said = f"{found['verdict']} {found['percent']}" if found else "no verdict"
        print(f"{case.number} of {len(cases())}: true {case.effect:+.0%}: {said}", file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out what is left of a campaign, then print its table."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--results", type=Path, required=True, help="where the campaign's results are kept")
    asked.add_argument("--only", type=int, help="so many of the cases")
    asked.add_argument("--table", action="store_true", help="only print the table")
    options = asked.parse_args(arguments)
    if not options.table:
        campaign(options.results, options.only)
    rows = table.read(options.results)
    print(table.text(rows))
    return 0 if table.holds(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
