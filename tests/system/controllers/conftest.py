"""The program of a RAID controller, found by its name."""

import os
from pathlib import Path

import pytest
from storcli import Storcli


@pytest.fixture
def storcli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Storcli:
    made = Storcli(tmp_path / "bin")
    monkeypatch.setenv("PATH", str(made.folder), prepend=os.pathsep)
    return made
