"""Wheels and packages, built once for the tests of this folder."""

import subprocess
from pathlib import Path

import pytest
from bare_root import ARCHITECTURES

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of all wheels and packages, as `make deb` builds them."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(["make", "--silent", "deb", f"DIST={folder}", "PYTHON_VERSION=3.11"], cwd=ROOT, check=True)
    return folder


@pytest.fixture(scope="session")
def wheels(dist: Path) -> dict[str, Path]:
    """The wheels by architecture."""
    return {each: next(dist.glob(f"*_{each}.whl")) for each in ARCHITECTURES}
