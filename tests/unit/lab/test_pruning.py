"""Removal of time series of old experiments: what goes, what stays, and `paribus store prune` on a real store."""

import time
from pathlib import Path

import pytest
from test_deleting import PLAN, _experiment
from typer.testing import CliRunner

from paribus.cli.main import app
from paribus.knobs.journals import Folders, Inspection
from paribus.lab.store import pruning
from paribus.model import ExperimentState, Measurement, Purpose, Trial, TrialState
from paribus.store import read, write
from paribus.store.open import open_engine, store_url
from paribus.units import LoadLevel

DAY = 86400.0
SERIES = [("throughput_per_s", "engine"), ("disk_written_bytes_per_s", "sysfs"), ("response_p95_s", "tool")]


def _measured(metric: str, source: str) -> Measurement:
    return Measurement(
        metric=metric, unit="", phase="measure", source=source, n=3, mean=2.0, low=1.0, high=3.0, total=6.0,
        start_s=0.0, step_s=1.0, points=(1.0, 2.0, 3.0),
    )  # fmt: skip


@pytest.fixture
def store_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with an old experiment, a new one and an old imported set, each with a trial of three series."""
    path = tmp_path / "s.db"
    store = open_engine(store_url(str(path)), create=True)
    monkeypatch.setattr(time, "time", lambda: 1000 * DAY)
    for days, state in ((1, ExperimentState.DONE), (100, ExperimentState.DONE), (200, ExperimentState.IMPORTED)):
        experiment = _experiment(days, state=state)
        trial = Trial(
            experiment=experiment.id, order=1, round=1, block=1, position=1, attempt=1, factor="f", arm="a",
            baseline=True, purpose=Purpose.COMPARE, settings={}, workload="w", load=LoadLevel(1),
            state=TrialState.DONE,
        )  # fmt: skip
        write.begin(store, experiment, PLAN, [trial])
        write.save_trial(store, trial, [], [_measured(*each) for each in SERIES], {})
    store.dispose()
    monkeypatch.setattr(pruning, "inspect", lambda _host, _engine: Inspection((), (), Folders("/journal", "", ())))
    return path


def _with_points(path: Path) -> dict[str, list[str]]:
    store = open_engine(store_url(str(path)), create=False)
    return {
        each.id[-4:]: [one.metric for _, one in read.each_measurement(store, each.id, only_time_series=True)]
        for each in read.experiments(store)
    }


def _prune(path: Path, *options: str) -> str:
    result = CliRunner().invoke(app, ["store", "prune", "--store", str(path), *options])
    assert result.exit_code == 0, result.output
    return result.output


def test_counters_of_old_experiments_lose_their_series_and_nothing_else(store_path: Path) -> None:
    everything = sorted(metric for metric, _ in SERIES)
    options = ("--series-older-than", "90d")
    assert "1 time series of 1 experiment can be removed" in _prune(store_path, *options, "--dry-run")
    assert _with_points(store_path)["0100"] == everything
    assert "removed 1 time series of 1 experiment" in _prune(store_path, *options, "--yes")
    assert _with_points(store_path) == {
        "0001": everything,
        "0100": ["response_p95_s", "throughput_per_s"],
        "0200": everything,
    }
    store = open_engine(store_url(str(store_path)), create=False)
    old = _experiment(100).id
    assert read.summaries(store, old)[1]["disk_written_bytes_per_s"].mean == 2.0
    assert "time series of the system's counters were removed" in str(read.find(store, old).notes[0])
    assert "no experiment that old has time series" in _prune(store_path, *options, "--yes")


@pytest.mark.parametrize("age", ["", "soon", "-3d", "90"])
def test_ages_that_are_none_are_refused(store_path: Path, age: str) -> None:
    result = CliRunner().invoke(app, ["store", "prune", "--store", str(store_path), "--series-older-than", age])
    assert result.exit_code != 0
    assert "--series-older-than" in str(result.exception)
