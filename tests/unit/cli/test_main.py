"""The command line without a machine: help, usage errors, exit codes, what is imported."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from paribus.cli.main import app
from paribus.errors import UsageError

HEAVY = (
    "pyarrow",
    "pydantic",
    "sqlalchemy",
    "alembic",
    "numpy",
    "scipy",
    "vl_convert",
    "jinja2",
    "starlette",
    "uvicorn",
)
VERBS = tuple(typer.main.get_command(app).commands)


def test_help_imports_nothing_heavy() -> None:
    code = f"import sys, paribus.cli.main; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_package_runs_as_a_module() -> None:
    argv = [sys.executable, "-m", "paribus", "--version"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("paribus ")
    refused = subprocess.run([*argv[:3], "rum"], capture_output=True, text=True, check=False)
    assert refused.returncode == 2


def test_previews_of_a_plan_import_no_scipy() -> None:
    """Loading scipy takes a second, and nothing is judged."""
    modules = ["cli.texts.checking", "lab.results.prior_runs", "lab.machine.inspection", "experiment.noise"]
    imports = "; ".join(f"import paribus.{module}" for module in modules)
    code = f"import sys; {imports}; print([m for m in sys.modules if m.startswith('scipy')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_an_example(verb: str) -> None:
    done = CliRunner().invoke(app, [verb, "--help"])
    assert done.exit_code == 0
    assert f"Example: paribus {verb}" in " ".join(done.output.split())


@pytest.mark.parametrize("words", [[], ["run"], ["sandbox"], ["sandbox", "up"], ["knobs", "list"]])
def test_h_is_help_everywhere(words: list[str]) -> None:
    short, long = (CliRunner().invoke(app, [*words, option]) for option in ("-h", "--help"))
    assert short.exit_code == long.exit_code == 0
    assert short.output == long.output
    assert short.output.startswith("Usage:")


def test_the_version_is_told() -> None:
    assert CliRunner().invoke(app, ["--version"]).output.startswith("paribus ")


@pytest.mark.parametrize("arguments", [["run"], ["nothing"], ["run", "--nothing"], ["report", "--format", "pdf"]])
def test_a_wrong_command_line_ends_with_two(arguments: list[str]) -> None:
    assert CliRunner().invoke(app, arguments).exit_code == 2


def test_knobs_are_listed_and_explained() -> None:
    assert "block.scheduler" in CliRunner().invoke(app, ["knobs", "list"]).output
    shown = CliRunner().invoke(app, ["knobs", "show", "vm.dirty"]).output
    assert "vm.dirty_ratio, vm.dirty_bytes" in shown


@pytest.mark.parametrize(
    "arguments", [["knobs", "list"], ["status"], ["schema", "plan"], ["check", "examples/first.toml"]]
)
def test_a_closed_output_has_an_exit_code_of_its_own(arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    argv = [sys.executable, "-m", "paribus.cli.main", *arguments]
    done = subprocess.run(argv, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (done.returncode, "its reader has closed it" in done.stderr) == (141, True), done.stderr


def test_rows_of_this_folder_are_explained_and_say_on_what_they_were_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "knobs").mkdir()
    row = '["raid.x"]\nget = ["true"]\npattern = "(.)"\nset = ["true", "{value}"]\nlevels = [0, 1]\nsummary = "Mine"\n'
    (tmp_path / "knobs/raid.toml").write_text(f'{row}proved = "transcript"\n')
    assert isinstance(CliRunner().invoke(app, ["knobs", "show", "raid.x"]).exception, UsageError)
    monkeypatch.chdir(tmp_path)
    shown = CliRunner().invoke(app, ["knobs", "show", "raid.x"]).output
    assert "raid.x: Mine" in shown
    assert "never on a device" in shown
