"""The container image: built on a Debian, and an experiment run in it by a user without rights."""

import json
import os
import subprocess
import tomllib
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from bare_root import PLAN

pytestmark = [pytest.mark.root, pytest.mark.usefixtures("as_root")]

ROOT = Path(__file__).parents[3]
# A test machine may itself be a container: neither overlays nor namespaces of processes are needed.
ENVIRONMENT = os.environ | {"BUILDAH_ISOLATION": "chroot", "STORAGE_DRIVER": "vfs"}


def _buildah(*argv: str | Path) -> str:
    done = subprocess.run(["buildah", *argv], env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{argv}: {done.stdout}{done.stderr}"
    return done.stdout.strip()


@pytest.fixture(scope="module")
def image(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The name of the image, as `make image` builds it, on a Debian of this machine's making."""
    debian = tmp_path_factory.mktemp("debian") / "debian.tar"
    subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", "bookworm", debian], check=True)
    names = [f"localhost/{name}-{uuid.uuid4().hex}" for name in ("debian", "paribus")]
    container = _buildah("from", "scratch")
    _buildah("add", "--quiet", container, debian, "/")
    _buildah("commit", "--quiet", "--rm", container, names[0])
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    arguments = [f"--build-arg={each}" for each in (f"BASE={names[0]}", f"VERSION={version}", "TARGETARCH=amd64")]
    _buildah("build", "--quiet", *arguments, "--tag", names[1], "--file", ROOT / "release/Containerfile", dist)
    yield names[1]
    _buildah("rmi", "--force", *names)


@pytest.fixture
def container(image: str) -> Iterator[str]:
    """A container of the image."""
    name = _buildah("from", image)
    yield name
    _buildah("rm", name)


def test_an_experiment_runs_without_rights(container: str, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN.replace("/root", "/home/paribus"))
    _buildah("copy", "--quiet", container, plan, "/home/paribus/plan.toml")
    assert _buildah("run", container, "--", "id", "--user") == "1000"
    assert "fileio.block_size" in _buildah("run", container, "--", "paribus", "run", "plan.toml")


def test_the_image_is_the_command(image: str) -> None:
    config = json.loads(_buildah("inspect", "--type", "image", image))["OCIv1"]["config"]
    assert (config["Entrypoint"], config["User"]) == (["paribus"], "paribus")
