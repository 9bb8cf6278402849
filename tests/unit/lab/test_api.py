"""The public API on a store with a scripted experiment; examples in docstrings and in the notebook are executed."""

import doctest
import json
from pathlib import Path

import pytest
import scripted
from plan_samples import FILEIO, checked, simple

from paribus import Lab
from paribus.errors import UsageError
from paribus.lab import api
from paribus.lab.results import experiment_result, records
from paribus.store.open import open_engine, store_url

NOTEBOOK = Path(__file__).parents[3] / "examples" / "analysis.ipynb"


@pytest.fixture(scope="module")
def store_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("store") / "s.db"
    store = open_engine(store_url(str(file)), create=True)
    plan = checked(simple('"vm.swappiness" = [60, 1]', FILEIO, '[protocol]\nbudget = "2h"'))
    scripted.carry_out(store, plan, lambda trial: 0.06 * (trial.arm == "1"), wobble=0.01)
    store.dispose()
    return file


@pytest.mark.parametrize("module", [api, experiment_result, records])
def test_examples_in_docstrings_are_true(module: object, store_file: Path) -> None:
    failures, tests = doctest.testmod(module, extraglobs={"store": store_file, "Lab": Lab})  # type: ignore[arg-type]
    assert tests
    assert not failures


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


def test_an_experiment_is_exported(store_file: Path, tmp_path: Path) -> None:
    document = Lab(store_file).export(folder=tmp_path / "out", tables=["trials"])
    assert [file.table for file in document.files] == ["trials"]


def test_a_store_that_is_not_there_has_no_experiments(tmp_path: Path) -> None:
    assert len(Lab(tmp_path / "none.db").experiments()) == 0
