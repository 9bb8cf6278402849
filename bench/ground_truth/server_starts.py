"""Variation of effects and of levels between starts of a database server, on this machine.

    .venv/bin/python bench/ground_truth/server_starts.py [--family mariadb postgres] [--trial 1s]

Each comparison has 20 starts of a private server with four pairs each. The table shows how much pairs vary within a
start, and how much the means of starts vary. It adds what the pairs alone explain of that, with the F test.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy import stats

from paribus.analysis.paired.effects import pair_series
from paribus.store import read
from paribus.store.open import open_engine, store_url

QUESTIONS = {
    "mariadb": (
        ("mysql.innodb_adaptive_hash_index", '["OFF", "ON"]', "oltp_point_select"),
        ("mysql.innodb_spin_wait_delay", "[4, 8]", "oltp_read_write"),
        ("mysql.innodb_flush_log_at_trx_commit", "[1, 2]", "oltp_update_index"),
    ),
    "postgres": (
        ("postgres.work_mem", '["4MB", "64kB"]', "oltp_point_select"),
        ("postgres.jit", '["on", "off"]', "oltp_read_write"),
        ("postgres.synchronous_commit", '["on", "off"]', "oltp_update_index"),
    ),
}
PLAN = """
name = "server starts"
[target]
path = "{folder}/data"
[database]
kind = "{family}"
[factors]
"{knob}" = {levels}
[[workload]]
kind = "{workload}"
table_size = 100000
threads = [8]
[protocol]
trial = "{trial}"
rounds = 10
method = "fixed"
wash_out = false
"""
HEADER = (
    "server",
    "setting",
    "workload",
    "starts",
    "pairs",
    "effect",
    "pairs vary by",
    "means of starts vary by",
    "of pairs alone",
    "p",
    "levels of starts vary by",
    "of pairs alone",
)


def main() -> int:
    """Run every comparison, and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", nargs="+", choices=list(QUESTIONS), default=list(QUESTIONS))
    parser.add_argument("--trial", default="1s", help="length of each trial [1s]")
    options = parser.parse_args()
    print(f"| {' | '.join(HEADER)} |\n|{' --- |' * len(HEADER)}", flush=True)
    for family in options.family:
        for knob, levels, workload in QUESTIONS[family]:
            with tempfile.TemporaryDirectory(prefix="paribus-starts-", dir="/var/tmp") as folder:
                plan = Path(folder) / "plan.toml"
                Path(folder).chmod(0o711)  # the server has a user of its own
                (Path(folder) / "data").mkdir()
                fields = {"folder": folder, "family": family, "knob": knob, "levels": levels, "workload": workload}
                plan.write_text(PLAN.format(trial=options.trial, **fields))
                store = f"{folder}/paribus.db"
                environment = os.environ | {"PARIBUS_STORE": store}
                done = subprocess.run(
                    [sys.executable, "-m", "paribus", "run", str(plan)],
                    env=environment,
                    capture_output=True,
                    text=True,
                    check=False,
                )
                if done.returncode:
                    print(done.stderr, file=sys.stderr)
                    return 1
                print(f"| {family} | `{knob}` {levels} | {workload} | {_row(store)} |", flush=True)
    return 0


def _row(store: str) -> str:
    """The variation of effects and levels within and between the starts of the only experiment of a store."""
    opened = open_engine(store_url(store), create=False)
    name = read.find(opened, "last").id
    trials, summaries = read.trials(opened, name), read.summaries(opened, name)
    (series,) = pair_series(trials, summaries, {trials[0].workload: "throughput_per_s"})
    opened.dispose()
    nested = [pair for pair in series.pairs if pair.start]
    start = np.unique([pair.start for pair in nested], return_inverse=True)[1]
    logs = np.log([[pair.baseline, pair.compared] for pair in nested])
    effects, levels = logs[:, 1] - logs[:, 0], logs.mean(axis=1)
    effect = f"{np.expm1(effects.mean()):+.1%}"
    within, between, expected, p = _variation(effects, start)
    _, of_levels, of_pairs, _ = _variation(levels, start)
    figures = [f"{value:.2%}" for value in (within, between, expected)]
    cells = [
        str(start.max() + 1),
        str(len(nested)),
        effect,
        *figures,
        f"{p:.2f}",
        f"{of_levels:.2%}",
        f"{of_pairs:.2%}",
    ]
    return " | ".join(cells)


def _variation(values: np.ndarray, start: np.ndarray) -> tuple[float, float, float, float]:
    """The sd of pairs within starts, the sd of the means of starts, the one that pairs explain, and p of the F test."""
    count = np.bincount(start)
    means = np.bincount(start, weights=values) / count
    freedom = len(values) - len(count)
    within = float(((values - means[start]) ** 2).sum() / freedom)
    between = float((count * (means - values.mean()) ** 2).sum() / (len(count) - 1))
    p = float(stats.f.sf(between / within, len(count) - 1, freedom))
    return within**0.5, float(means.std(ddof=1)), float((within * (1 / count).mean()) ** 0.5), p


if __name__ == "__main__":
    sys.exit(main())
