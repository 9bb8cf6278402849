"""Tables that list another table's cells again: no repetitions, and not merged silently."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from paribus.imports import pipeline
from paribus.imports.repeated_tables import ListedCell, RepeatedTables
from paribus.lab.store import importing
from paribus.model import Trial, TrialState
from paribus.store import read
from paribus.store.open import open_engine, store_url

RATES = ("1234.5", "2345.6", "3456.7", "4567.8", "5678.9")
LOADS = (8, 16, 32, 64, 128)


def _table(title: str, rates: Sequence[str]) -> str:
    rows = "".join(f"| noop | {load} | {rate} |\n" for load, rate in zip(LOADS, rates, strict=True))
    return f"## {title}\n\n| scheduler | threads | TPS |\n|---|---|---|\n{rows}\n"


def _trials(folder: Path, *texts: str) -> list[Trial]:
    """Import each text by a call of its own."""
    store = open_engine(store_url(str(folder / "s.db")), create=True)
    experiment = None
    for number, text in enumerate(texts):
        path = folder / f"{number}.md"
        path.write_text(text)
        request = importing.import_request([str(path)], "", "", None, name="s", baseline="", file_format="")
        target = pipeline.set_named(store, request.name)
        _, experiment = pipeline.carry_out(request, store, target, "0", lambda _outcome: None)
    assert experiment is not None
    return read.trials(store, experiment.id)


MISPRINTED = (*RATES[:2], "3546.7", *RATES[3:])


@pytest.mark.parametrize("files", [1, 2])
def test_a_table_listed_again_with_a_misprint_counts_once(tmp_path: Path, files: int) -> None:
    tables = (_table("OLTP results", RATES), _table("OLTP results", MISPRINTED))
    trials = _trials(tmp_path, *(tables if files == 2 else ["".join(tables)]))
    assert len(trials) == 10
    unused = {trial.load.n: trial.invalid_because[0] for trial in trials if trial.state is TrialState.INVALID}
    assert set(unused) == set(LOADS)
    assert {load for load, reason in unused.items() if "a misprint, or another run" in reason} == {32}
    assert "one run listed twice" in unused[8]


def test_tables_of_repetitions_count_all(tmp_path: Path) -> None:
    others = [f"{float(rate) * 1.01:.1f}" for rate in RATES]
    trials = _trials(tmp_path, _table("OLTP results", RATES), _table("OLTP results", others))
    assert {trial.state for trial in trials} == {TrialState.DONE}
    assert [trial.round for trial in trials] == [1] * 5 + [2] * 5


def test_two_equal_cells_are_chance(tmp_path: Path) -> None:
    others = [*RATES[:2], "3400.0", "4500.0", "5700.0"]
    trials = _trials(tmp_path, _table("OLTP results", RATES), _table("OLTP results", others))
    assert {trial.state for trial in trials} == {TrialState.DONE}


def test_copies_of_a_table_all_count_once_however_many_there_are() -> None:
    tables = RepeatedTables()
    figures = [{"throughput_per_s": 1000.5 + load} for load in range(4)]
    reasons = {}
    for source in range(20):
        cells = [ListedCell((source, "T"), load, 4 * source + load, figures[load]) for load in range(4)]
        reasons |= tables.unused(cells)
    assert set(reasons) == set(range(4, 80))


def test_tables_without_common_figures_are_not_compared() -> None:
    tables = RepeatedTables()
    for source in range(2000):
        cells = [ListedCell((source, "T"), load, 0, {"throughput_per_s": source + load / 64}) for load in range(20)]
        assert tables.unused(cells) == {}
