"""Experiments on servers, for tests: the plan, what became of its trials, and whether anything is left."""

import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from command import Running
from sqlalchemy.engine import Engine as Store

from paribus.errors import ParibusError
from paribus.model import Change, Experiment, Measurement, Trial, TrialState
from paribus.store import read
from paribus.store.open import open_engine, store_url

Found = TypeVar("Found")
_MOST_TRIALS = 12  # a server of a busy machine may come back after the end of its trial
OLTP = 'kind = "oltp_update_index"\ntable_size = 2000\nthreads = [2]'


def plan_on(place: Path, kind: str, factors: str, workload: str = OLTP, database: str = "", **protocol: object) -> str:
    """Write a plan that takes seconds on a server of that kind, and return its path."""
    keys = {"trial": '"150ms"', "settle": '"50ms"', "rounds": 2, "placebo": "false"} | protocol
    path = place / "plan.toml"
    path.write_text(
        f'name = "db"\n[target]\npath = "{place}/data"\n[database]\nkind = "{kind}"\n{database}\n[factors]\n{factors}\n'
        f"[[workload]]\n{workload}\n[protocol]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items())
    )
    return str(path)


def _of_the_last(ask: Callable[[Store, Experiment], Found]) -> Found:
    store = open_engine(store_url(None), create=False)
    try:
        return ask(store, read.find(store, "last"))
    finally:
        store.dispose()


def experiment() -> Experiment:
    """The last one."""
    return _of_the_last(lambda _store, last: last)


def trials() -> list[Trial]:
    """Return the trials of the last experiment."""
    return _of_the_last(lambda store, last: read.trials(store, last.id))


def done_count() -> int:
    """Count the trials of the last experiment that are done; 0 before there is one."""
    try:
        return sum(trial.state is TrialState.DONE for trial in trials())
    except ParibusError:
        return 0


def measured() -> dict[int, dict[str, Measurement]]:
    """Return the measurements of each trial of the last experiment, by its order."""
    return _of_the_last(lambda store, last: read.summaries(store, last.id))


def trials_with(
    running: Running, metric: str, are_enough: Callable[[dict[int, dict[str, Measurement]]], bool] = bool
) -> dict[int, dict[str, Measurement]]:
    """Return the measurements of the trials that have this metric, by their order.

    The experiment runs until they are enough, one by default, and is interrupted.
    """
    found: dict[int, dict[str, Measurement]] = {}
    for _ in range(_MOST_TRIALS):
        running.wait_for("trial ")
        found = {order: values for order, values in measured().items() if metric in values}
        if are_enough(found):
            break
    running.signal(signal.SIGINT)
    assert running.end().code == 130
    return found


def changes() -> dict[int, list[Change]]:
    """Return the changes for each trial of the last experiment, by its order."""
    found: dict[int, list[Change]] = {}
    for order, change in _of_the_last(lambda store, last: read.changes(store, last.id)):
        found.setdefault(order, []).append(change)
    return found


def running_below(place: Path) -> list[str]:
    """The processes that have the folder of the data in their command line."""
    argv = ["pgrep", "--full", "--list-full", str(place / "data")]
    return subprocess.run(argv, check=False, capture_output=True, text=True).stdout.splitlines()


def nothing_is_left(place: Path) -> bool:
    """Whether no process, folder or file of an experiment is there."""
    return not running_below(place) and list((place / "data").iterdir()) == []
