"""Imported Orion matrices."""

from pathlib import Path

import pytest
from golden_logs import HERE
from sqlalchemy.engine import Engine

from paribus.analysis.imported.imported_matrix import imported_matrices
from paribus.findings import Matrix
from paribus.imports import pipeline
from paribus.lab.store import importing
from paribus.model import Experiment
from paribus.store import read, sources
from paribus.store.open import open_engine, store_url

TEXT = (HERE / "orion" / "mixed-11.1.log").read_text()


def bring(store: Engine, folder: Path, **texts: str) -> Experiment:
    for level, text in texts.items():
        (folder / f"{level}.txt").write_text(text)
    rules = folder.parent / "rules.toml"
    rules.write_text("levels = { scheduler = ['noop'] }\n[[rule]]\npath = '(?P<scheduler>noop|cfq)'\n")
    request = importing.import_request([str(folder)], "", "", rules, name="orion", baseline="", file_format="")
    _, imported = pipeline.carry_out(request, store, None, "0", lambda _: None)
    assert imported is not None
    return imported


@pytest.fixture
def store(tmp_path: Path) -> Engine:
    return open_engine(store_url(str(tmp_path / "s.db")), create=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    return tmp_path / "logs"


def matrices_of(store: Engine, imported: Experiment) -> tuple[Matrix, ...]:
    options = {trial: origin.said["options"] for trial, origin in sources.origins(store, imported.id).items()}
    trials, summaries = read.trials(store, imported.id), read.summaries(store, imported.id)
    return imported_matrices(trials, summaries, options, read.plan(store, imported.id).factors, 0.95)


def test_each_point_is_a_load_of_its_series(store: Engine, folder: Path) -> None:
    imported = bring(store, folder, noop=TEXT, cfq=TEXT.replace("2222", "2000"))
    points = {(trial.workload, trial.load.n) for trial in read.trials(store, imported.id)}
    small = "Small Random IOs"
    assert points == {
        *(("Large Random IOs", n) for n in (1, 2)),
        *(
            (name, n)
            for name in (small, *(f"{small} beside {large} Large Random IOs" for large in (1, 2)))
            for n in (1, 2, 3)
        ),
    }
    assert {workload.response for workload in read.plan(store, imported.id).workloads} == {
        "throughput_per_s",
        "bytes_per_s",
    }


def test_the_matrix_is_of_the_first_level(store: Engine, folder: Path) -> None:
    (matrix,) = matrices_of(store, bring(store, folder, noop=TEXT, cfq=TEXT.replace("2222", "2000")))
    assert (matrix.name, matrix.small_block_bytes, matrix.large_block_bytes) == ("Orion, scheduler noop", 8192, 2**20)
    assert (matrix.large_order, matrix.rounds) == ("random", 1)
    points = {(point.small, point.large): point.measured for series in matrix.series for point in series.points}
    assert points[1, 0]["small_per_s"].value == 2222
    assert points[2, 1]["small_response_mean_s"].value == pytest.approx(0.00065)
    assert points[0, 2]["large_bytes_per_s"].value == pytest.approx(324 * 2**20)
    assert points[3, 2]["bytes_per_s"].value == pytest.approx(249.23 * 2**20 + 3409 * 8192)
    assert "small_per_s" not in points[0, 1]


def test_without_sizes_or_without_mixed_points_there_is_none(store: Engine, folder: Path) -> None:
    plain = "\n".join(line for line in TEXT.split("\n") if "IO size" not in line)
    assert matrices_of(store, bring(store, folder, noop=plain)) == ()
    alone = "\n".join(line for line in TEXT.split("\n") if not line.startswith(("          1", "          2")))
    (folder / "noop.txt").unlink()
    assert matrices_of(store, bring(store, folder, cfq=alone)) == ()
