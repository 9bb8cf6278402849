"""The processes that draw charts: in what order pictures come, and what happens when they or we end."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from paribus.errors import DrawingFailed
from paribus.report.charts import chart_worker

WAIT_S = 30


@pytest.fixture(autouse=True)
def _of_this_test() -> None:
    """A process that another test began and did not use writes to the standard error of that test."""
    while not chart_worker._begun.empty():
        chart_worker._begun.get().end()


def _titled(title: str) -> dict[str, Any]:
    return {"title": title, "data": {"values": [{"n": 1}]}, "mark": "point", "encoding": {"x": {"field": "n"}}}


def _drawn(*specs: chart_worker.Spec) -> list[str]:
    with chart_worker.drawing(specs, {}) as pictures:
        return [picture() for picture in pictures]


def test_pictures_come_in_the_order_of_the_charts() -> None:
    titles = [f"chart {n}" for n in range(20)]
    chart_worker.begin()
    pictures = _drawn(*map(_titled, titles))
    assert [f">{title}<" in picture for title, picture in zip(titles, pictures, strict=True)] == [True] * 20
    assert _drawn() == []


def test_a_chart_that_cannot_be_drawn_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(DrawingFailed, match=r"ended \(1\)"):
        _drawn({"mark": "nothing of this name"})
    assert "compileVegaLite" in capfd.readouterr().err
    assert _drawn(_titled("the next"))[0].startswith("<svg")


def test_abandoned_workers_end() -> None:
    before = set(_children(os.getpid()))
    with pytest.raises(KeyError), chart_worker.drawing([_titled(f"chart {n}") for n in range(20)], {}) as pictures:
        raise KeyError("something else failed")
    with pytest.raises(DrawingFailed):
        pictures[-1]()
    assert set(_children(os.getpid())) <= before


def test_they_end_with_us_even_when_we_are_killed() -> None:
    code = (
        "import time; from paribus.report.charts import chart_worker; chart_worker.begin(); "
        "print('begun', flush=True); time.sleep(60)"
    )
    ours = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert ours.stdout
    assert ours.stdout.readline() == b"begun\n"
    theirs = _children(ours.pid)
    assert theirs
    os.kill(ours.pid, signal.SIGKILL)
    ours.communicate()
    until = time.monotonic() + WAIT_S
    while any(_lives(pid) for pid in theirs):
        assert time.monotonic() < until
        time.sleep(0.05)


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _lives(pid: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
