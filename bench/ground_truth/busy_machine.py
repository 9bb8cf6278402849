"""Whether a busy machine gets true answers: experiments whose answer is known, beside other work of known shape.

    sudo python bench/ground_truth/busy_machine.py --results bench/ground_truth/campaigns/NAME.jsonl [--only N]

A load that needs both processors runs beside 0, 0.5 or 1.0 cores of other work: even, in bursts, or as a wave. Two
thirds of the experiments compare equal settings, one third a setting with 10 % more throughput. The time of an
experiment counts until its verdict. A campaign that was cut off continues; `--table` prints its results.
"""

import argparse
import math
import os
import random
import signal
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import campaign
import table

HERE = Path(__file__).parent
EFFECTS = {0.0: 10, 0.10: 5}  # experiments of each kind of other work
BACKGROUNDS = [("none", 0.0), *((shape, cores) for cores in (0.5, 1.0) for shape in ("steady", "bursts", "periodic"))]
_PLAN = """
name = "busy-machine"
[target]
path = "{path}"
[factors]
"vm.compaction_proactiveness" = [20, 21]
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


def _experiment(case: Case, folder: Path) -> campaign.Row:
    """Run the experiment beside its other work."""
    values = {"path": folder, "python": sys.executable, "load": HERE / "processor_load.py", "ratio": 1 + case.ratio}
    with _background(case):
        return campaign.run(_PLAN.format(**values, seed=case.number), folder)


def _table(rows: Sequence[campaign.Row]) -> str:
    """The results by other work; times are medians, as a multiple of those of a quiet machine."""
    lines = ["| other work | false claims at 0 % | found at +10 % | interval holds the truth | time |"]
    lines.append("| --- | --- | --- | --- | --- |")
    for shape, cores in BACKGROUNDS:
        own = [row for row in rows if (row["shape"], row["cores"]) == (shape, cores)]
        equal, more = ([row for row in own if row["ratio"] == ratio] for ratio in EFFECTS)
        if not equal or not more:
            continue
        false = sum(map(table.is_false, equal))
        found = sum(map(table.is_right, more))
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


def _quiet_s(rows: Sequence[campaign.Row], ratio: float) -> list[float]:
    return [row["seconds"] for row in rows if row["shape"] == "none" and row["ratio"] == ratio] or [math.nan]


def _holds_truth(row: campaign.Row) -> bool:
    interval = row["effect"]["log_ratio"]
    return bool(interval["low"] <= math.log1p(row["ratio"]) <= interval["high"])


def _holds(rows: Sequence[campaign.Row]) -> bool:
    """Whether so many false claims are likely enough at 5 %, and every +10 % was found."""
    equal = [row for row in rows if row["ratio"] == 0]
    is_likely = table.tail(sum(map(table.is_false, equal)), len(equal), 0.05) >= table.LEAST_TAIL
    return is_likely and all(map(table.is_right, (row for row in rows if row["ratio"] > 0)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what remains of a campaign, then print its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, required=True, help="the file of the campaign's results")
    parser.add_argument("--only", type=int, help="so many of the experiments")
    parser.add_argument("--table", action="store_true", help="only print the table")
    options = parser.parse_args(arguments)
    if not options.table:
        campaign.complete(options.results, cases()[: options.only], _experiment)
    rows = campaign.read(options.results)
    print(_table(rows))
    return 0 if _holds(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
