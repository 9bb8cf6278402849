"""Whether a busy machine gets true answers: experiments whose answer is known, beside other work of known shape.

    sudo python bench/busy_machine/run.py --results bench/busy_machine/campaigns/NAME.jsonl [--only N]

A load that needs both processors runs beside 0, 0.5 or 1.0 cores of other work: even, in bursts, or as a wave. Two
thirds of the experiments compare equal settings, one third a setting with 10 % more throughput. The time of an
experiment counts until its verdict. A campaign that was cut off continues; `--table` prints its results.
"""

import argparse
import json
import math
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

Row = dict[str, Any]
HERE = Path(__file__).parent
EFFECTS = {0.0: 10, 0.10: 5}  # experiments of each kind of other work
BACKGROUNDS = [("none", 0.0), *((shape, cores) for cores in (0.5, 1.0) for shape in ("steady", "bursts", "periodic"))]
_LEAST_TAIL = 0.02  # of the binomial distribution: what is less likely than this does not hold
_PLAN = """
name = "busy-machine"
[target]
path = "{path}"
[factors]
"vm.swappiness" = [60, 61]
[[workload]]
kind       = "command"
run        = ["{python}", "{load}", "{{seconds}}", "{ratio}"]
throughput = 'rate: (?P<value>[0-9.]+)'
threads    = [2]
[protocol]
trial   = "0.5s"
settle  = "0.05s"
margin  = "5%"
rounds  = 5
placebo = false
seed    = {seed}
"""


@dataclass(frozen=True)
class Case:
    """One experiment: its number, the true effect as a ratio, and the other work on the machine."""

    number: int
    ratio: float
    shape: str
    cores: float


def cases() -> list[Case]:
    """All experiments in random order, the same each time, so that no kind of other work has its own time of day."""
    wanted = [
        (ratio, shape, cores) for shape, cores in BACKGROUNDS for ratio, count in EFFECTS.items() for _ in range(count)
    ]
    random.Random(20261125).shuffle(wanted)
    return [Case(number, *case) for number, case in enumerate(wanted, start=1)]


@contextmanager
def _background(case: Case) -> Iterator[None]:
    """Other work while the block runs."""
    if case.shape == "none":
        yield
        return
    command = [sys.executable, str(HERE / "background.py"), case.shape, str(case.cores), str(case.number)]
    process = subprocess.Popen(command, start_new_session=True)
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _experiment(case: Case, folder: Path) -> Row:
    """Run the experiment as a user would, and read the report."""
    plan = folder / "plan.toml"
    values = {"path": folder, "python": sys.executable, "load": HERE / "load.py", "ratio": 1 + case.ratio}
    plan.write_text(_PLAN.format(**values, seed=case.number))
    command = [sys.executable, "-m", "paribus", "run", str(plan), "--json", "--report", str(folder / "report.html")]
    env = os.environ | {"PARIBUS_STORE": str(folder / "store.db")}
    began = time.monotonic()
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    report = json.loads(done.stdout)
    whole = [effect for effect in report["effects"] if effect["load"] is None]
    return {"seconds": time.monotonic() - began, "trials": report["trials"], "effect": whole[0] if whole else None}


def _campaign(results: Path, only: int | None) -> None:
    """Run the experiments that are not in the results yet, and keep each at its end."""
    known = {row["number"] for row in _read(results)} if results.exists() else set()
    results.parent.mkdir(parents=True, exist_ok=True)
    for case in cases()[:only]:
        if case.number in known:
            continue
        with tempfile.TemporaryDirectory(dir="/var/tmp") as name, _background(case):
            row = asdict(case) | _experiment(case, Path(name))
        with results.open("a") as file:
            file.write(json.dumps(row) + "\n")
        text = f"{case.ratio:+.0%} beside {case.shape} {case.cores:g}: {_verdict(row)} after {row['seconds']:.0f} s"
        print(f"{case.number} of {len(cases())}: {text}", file=sys.stderr, flush=True)


def _read(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def _verdict(row: Row) -> str:
    return str(row["effect"]["verdict"]) if row["effect"] else "none"


def _table(rows: Sequence[Row]) -> str:
    """The results by other work; times are medians, as a multiple of those of a quiet machine."""
    lines = ["| other work | false claims at 0 % | found at +10 % | interval holds the truth | time |"]
    lines.append("| --- | --- | --- | --- | --- |")
    for shape, cores in BACKGROUNDS:
        own = [row for row in rows if (row["shape"], row["cores"]) == (shape, cores)]
        equal, more = ([row for row in own if row["ratio"] == ratio] for ratio in EFFECTS)
        if not equal or not more:
            continue
        false = sum(_verdict(row) in ("better", "worse", "depends_on_load") for row in equal)
        found = sum(_verdict(row) == "better" for row in more)
        judged = [row for row in own if row["effect"]]
        holds = sum(_holds_truth(row) for row in judged)
        times = [
            statistics.median(row["seconds"] for row in part) / statistics.median(_quiet_s(rows, part[0]["ratio"]))
            for part in (equal, more)
        ]
        name = "none" if shape == "none" else f"{shape}, {cores:g} of 2 cores"
        lines.append(
            f"| {name} | {false} of {len(equal)} | {found} of {len(more)} | {holds} of {len(judged)} "
            f"| {times[0]:.2f} and {times[1]:.2f} |"
        )
    return "\n".join(lines)


def _quiet_s(rows: Sequence[Row], ratio: float) -> list[float]:
    return [row["seconds"] for row in rows if row["shape"] == "none" and row["ratio"] == ratio] or [math.nan]


def _holds_truth(row: Row) -> bool:
    interval = row["effect"]["log_ratio"]
    return bool(interval["low"] <= math.log1p(row["ratio"]) <= interval["high"])


def _holds(rows: Sequence[Row]) -> bool:
    """Whether so many false claims are likely enough at 5 %, and every +10 % was found."""
    equal = [row for row in rows if row["ratio"] == 0]
    false = sum(_verdict(row) in ("better", "worse", "depends_on_load") for row in equal)
    n = len(equal)
    tail = sum(math.comb(n, k) * 0.05**k * 0.95 ** (n - k) for k in range(false, n + 1))
    return tail > _LEAST_TAIL and all(_verdict(row) == "better" for row in rows if row["ratio"] > 0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what remains of a campaign, then print its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, required=True, help="the file of the campaign's results")
    parser.add_argument("--only", type=int, help="so many of the experiments")
    parser.add_argument("--table", action="store_true", help="only print the table")
    options = parser.parse_args(arguments)
    if not options.table:
        _campaign(options.results, options.only)
    rows = _read(options.results)
    print(_table(rows))
    return 0 if _holds(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
