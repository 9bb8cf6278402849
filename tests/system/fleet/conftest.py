"""Machines of a fleet for a test."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from ssh_fleet import SshFleet


@pytest.fixture
def machines() -> int:
    return 3


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, machines: int) -> Iterator[SshFleet]:
    """Machines db1, db2 and so on."""
    with SshFleet(tmp_path / "fleet", [f"db{n}" for n in range(1, machines + 1)]) as made:
        monkeypatch.setenv("PATH", str(made.path), prepend=os.pathsep)
        yield made
