"""Share of an experiment's wall time that is not measured load, for trials of several lengths.

Runs a plan of the null engine, which leaves only the program's own work. Prints what a trial costs beyond its settle
and measured time.

    .venv/bin/python bench/overhead/run.py
"""

import statistics
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

from paribus.store import read
from paribus.store.open import open_engine, store_url

PLAN = """
name = "overhead"
[target]
path = "{path}"
[factors]
"fileio.block_size" = ["4KiB", "16KiB"]
[[workload]]
kind       = "fileio"
engine     = "null"
total_size = "1MiB"
data       = "keep"
response   = "throughput_per_s"
threads    = [1]
[protocol]
trial  = "{trial}ms"
settle = "10ms"
rounds = 2
margin = "50%"
"""


def measure(trial_ms: int) -> tuple[float, float]:
    """Wall seconds beyond settle and measured time, and the share of wall time measured, of the median trial."""
    with tempfile.TemporaryDirectory(dir=".") as folder:
        plan, store = Path(folder) / "plan.toml", Path(folder) / "store.db"
        plan.write_text(PLAN.format(path=folder, trial=trial_ms))
        command = [sys.executable, "-m", "paribus.cli.main", "run", str(plan), "--store", str(store)]
        done = subprocess.run(command, check=False, capture_output=True)
        assert done.returncode in (0, 3), done.stderr  # 3: on a busy machine trials are invalid, and as long
        opened = open_engine(store_url(str(store)), create=False)
        experiment = read.find(opened, "last")
        trials = read.trials(opened, experiment.id)
        starts = sorted(trial.started for trial in trials if trial.started)
        steps = [later - earlier for earlier, later in pairwise(starts)]
        opened.dispose()
    step = statistics.median(steps)
    return step - trial_ms / 1000 - 0.01, trial_ms / 1000 / step


def main() -> None:
    """Print the table."""
    print("| trial | beyond it | measured share of wall time |")
    print("|---|---|---|")
    for trial_ms in (50, 200, 1000):
        beyond, share = measure(trial_ms)
        print(f"| {trial_ms} ms | {beyond * 1000:.0f} ms | {share:.0%} |")


if __name__ == "__main__":
    main()
