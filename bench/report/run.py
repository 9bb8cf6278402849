"""Time and memory of a report on a store with 10,000 trials of 600 s with 30 series each.

A short run of the null engine shows what a trial has to tell; a store is made of such trials, as long as wanted, with
noise on every second. Then each form of the report is written by the command, and the page is opened in Chromium.

    .venv/bin/python bench/report/run.py [--trials 10000] [--seconds 600] [--keep FOLDER] [--check]
"""

import argparse
import math
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy.engine import Engine as Store

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests" / "unit" / "plan"), str(ROOT / "tests" / "browser")]

from plan_samples import checked  # noqa: E402  found by the line above

from paribus.experiment import walk  # noqa: E402
from paribus.experiment.interim_analysis import take_due_looks  # noqa: E402
from paribus.model import ExperimentState, Measurement, Trial, TrialState  # noqa: E402
from paribus.store import read, schema, write  # noqa: E402
from paribus.store.open import open_engine, store_url  # noqa: E402

SERIES = 30
MOST_S, MOST_BYTES, FIRST_VIEW_S, PAGE_BYTES = 10.0, 500e6, 1.0, 5e6

TEMPLATE = """
name = "template"
[target]
path = "{path}"
device = "{device}"
[factors]
"fileio.block_size" = ["4KiB", "16KiB"]
[[workload]]
kind = "fileio"
engine = "null"
total_size = "1MiB"
response = "throughput_per_s"
threads = [1]
[protocol]
trial = "400ms"
settle = "10ms"
rounds = 2
margin = "50%"
"""

LARGE = """
name = "large"
[factors]
"block.scheduler" = ["mq-deadline", "none", "bfq"]
"block.rq_affinity" = [0, 1, 2]
"block.read_ahead_kb" = [128, 0, 64, 256, 1024]
"vm.swappiness" = [60, 0, 1, 10, 30, 100]
"vm.dirty" = ["20%", "1%", "5%", "10%", "40%", "60%"]
[[workload]]
kind = "fileio"
total_size = "1MiB"
threads = [1, 2, 4, 8, 16, 32, 64, 96, 128, 192]
[protocol]
trial = "{seconds}s"
settle = "10s"
rounds = {rounds}
budget = "8000h"
method = "fixed"
"""


def template(folder: Path) -> list[Measurement]:
    """Return the measurements of a real trial: its series, its histogram, and metrics with neither."""
    plan, store = folder / "template.toml", folder / "template.db"
    device = subprocess.run(["findmnt", "-no", "SOURCE", "-T", str(folder)], capture_output=True, text=True, check=True)
    plan.write_text(TEMPLATE.format(path=folder, device=device.stdout.strip()))
    done = subprocess.run(
        [sys.executable, "-m", "paribus.cli.main", "run", str(plan), "--store", str(store)],
        check=False,
        cwd=folder,
        capture_output=True,
    )
    assert done.returncode in (0, 3), done
    opened = open_engine(store_url(str(store)), create=False)
    experiment = read.find(opened, "last")
    made = next(trial.order for trial in read.trials(opened, experiment.id) if trial.state is TrialState.DONE)
    names = read.summaries(opened, experiment.id, [made])[made]
    found = [read.series(opened, experiment.id, name, [made])[made] for name in names]
    opened.dispose()
    told = [one for one in found if one.points]
    more = [replace(told[n % len(told)], metric=f"another_{n}_per_s", unit="1/s") for n in range(SERIES - len(told))]
    return [*found, *more]


def store_of(folder: Path, trials: int, seconds: int, kinds: Sequence[Measurement]) -> Path:
    """A store with so many trials of so many seconds."""
    path = folder / "being-made.db"
    opened = open_engine(store_url(str(path)), create=True)
    one = checked(LARGE.format(seconds=seconds, rounds=2))
    each = len(walk.schedule(one, "x", 2, 0)) / 2
    plan = checked(LARGE.format(seconds=seconds, rounds=min(16, max(2, round(trials / each)))))
    begun = walk.begin(plan, {}, {"kernel": "k"}, {}, opened)
    planned = read.trials(opened, begun.id)
    _make(opened, planned, kinds, seconds)
    take_due_looks(plan, begun, opened, read.trials(opened, begun.id), over=True)
    write.set_state(opened, begun.id, ExperimentState.DONE, ended=time.time())
    opened.dispose()
    return path.rename(folder / "large.db")


def _make(opened: Store, planned: Sequence[Trial], kinds: Sequence[Measurement], seconds: int) -> None:
    """Every trial as done, with its rows; in one transaction, so that it takes minutes."""
    rng = np.random.default_rng(1)
    table, began = schema.trial, time.time()
    with opened.begin() as connection:
        for trial in planned:
            at = began + trial.order * (seconds + 10)
            done = {"state": TrialState.DONE, "started": at, "applied": at, "ended": at + seconds + 10}
            mine = (table.c.experiment == trial.experiment) & (table.c.order == trial.order)
            connection.execute(sa.update(table).where(mine).values(done))
            connection.execute(sa.insert(schema.measurement), list(_rows(trial, kinds, seconds, rng)))


def _rows(
    trial: Trial, kinds: Sequence[Measurement], seconds: int, rng: np.random.Generator
) -> Iterator[dict[str, Any]]:
    level = math.exp(rng.normal(0, 0.01)) * (1 + 0.02 * (len(trial.arm) % 3)) * trial.load.n / (trial.load.n + 20)
    usual = {one.metric: one.mean for one in kinds}
    rate = usual["throughput_per_s"] * level
    longer = trial.load.n / rate / usual["response_mean_s"]  # so that Little's law holds
    for one in kinds:
        times = longer if one.metric.startswith(("response_", "service_")) else level
        n = round(rate * seconds) if one.metric == "response_mean_s" else one.n
        base = {
            "experiment": trial.experiment, "trial": trial.order, "phase": one.phase, "metric": one.metric,
            "unit": one.unit, "source": one.source, "n": n, "mean": one.mean * times, "low": one.low * times,
            "high": one.high * times, "total": one.mean * times * n, "start_s": one.start_s, "step_s": one.step_s,
            "points": None, "histogram": one.histogram or None,
        }  # fmt: skip
        if one.points:
            noise = np.exp(rng.normal(0, 0.05, seconds))
            points = one.mean * times * noise / noise.mean()
            points = np.round(points, 0 if abs(one.mean) > 1000 else 9 if one.unit == "s" else 6)
            base |= {"points": zlib.compress(points.tobytes(), 1), "n": seconds, "step_s": 1.0, "mean": points.mean()}
            base |= {"low": points.min(), "high": points.max(), "total": points.sum()}
        yield base


def command(store: Path, *arguments: str) -> tuple[float, float]:
    """Seconds that the command takes, and the most memory that it and its processes have at a time.

    By two runs, since to look at the memory of so large a process takes 10 ms and holds it up meanwhile.
    """
    asked = [sys.executable, "-m", "paribus.cli.main", *arguments, "--store", str(store)]
    began = time.monotonic()
    subprocess.run(asked, stdout=subprocess.DEVNULL, check=True)
    took, most = time.monotonic() - began, 0.0
    child = subprocess.Popen(asked, stdout=subprocess.DEVNULL)
    while child.poll() is None:
        most = max(most, sum(map(memory, with_children(child.pid))))
        time.sleep(0.05)
    assert child.returncode == 0, arguments
    return took, most


def with_children(pid: int) -> list[int]:
    """A process and all that it began."""
    try:
        begun = [task.read_text().split() for task in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:
        return [pid]
    return [pid, *(each for one in begun for child in one for each in with_children(int(child)))]


def memory(pid: int) -> float:
    """The bytes of a process; what it shares with others, shared out."""
    try:
        told = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    return 1024 * sum(float(line.split()[1]) for line in told.splitlines() if line.startswith("Pss:"))


def first_view(page: Path) -> tuple[float, float]:
    """Seconds until a page is first painted in Chromium, and until it is loaded; the better of two openings."""
    from playwright.sync_api import sync_playwright

    from conftest import CHROMIUM, QUIET

    asked = """[
        performance.getEntriesByName('first-contentful-paint')[0].startTime,
        performance.timing.loadEventEnd - performance.timing.navigationStart,
    ]"""
    found = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=[*QUIET, "--no-sandbox"])
        for _ in range(2):
            opened = browser.new_page()
            opened.goto(page.as_uri())
            opened.wait_for_timeout(1000)  # for the painting: the page's policy lets nobody wait for it
            found.append([ms / 1000 for ms in opened.evaluate(asked)])
            opened.close()
        browser.close()
    return min(one[0] for one in found), min(one[1] for one in found)


def main() -> int:
    """Print the figures; with --check end with 1 where one is beyond what is promised."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--trials", type=int, default=10_000)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=".") as temporary:
        folder = asked.keep or Path(temporary).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        store = folder / "large.db"
        if not store.exists():
            store = store_of(folder, asked.trials, asked.seconds, template(folder))
        page = folder / "large.html"
        print(f"store: {store.stat().st_size / 1e9:.2f} GB\n")
        print("| form | seconds | memory, MB | size, MB |\n| --- | ---: | ---: | ---: |")
        held = True
        for form in ("text", "json", "markdown", "html"):
            file = page if form == "html" else folder / f"large.{form}"
            seconds, most = command(store, "report", "--format", form, "-o", str(file))
            size = file.stat().st_size
            held &= seconds < MOST_S and most < MOST_BYTES and (form != "html" or size < PAGE_BYTES)
            print(f"| {form} | {seconds:.1f} | {most / 1e6:,.0f} | {size / 1e6:.2f} |")
        painted, loaded = first_view(page)
        print(f"\nfirst view {painted:.2f} s, loaded {loaded:.2f} s")
        return int(asked.check and not (held and painted < FIRST_VIEW_S))


if __name__ == "__main__":
    sys.exit(main())
