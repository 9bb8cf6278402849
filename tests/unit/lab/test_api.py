"""The public API on a store with a scripted experiment; examples in docstrings and in the notebook are executed."""

import doctest
import json
from pathlib import Path

import pytest

from paribus import Lab
from paribus.errors import UsageError
from paribus.lab import api
from paribus.lab.results import experiment_result, records

ROOT = Path(__file__).parents[3]
NOTEBOOK = ROOT / "examples" / "analysis.ipynb"
LOG = ROOT / "tests" / "golden" / "parsers" / "sysbench" / "fileio-1.1.log"


def _refute_failures(module: object, **names: object) -> None:
    failures, tests = doctest.testmod(module, extraglobs={"Lab": Lab, **names})  # type: ignore[arg-type]
    assert tests
    assert not failures


@pytest.mark.parametrize("module", [experiment_result, records])
def test_examples_of_records_are_true(module: object, store_file: Path) -> None:
    _refute_failures(module, store=store_file)


def test_examples_of_the_laboratory_are_true(
    store_file: Path, second_store_file: Path, plan_file: Path, interrupted_lab: Lab, tmp_path: Path
) -> None:
    _refute_failures(
        api,
        store=store_file,
        second_store=second_store_file,
        new_store=tmp_path / "new.db",
        interrupted_store=interrupted_lab.store,
        plan=plan_file,
        log=LOG,
        folder=tmp_path,
    )


def test_the_notebook_lists_the_effects(
    store_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PARIBUS_STORE", str(store_file))
    names: dict[str, object] = {}
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)  # noqa: S102  the notebook is ours
    assert "vm.swappiness = 1" in capsys.readouterr().out


def test_records_become_tables(store_file: Path) -> None:
    result = Lab(store_file).experiment()
    effects = result.effects().to_arrow()
    assert effects.num_rows == len(result.effects())
    assert "percent.low" in effects.column_names
    assert result.trials().to_arrow().num_rows == len(result.trials())
    assert result.series("throughput_per_s").to_arrow().num_rows


def test_records_become_data_frames(store_file: Path) -> None:
    result = Lab(store_file).experiment()
    assert list(result.effects().to_pandas()["factor"]) == [effect.factor for effect in result.effects()]
    assert len(result.measurements().to_pandas()) == len(result.measurements())


def test_a_missing_library_is_named(store_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(UsageError, match="pandas is not installed"):
        Lab(store_file).experiments().to_pandas()


def test_a_store_that_is_not_there_has_no_experiments(tmp_path: Path) -> None:
    assert len(Lab(tmp_path / "none.db").experiments()) == 0
