"""Debian packages in systems that have Python alone: installed, an experiment run, and removed."""

from pathlib import Path

import pytest
from bare_root import ARCHITECTURES, BareRoot

pytestmark = [pytest.mark.root, pytest.mark.usefixtures("as_root")]


@pytest.fixture(scope="module", params=ARCHITECTURES)
def debian(request: pytest.FixtureRequest, dist: Path, tmp_path_factory: pytest.TempPathFactory) -> BareRoot:
    """A Debian in which the package is installed."""
    [package] = dist.glob(f"*_{ARCHITECTURES[request.param]}.deb")
    root = BareRoot(tmp_path_factory.mktemp("roots") / request.param, request.param, dist)
    root.run("dpkg", "--install", f"/packages/{package.name}")
    return root


def test_an_experiment_runs_from_the_package(debian: BareRoot) -> None:
    debian.run_an_experiment()


def test_shells_complete_commands_and_man_has_a_page(debian: BareRoot) -> None:
    script = "usr/share/bash-completion/completions/paribus"
    line = "COMP_WORDS=(paribus knob); COMP_CWORD=1; _paribus_completion paribus; echo ${COMPREPLY[0]}"
    assert debian.run("bash", "-c", f". /{script}; {line}").strip() == "knobs"
    assert "paribus \\- " in debian.run("zcat", "/usr/share/man/man1/paribus.1.gz")


def test_removal_leaves_only_results(debian: BareRoot) -> None:
    debian.run("dpkg", "--purge", "paribus")
    assert debian.run("find", "/usr", "/etc", "/opt", "-iname", "*paribus*") == ""
    assert debian.run("find", "/var/lib/paribus", "-name", "paribus.db").strip()
