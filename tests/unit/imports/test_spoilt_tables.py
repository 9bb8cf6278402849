"""Errors planted in published tables of every shape are named where they are; tables without one give no alarm."""

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
from paribus.lab import imported_reporting, importing
from paribus.store import sources
from paribus.store.open import open_engine, store_url

Planted = tuple[str, int | None]  # the level and the load of the cell
CEILING = "physical ceiling"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return open_engine(store_url(str(tmp_path_factory.mktemp("store") / "s.db")), create=True)


def look(store: Engine, folder: Path, *tables: str | bytes, claims: str = "") -> tuple[int, list[Breach]]:
    """How many figures were read, and what does not fit."""
    for number, table in enumerate(tables):
        (folder / f"{number}.txt").write_bytes(table if isinstance(table, bytes) else table.encode())
    asked = []
    if claims:
        (folder / "claims.toml").write_text(claims)
        asked = read_claims(folder / "claims.toml")
        (folder / "claims.toml").unlink()
    wanted = importing.import_request([str(folder)], "", "", None, name=str(folder), baseline="", file_format="")
    _, kept = pipeline.carry_out(wanted, store, None, "0", lambda _: None)
    assert kept is not None
    said: list[Any] = [origin.said["readings"] for origin in sources.origins(store, kept.id).values()]
    return sum(map(len, said)), imported_reporting.breaches(store, kept, asked)


def _digit(number: str, at: int) -> str:
    """Another digit at a place."""
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
    made = study(random.Random(shape))
    figures, found = look(store, tmp_path, SHAPES[shape](made))
    assert figures == len(made.cells) * len(made.measures)
    assert [one.words for one in found if one.law != CEILING] == []


def _cases() -> list[tuple[str, str]]:
    """Each error in five shapes, so that each shape has several."""
    shapes = [shape for shape in SHAPES if shape != "transposed"]
    return [(name, shapes[(3 * n + 4 * k) % len(shapes)]) for n, name in enumerate(ERRORS) for k in range(5)]


@pytest.mark.parametrize(("name", "shape"), _cases())
def test_an_error_is_named_at_its_cell(store: Engine, tmp_path: Path, name: str, shape: str) -> None:
    study, plant, laws = ERRORS[name]
    rng = random.Random(f"{name} {shape}")
    made = study(rng)
    level, load = plant(rng, made)
    _, found = look(store, tmp_path, SHAPES[shape](made))
    where = f"{level}, {load} thread" if load and len(made.loads) > 1 else level
    assert [one.law for one in found if one.law in laws and where in one.words], [one.words for one in found]


def _capped(rng: random.Random) -> Study:
    made = fileio(rng)
    for (_, load), cell in made.cells.items():
        iops = min(float(cell["iops"]), 17_000 * rng.uniform(0.998, 1.002))
        reads = round(iops * 0.6, 2)
        parts = {"iops": iops, "throughput": iops / 64, "reads": reads, "writes": iops - reads}
        cell |= {name: f"{value:.2f}" for name, value in parts.items()}
        cell["latency_avg"] = f"{load / iops * 990:.2f}"
    return made


@pytest.mark.parametrize("shape", ["long", "records, Markdown", "Markdown", "two heads"])
def test_a_limit_that_levels_share_is_told(store: Engine, tmp_path: Path, shape: str) -> None:
    _, found = look(store, tmp_path, SHAPES[shape](_capped(random.Random(shape))))
    assert [one.law for one in found] == [CEILING]


@pytest.mark.parametrize("shape", ["records, Markdown", "box", "Markdown", "levels in heads"])
@pytest.mark.parametrize("files", [1, 2])
def test_a_summary_that_says_otherwise_is_told(store: Engine, tmp_path: Path, shape: str, files: int) -> None:
    made = oltp(random.Random(shape))
    said = SHAPES[shape](made)
    for cell in made.cells.values():
        del cell["latency_avg"], cell["latency_p95"], cell["latency_max"], cell["latency_min"]
    cell = made.cells["deadline", 64]
    cell |= {name: _times(1.2)(cell[name]) for name in ("tps", "qps")}
    tables = [said, SHAPES[shape](made)]
    assert all(isinstance(one, str) for one in tables)
    _, found = look(store, tmp_path, *(tables if files == 2 else ["\n\nAs said:\n\n".join(map(str, tables))]))
    assert [one.where for one in found if one.law == "one run with two values" and "deadline, 64 threads" in one.where]


@pytest.mark.parametrize("shape", ["records, Markdown", "transposed", "levels in heads", "measures down", "long"])
def test_a_percentage_is_held_against_the_table(store: Engine, tmp_path: Path, shape: str) -> None:
    made = oltp(random.Random(shape))
    rates = [[float(made.cells[level, load]["tps"]) for level in ("noop", "cfq")] for load in LOADS]
    most = max(noop / cfq - 1 for noop, cfq in rates) * 100
    claim = '[[claim]]\nfactor = "IO scheduler"\nclaim = "better"\n[[claim.changes]]\nfrom = "cfq"\nto = "noop"\n'
    for number, (percent, wrong) in enumerate([(most, 0), (most + 20, 1)]):
        folder = tmp_path / str(number)
        folder.mkdir()
        claims = f'{claim}over = "most"\npercent = "+{percent:.1f}"\n'
        _, found = look(store, folder, SHAPES[shape](made), claims=claims)
        assert len([one for one in found if one.law == "percentages in prose"]) == wrong


@pytest.mark.parametrize(
    ("study", "measures", "factor", "law", "hint"),
    [
        (oltp, ("latency_min", "latency_avg", "latency_p95", "latency_max"), 0.001, "Little's law", "ms and s"),
        (fileio, ("throughput",), 8.0, "IOPS x block size", "bits and bytes"),
    ],
)
@pytest.mark.parametrize("shape", ["records, Markdown", "Markdown", "long"])
def test_a_column_in_another_unit_is_told_with_the_mistake(
    store: Engine,
    tmp_path: Path,
    study: Callable[[random.Random], Study],
    measures: Sequence[str],
    factor: float,
    law: str,
    hint: str,
    shape: str,
) -> None:
    made = study(random.Random(shape))
    for cell in made.cells.values():
        cell |= {name: f"{float(cell[name]) * factor:.5f}" for name in measures}
    _, found = look(store, tmp_path, SHAPES[shape](made))
    assert [one for one in found if one.law == law and hint in one.words], [one.words for one in found]


@pytest.mark.parametrize("draw", [two_heads, long], ids=["two heads", "long"])
def test_one_measurement_under_two_headings_is_told(
    store: Engine, tmp_path: Path, draw: Callable[[Study], str]
) -> None:
    made = oltp(random.Random(1))
    levels = {"0": 1.0, "128": 1.01}
    cells = {
        (level, load): {name: f"{float(said) * of:.2f}" for name, said in made.cells["noop", load].items()}
        for level, of in levels.items()
        for load in LOADS
    }
    other = Study("read_ahead_kb", made.workload, list(levels), LOADS, cells)
    tables = [draw(made), draw(other) if draw is two_heads else long(other, name="T2")]
    _, found = look(store, tmp_path, *tables)
    assert [one.where for one in found if one.law == "identical figures" and "read_ahead_kb 0" in one.where]
