"""Whether verdicts are true: experiments whose answer is set by a throttle, on a real disk with a neighbour.

    sudo python bench/ground_truth/run.py --results bench/ground_truth/campaigns/NAME.jsonl [--only N] [--segment S]

A control group limits the writes per second, so the true ratio of two settings is known exactly. Twenty experiments
compare 5,000 with 5,000 writes per second. Ten each compare 5,000 with 3 % less, 3 % more, 5 % less and 10 % more.
Beside half of them a second process makes random load. Each experiment is judged by Paribus, and the same trials by
the field's practice: one setting first, then the other, a difference when it exceeds 2 %. An interrupted campaign
continues with the experiments that are not in its results yet; `--table` prints what it found. With `--segment` the
throttle is toggled under one load, in segments of so many seconds.
"""

import argparse
import functools
import math
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import campaign
import table

from paribus.model import TrialState
from paribus.store import read
from paribus.store.open import open_engine, store_url

ROOT = Path(__file__).parents[2]
BASE = 5000
EFFECTS = {0.0: 20, -0.03: 10, 0.03: 10, -0.05: 10, 0.10: 10}
LEVELS = (1, 2, 4, 8)
TRIAL_S = 1.0
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
settle = "0.1s"
margin = "{margin}"
rounds = 10
seed   = {seed}
"""
TOGGLED = """segment = "{segment_s}s"
wash_out = false
"""


@dataclass(frozen=True)
class Case:
    """One experiment: its number, the true effect as a ratio, and whether somebody else uses the disk."""

    number: int
    ratio: float
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


def experiment(case: Case, folder: Path, segment_s: float | None = None) -> campaign.Row:
    """Carry it out as a user would, beside somebody else where wanted, and read the report."""
    other = round(BASE * (1 + case.ratio))
    plan = PLAN.format(
        path=folder, base=BASE, other=other, levels=list(LEVELS), trial=TRIAL_S, margin=MARGIN, seed=case.number
    )
    if segment_s is not None:
        plan += TOGGLED.format(segment_s=segment_s)
    with neighbour(folder, case.number, wanted=case.neighbour):
        result = campaign.run(plan, folder)
    return result | {"true": math.log(other / BASE), "practice": as_practised(folder / "store.db")}


def as_practised(store: Path) -> float:
    """The ratio that the field would read off the same trials: the first setting's of the first half of the time, over
    the load levels, and then the second setting's of the other half."""
    opened = open_engine(store_url(str(store)), create=False)
    found = read.find(opened, "last")
    measured = read.summaries(opened, found.id)
    done = [trial for trial in read.trials(opened, found.id) if trial.state is TrialState.DONE]
    opened.dispose()
    done.sort(key=lambda trial: trial.started or 0.0)
    middle = (done[0].started + done[-1].started) / 2 if done else 0.0
    means = []
    for baseline in (True, False):
        mine = [t for t in done if t.baseline is baseline and (t.started < middle) is baseline]
        rates = [measured[trial.order]["throughput_per_s"].mean for trial in mine]
        means.append(sum(rates) / len(rates) if rates else math.nan)
    return means[1] / means[0]


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out what is left of a campaign, then print its table."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--results", type=Path, required=True, help="where the campaign's results are kept")
    asked.add_argument("--only", type=int, help="so many of the cases")
    asked.add_argument("--segment", type=float, help="seconds of each segment; default: whole trials")
    asked.add_argument("--table", action="store_true", help="only print the table")
    options = asked.parse_args(arguments)
    if not options.table:
        carry_out = functools.partial(experiment, segment_s=options.segment)
        campaign.complete(options.results, cases()[: options.only], carry_out)
    rows = campaign.read(options.results)
    print(table.text(rows))
    return 0 if table.holds(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
