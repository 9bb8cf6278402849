"""Processes of our own: what comes of requests, whatever they say and however they or we end."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NoReturn

import pytest

from paribus import worker_process
from paribus.worker_process import WorkerFailed, WorkerProcess, share

LOUD = """from paribus import worker_process
def answer(asked):
    print('said', flush=True); os.write(1, b'too'); return asked.upper()
"""
WAIT_S = 30


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module that talks while it answers, and serves."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    (tmp_path / "loud.py").write_text(f"import os\n{LOUD}worker_process.serve(answer)\n")
    (tmp_path / "louder.py").write_text(f"import os\nprint('hello', flush=True)\n{LOUD}worker_process.serve(answer)\n")
    (tmp_path / "slow.py").write_text(
        "import time\nfrom paribus import worker_process\nworker_process.serve(time.sleep)\n"
    )
    return "loud"


def test_each_request_has_its_answer_whoever_gives_it(module: str, capfd: pytest.CaptureFixture[str]) -> None:
    asked = [f"request {n}" for n in range(30)]
    futures = share([WorkerProcess(module), WorkerProcess(module)], asked)
    assert [future.result(WAIT_S) for future in futures] == [one.upper() for one in asked]
    assert "said" in capfd.readouterr().err


@pytest.mark.usefixtures("module")
def test_output_before_the_request_is_a_failure_without_a_wait() -> None:
    (future,) = share([WorkerProcess("louder")], ["request"])
    with pytest.raises(WorkerFailed):
        future.result(WAIT_S)


@pytest.mark.usefixtures("module")
def test_a_released_worker_stops_answering() -> None:
    worker = WorkerProcess("slow")
    futures = share([worker], [600.0, 0.0])
    worker.end()
    for future in futures:
        with pytest.raises(WorkerFailed):
            future.result(WAIT_S)


def test_a_process_that_cannot_be_started_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def popen(*_: object, **__: object) -> NoReturn:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(worker_process.subprocess, "Popen", popen)
    with pytest.raises(WorkerFailed, match="temporarily unavailable"):
        WorkerProcess("any")


def test_we_end_at_once_though_they_are_at_work_and_they_end_without_a_word(module: str) -> None:
    code = (
        "from paribus.worker_process import WorkerProcess, share; worker = WorkerProcess('slow');"
        "share([worker], [1.0, 600.0]);"
        "print(worker._process.pid, flush=True)"
    )
    begun = time.monotonic()
    ours = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=WAIT_S, check=True)
    assert ours.stderr == ""
    while Path(f"/proc/{ours.stdout.strip()}").exists():
        assert time.monotonic() < begun + WAIT_S
        time.sleep(0.05)
