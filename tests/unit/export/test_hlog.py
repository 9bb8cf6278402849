"""Response times as a log of HdrHistogram, read back by its own library."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scripted
from hdrh.histogram import HdrHistogram as Reference
from hdrh.log import HistogramLogReader
from plan_samples import FILEIO, checked, simple
from sqlalchemy.engine import Engine as Store

from paribus.errors import UsageError
from paribus.export import hlog, rows
from paribus.export.tables import RESPONSE_TIMES, FileFormat, select_tables
from paribus.histogram import HdrHistogram
from paribus.lab.results import exporting
from paribus.model import Experiment, Trial
from paribus.store import read
from paribus.store.open import open_engine, store_url


@pytest.fixture
def experiment_in_store(tmp_path: Path) -> tuple[Store, Experiment]:
    store = open_engine(store_url(str(tmp_path / "s.db")), create=True)
    plan = checked(simple('"vm.swappiness" = [60, 1]', FILEIO, '[protocol]\nbudget = "2h"'))
    return store, scripted.carry_out(store, plan, lambda trial: 0.06 * (trial.arm == "1"), wobble=0.01)


def _histogram(milliseconds: int) -> bytes:
    """The response times of a thousand operations, of which the slowest took so long."""
    nanoseconds = np.array([1_000_000, milliseconds * 1_000_000])
    return HdrHistogram.of(nanoseconds, np.array([999, 1]), 3_600_000_000_000).encode()


def test_the_log_has_what_was_measured(experiment_in_store: tuple[Store, Experiment], tmp_path: Path) -> None:
    store, experiment = experiment_in_store
    compared = [trial for trial in read.trials(store, experiment.id) if trial.factor][:6]
    trials = [replace(each, workload="file, io", ended=1e9 + each.order) for each in compared]
    histograms = {trial.order: _histogram(10 + trial.order) for trial in trials[1:]}
    windows = dict.fromkeys(histograms, 2.0)
    path = tmp_path / "response_times.hlog"
    assert hlog.write(RESPONSE_TIMES, rows.response_time_rows(reversed(trials), histograms, windows), path) == 5
    with closing(HistogramLogReader(str(path), Reference(1, 3_600_000_000_000, 3))) as reader:
        _compare(reader, trials[1:])


def _compare(reader: HistogramLogReader, trials: list[Trial]) -> None:
    for trial in trials:
        interval = reader.get_next_interval_histogram()
        assert interval.get_total_count() == 1000
        assert interval.get_max_value() == pytest.approx((10 + trial.order) * 1e6, rel=1e-3)
        assert interval.get_tag() == f"file__io/{trial.load}/vm.swappiness={trial.arm}".replace(" ", "_")
        assert trial.ended is not None
        assert interval.get_end_time_stamp() / 1000 == pytest.approx(trial.ended, abs=0.01)
        assert interval.get_end_time_stamp() - interval.get_start_time_stamp() == pytest.approx(2000, abs=2)
    assert reader.get_next_interval_histogram() is None


def test_an_experiment_without_response_times_writes_nothing(
    experiment_in_store: tuple[Store, Experiment], tmp_path: Path
) -> None:
    tables = select_tables("", FileFormat.HLOG)
    with pytest.raises(UsageError, match="no trial of"):
        exporting.export(*experiment_in_store, FileFormat.HLOG, tables, tmp_path / "out", force=False)
    assert not list((tmp_path / "out").glob("*"))


def test_a_log_has_no_tables() -> None:
    with pytest.raises(UsageError, match="response times alone"):
        select_tables("trials", FileFormat.HLOG)
