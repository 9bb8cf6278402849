"""Errors planted in tables of every layout are located; tables without errors raise no alarm."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from shaped_tables import LOADS, SHAPES, Study, fileio, long, oltp, ratios, reports, two_heads
from sqlalchemy.engine import Engine

from paribus.findings import Breach
from paribus.imports import pipeline
from paribus.imports.claims import read_claims
from paribus.lab.results import imported_reporting
from paribus.lab.store import importing
from paribus.store import sources
from paribus.store.open import open_engine, store_url

Planted = tuple[str, int | None]  # the level and the load of the cell
CEILING = "physical ceiling"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return open_engine(store_url(str(tmp_path_factory.mktemp("store") / "s.db")), create=True)


def look(store: Engine, folder: Path, *tables: str | bytes, claims: str = "") -> tuple[int, list[Breach]]:
    """Return the number of figures read, and the violations."""
    for number, table in enumerate(tables):
        (folder / f"{number}.txt").write_bytes(table if isinstance(table, bytes) else table.encode())
    stated_claims = []
    if claims:
        (folder / "claims.toml").write_text(claims)
        stated_claims = read_claims(folder / "claims.toml")
        (folder / "claims.toml").unlink()
    request = importing.import_request([str(folder)], "", "", None, name=str(folder), baseline="", file_format="")
    _, experiment = pipeline.carry_out(request, store, None, "0", lambda _: None)
    assert experiment is not None
    readings: list[Any] = [origin.said["readings"] for origin in sources.origins(store, experiment.id).values()]
    return sum(map(len, readings)), imported_reporting.breaches(store, experiment, stated_claims)


def _digit(number: str, at: int) -> str:
    """Return the number with another digit at a position."""
    digits = [place for place, sign in enumerate(number) if sign.isdigit()]
    spot = digits[at]
    return number[:spot] + str((int(number[spot]) + 5) % 10) + number[spot + 1 :]


def _spoil(measure: str, change: Callable[[str], str]) -> Callable[[random.Random, Study], Planted]:
    def plant(rng: random.Random, study: Study) -> Planted:
        level, load = rng.choice(study.levels), rng.choice(study.loads[1:-1] or study.loads)
        cell = study.cells[level, load]
        cell[measure] = change(cell[measure])
        return level, load

    return plant


def _copied(_rng: random.Random, study: Study) -> Planted:
    for load in study.loads:
        study.cells["cfq", load] = dict(study.cells["noop", load])
    return "cfq", None


def _times(factor: float) -> Callable[[str], str]:
    return lambda number: f"{float(number) * factor:.2f}"


ERRORS: dict[str, tuple[Callable[[random.Random], Study], Callable[[random.Random, Study], Planted], set[str]]] = {
    "queries": (oltp, _spoil("qps", lambda n: _digit(n, 1)), {"queries per transaction"}),
    "time": (oltp, _spoil("latency_avg", _times(10)), {"Little's law"}),
    "percentile": (oltp, _spoil("latency_p95", _times(0.1)), {"order of response times"}),
    "copy": (oltp, _copied, {"identical figures"}),
    "block": (fileio, _spoil("throughput", lambda n: _digit(n, 1)), {"IOPS x block size"}),
    "parts": (fileio, _spoil("reads", lambda n: _digit(n, 0)), {"reads + writes = total"}),
    "zero": (fileio, _spoil("iops", lambda _: "0"), {"missing or zero cells", "IOPS x block size"}),
    "missing": (fileio, _spoil("iops", lambda _: ""), {"missing or zero cells"}),
    "best": (ratios, _spoil("normalised_throughput", lambda _: "1.071"), {"ratio to the best"}),
    "none": (ratios, _spoil("normalised_throughput", lambda _: "0.000"), {"missing or zero cells"}),
    "rate": (reports, _spoil("tps", lambda n: _digit(n, 1)), {"rate = events / time", "queries per transaction"}),
    "counts": (reports, _spoil("queries_write", lambda n: _digit(n, 1)), {"read + write + other = total"}),
    "sum": (reports, _spoil("latency_sum", lambda n: _digit(n, 1)), {"mean x count = sum", "time available"}),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("study", [oltp, fileio, ratios], ids=["oltp", "fileio", "ratios"])
def test_a_table_of_any_shape_is_read_whole_and_gives_no_alarm(
    store: Engine, tmp_path: Path, study: Callable[[random.Random], Study], shape: str
) -> None:
    sample = study(random.Random(shape))
    figures, breaches = look(store, tmp_path, SHAPES[shape](sample))
    assert figures == len(sample.cells) * len(sample.measures)
    assert [breach.words for breach in breaches if breach.law != CEILING] == []


def _cases() -> list[tuple[str, str]]:
    """Each error in five shapes, so that each shape has several."""
    shapes = [shape for shape in SHAPES if shape != "transposed"]
    return [(name, shapes[(3 * n + 4 * k) % len(shapes)]) for n, name in enumerate(ERRORS) for k in range(5)]


@pytest.mark.parametrize(("name", "shape"), _cases())
def test_an_error_is_named_at_its_cell(store: Engine, tmp_path: Path, name: str, shape: str) -> None:
    study, plant, laws = ERRORS[name]
    rng = random.Random(f"{name} {shape}")
    sample = study(rng)
    level, load = plant(rng, sample)
    _, breaches = look(store, tmp_path, SHAPES[shape](sample))
    where = f"{level}, {load} thread" if load and len(sample.loads) > 1 else level
    assert [breach.law for breach in breaches if breach.law in laws and where in breach.words], [
        breach.words for breach in breaches
    ]


def _capped(rng: random.Random) -> Study:
    sample = fileio(rng)
    for (_, load), cell in sample.cells.items():
        iops = min(float(cell["iops"]), 17_000 * rng.uniform(0.998, 1.002))
        reads = round(iops * 0.6, 2)
        parts = {"iops": iops, "throughput": iops / 64, "reads": reads, "writes": iops - reads}
        cell |= {name: f"{value:.2f}" for name, value in parts.items()}
        cell["latency_avg"] = f"{load / iops * 990:.2f}"
    return sample


@pytest.mark.parametrize("shape", ["long", "records, Markdown", "Markdown", "two heads"])
def test_a_limit_shared_by_levels_is_reported(store: Engine, tmp_path: Path, shape: str) -> None:
    _, breaches = look(store, tmp_path, SHAPES[shape](_capped(random.Random(shape))))
    assert [breach.law for breach in breaches] == [CEILING]


@pytest.mark.parametrize("shape", ["records, Markdown", "box", "Markdown", "levels in heads"])
@pytest.mark.parametrize("files", [1, 2])
def test_a_contradicting_summary_is_reported(store: Engine, tmp_path: Path, shape: str, files: int) -> None:
    sample = oltp(random.Random(shape))
    original = SHAPES[shape](sample)
    for cell in sample.cells.values():
        del cell["latency_avg"], cell["latency_p95"], cell["latency_max"], cell["latency_min"]
    cell = sample.cells["deadline", 64]
    cell |= {name: _times(1.2)(cell[name]) for name in ("tps", "qps")}
    tables = [original, SHAPES[shape](sample)]
    assert all(isinstance(table, str) for table in tables)
    _, breaches = look(store, tmp_path, *(tables if files == 2 else ["\n\nAs said:\n\n".join(map(str, tables))]))
    assert [
        breach.where
        for breach in breaches
        if breach.law == "one run with two values" and "deadline, 64 threads" in breach.where
    ]


@pytest.mark.parametrize("shape", ["records, Markdown", "transposed", "levels in heads", "measures down", "long"])
def test_a_percentage_is_compared_with_the_table(store: Engine, tmp_path: Path, shape: str) -> None:
    sample = oltp(random.Random(shape))
    rates = [[float(sample.cells[level, load]["tps"]) for level in ("noop", "cfq")] for load in LOADS]
    most = max(noop / cfq - 1 for noop, cfq in rates) * 100
    claim = '[[claim]]\nfactor = "IO scheduler"\nclaim = "better"\n[[claim.changes]]\nfrom = "cfq"\nto = "noop"\n'
    for number, (percent, errors) in enumerate([(most, 0), (most + 20, 1)]):
        folder = tmp_path / str(number)
        folder.mkdir()
        claims = f'{claim}over = "most"\npercent = "+{percent:.1f}"\n'
        _, breaches = look(store, folder, SHAPES[shape](sample), claims=claims)
        assert len([breach for breach in breaches if breach.law == "percentages in prose"]) == errors


@pytest.mark.parametrize(
    ("study", "measures", "factor", "law", "hint"),
    [
        (oltp, ("latency_min", "latency_avg", "latency_p95", "latency_max"), 0.001, "Little's law", "ms and s"),
        (fileio, ("throughput",), 8.0, "IOPS x block size", "bits and bytes"),
    ],
)
@pytest.mark.parametrize("shape", ["records, Markdown", "Markdown", "long"])
def test_a_column_in_another_unit_is_reported_with_the_mistake(
    store: Engine,
    tmp_path: Path,
    study: Callable[[random.Random], Study],
    measures: Sequence[str],
    factor: float,
    law: str,
    hint: str,
    shape: str,
) -> None:
    sample = study(random.Random(shape))
    for cell in sample.cells.values():
        cell |= {name: f"{float(cell[name]) * factor:.5f}" for name in measures}
    _, breaches = look(store, tmp_path, SHAPES[shape](sample))
    assert [breach for breach in breaches if breach.law == law and hint in breach.words], [
        breach.words for breach in breaches
    ]


@pytest.mark.parametrize("draw", [two_heads, long], ids=["two heads", "long"])
def test_one_measurement_under_two_headings_is_reported(
    store: Engine, tmp_path: Path, draw: Callable[[Study], str]
) -> None:
    sample = oltp(random.Random(1))
    levels = {"0": 1.0, "128": 1.01}
    cells = {
        (level, load): {name: f"{float(text) * factor:.2f}" for name, text in sample.cells["noop", load].items()}
        for level, factor in levels.items()
        for load in LOADS
    }
    other = Study("read_ahead_kb", sample.workload, list(levels), LOADS, cells)
    tables = [draw(sample), draw(other) if draw is two_heads else long(other, name="T2")]
    _, breaches = look(store, tmp_path, *tables)
    assert [
        breach.where for breach in breaches if breach.law == "identical figures" and "read_ahead_kb 0" in breach.where
    ]
