"""Every plan under examples/ can be checked and run, scaled down, as it stands."""

import os
from pathlib import Path

import pytest
from command import RUN_ENDED

EXAMPLES = sorted((Path(__file__).parent.parent.parent / "examples").glob("*.toml"))
SCALE = {
    "protocol.trial": "20ms",
    "protocol.settle": "5ms",
    "protocol.rounds": "2",
    "protocol.margin": "50%",
    "workload.0.threads": "[2]",
    "workload.0.data": "keep",
}
SMALL = {"workload.0.total_size": "4MiB"}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(ceteris, example: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    sets = SCALE | {"target.path": str(tmp_path)} | (SMALL if "total_size" in example.read_text() else {})
    if "block." in example.read_text():
        if os.geteuid() != 0:
            pytest.skip("needs root")
        sets["target.device"] = request.getfixturevalue("loop")
    arguments = [part for key, value in sets.items() for part in ("--set", f"{key}={value}")]
    assert ceteris("check", str(example), *arguments).code == 0
    done = ceteris("run", str(example), *arguments)
    assert done.code in RUN_ENDED, done.err


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_fine_at_full_size(ceteris, example: Path, request: pytest.FixtureRequest) -> None:
    arguments = []
    if "block." in example.read_text():
        if os.geteuid() != 0:
            pytest.skip("needs root")
        arguments = ["--set", f"target.device={request.getfixturevalue('loop')}"]
    done = ceteris("check", str(example), *arguments)
    assert done.code == 0, done.err
