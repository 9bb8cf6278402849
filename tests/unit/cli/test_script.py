"""Tests of the script that is installed as `paribus`."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "paribus.data" / "scripts" / "paribus"


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The script beside an interpreter, below a path that no first line of a script can hold."""
    folder = tmp_path / f"a space and {'many characters ' * 10}" / "bin"
    folder.mkdir(parents=True)
    python = folder / "python3"
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    script = folder / "paribus"
    script.write_bytes(SCRIPT.read_bytes())
    for file in (python, script):
        file.chmod(0o755)
    return script


def _version(program: Path, **environment: str) -> str:
    return subprocess.run(
        [program, "--version"], env=os.environ | environment, capture_output=True, text=True, check=True
    ).stdout


def test_script_runs_below_any_path(installed: Path) -> None:
    assert _version(installed).startswith("paribus ")


def test_script_runs_through_a_link(installed: Path, tmp_path: Path) -> None:
    link = tmp_path / "linked"
    link.symlink_to(installed)
    assert _version(link).startswith("paribus ")


def test_script_without_its_interpreter_uses_that_on_the_path(installed: Path, tmp_path: Path) -> None:
    beside = installed.with_name("python3")
    folder = tmp_path / "of the path"
    folder.mkdir()
    beside.rename(folder / "python3")
    assert _version(installed, PATH=f"{folder}{os.pathsep}{os.environ['PATH']}").startswith("paribus ")
