"""Wheels in systems without a compiler: installed, an experiment run, and the report with its charts."""

import itertools
import os
import platform
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from bare_root import ARCHITECTURES, BareRoot

pytestmark = [pytest.mark.root, pytest.mark.usefixtures("as_root")]


@pytest.fixture(scope="module", params=ARCHITECTURES)
def bare_root(
    request: pytest.FixtureRequest, wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> BareRoot:
    """A root in which the wheel is installed, from wheels alone."""
    architecture = request.param
    packages = tmp_path_factory.mktemp(f"packages-{architecture}")
    platforms = [f"--platform=manylinux{version}_{architecture}" for version in ("_2_28", "_2_27", "_2_17", "2014")]
    download = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary=:all:", "--python-version=3.11"]
    subprocess.run([*download, *platforms, f"--dest={packages}", wheels[architecture]], check=True)
    made = BareRoot(tmp_path_factory.mktemp("roots") / architecture, architecture, packages)
    made.run("python3", "-m", "venv", "/opt/paribus")
    made.run("/opt/paribus/bin/pip", "install", "--quiet", "--no-index", "--find-links=/packages", "paribus")
    return made


def test_an_experiment_runs_without_a_compiler(bare_root: BareRoot) -> None:
    assert bare_root.has("cc", "gcc", "clang", "cargo", "rustc") == set()
    bare_root.run_an_experiment()


def test_the_engine_needs_nothing_of_a_system(wheels: dict[str, Path], tmp_path: Path) -> None:
    machine = platform.machine()
    subprocess.run([sys.executable, "-m", "zipfile", "-e", wheels[machine], tmp_path], check=True)
    engine = next(tmp_path.glob("*.data/scripts/paribus-engine"))
    engine.chmod(0o755)
    alone = tmp_path / "alone"
    alone.mkdir()
    os.link(engine, alone / "engine")
    done = subprocess.run(["chroot", alone, "/engine", "--version"], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("paribus-engine "), done.stderr


def test_each_wheel_has_the_engines_of_all(wheels: dict[str, Path]) -> None:
    contents = {architecture: zipfile.ZipFile(wheel) for architecture, wheel in wheels.items()}
    for architecture, other in itertools.permutations(ARCHITECTURES):
        [own] = [name for name in contents[other].namelist() if name.endswith(".data/scripts/paribus-engine")]
        copy = f"paribus/engine/other_machines/paribus-engine-{other}"
        assert contents[architecture].read(copy) == contents[other].read(own)
