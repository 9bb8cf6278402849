"""Messages on the end of an engine."""

import time
from pathlib import Path

import pytest

from paribus.engine.run import Engine
from paribus.errors import EngineError
from paribus.hosts.local import LocalHost
from paribus.model import Workload
from paribus.workloads.jobs import job

FILEIO = Workload(
    name="w",
    kind="fileio",
    parameters={"total_size": 2**20},
    load_levels=(1,),
    response="throughput_per_s",
    data="keep",
    cache="warm",
)


@pytest.mark.parametrize(
    ("ends", "told"), [("kill -9 $$", "the engine ended with code -9"), ("echo no space >&2; exit 3", "no space")]
)
def test_one_that_died_before_a_window_was_asked_for_says_how(tmp_path: Path, ends: str, told: str) -> None:
    script = tmp_path / "engine"
    script.write_text(f"#!/bin/sh\n{ends}\n")
    script.chmod(0o755)
    engine = Engine(LocalHost(), str(script), job(FILEIO, {}, str(tmp_path), "run"))
    for _ in range(5):  # the first may still fit into the pipe
        time.sleep(0.05)
        engine.measure("1", 0.0, 1.0)
    with pytest.raises(EngineError, match=told):
        list(engine.events())
