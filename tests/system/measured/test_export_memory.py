"""The memory that an export takes, whatever the length of the experiment."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import scripted
from plan_samples import FILEIO, checked, simple

from paribus.export.tables import FileFormat
from paribus.model import Trial
from paribus.store import read, write
from paribus.store.open import open_engine, store_url

MEMORY = """
import resource, sys
from pathlib import Path
from paribus.lab.results import exporting
from paribus.export.tables import FileFormat, select_tables
from paribus.store import read
from paribus.store.open import open_engine, store_url
store = open_engine(store_url(sys.argv[1]), create=False)
form, tables = FileFormat(sys.argv[2]), select_tables("trials,measurements,series")
document = exporting.export(store, read.find(store, "last"), form, tables, Path(sys.argv[3]), force=False)
print(document.files[-1].rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


@pytest.mark.parametrize("form", list(FileFormat))
def test_a_long_experiment_needs_no_more_memory_than_a_short_one(form: FileFormat, tmp_path: Path) -> None:
    """Held as rows of Python's numbers, 700,000 points take 150 MB."""
    used: dict[int, int] = {}
    for trials in (10, 1000):
        url = str(tmp_path / f"{trials}.db")
        _long(url, trials)
        arguments = [sys.executable, "-c", MEMORY, url, form, str(tmp_path / f"{form}-{trials}")]
        done = subprocess.run(arguments, capture_output=True, text=True, check=True)
        rows, peak = map(int, done.stdout.split())
        assert rows == trials * 700
        used[trials] = peak
    assert used[1000] - used[10] < 48 * 2**20, used


def _long(url: str, trials: int) -> None:
    """An experiment of so many trials, each with a time series of 700 points."""
    store = open_engine(store_url(url), create=True)
    plan = checked(simple('"vm.swappiness" = [60, 1]', FILEIO, '[protocol]\nrounds = 2\nsettle = "1s"'))
    begun = scripted.walk.begin(plan, {}, scripted.MACHINE, {}, store)
    like: Trial = read.trials(store, begun.id)[0]
    (measurement,) = scripted.measured(1.0, [float(number) for number in range(700)])
    long_trials = [replace(like, order=1000 + number, block=1000 + number) for number in range(trials)]
    write.add_trials(store, begun.id, long_trials, begun.schedule_hash)
    with store.begin() as connection:
        row = write.measurement_row(measurement) | {"experiment": begun.id}
        rows = [row | {"trial": trial.order} for trial in long_trials]
        connection.execute(write.schema.measurement.insert(), rows)
    store.dispose()
