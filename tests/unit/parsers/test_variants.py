"""What logs of other people have, and goldens of the tools have not: builds of their own, prefixes, notes, mixtures."""

import re
from pathlib import Path

import pytest

from ceteris.parsers import formats
from ceteris.parsers.log import Course, Log

GOLDEN = Path(__file__).parent.parent.parent / "golden" / "parsers"


def _text(name: str) -> str:
    return (GOLDEN / f"{name}.log").read_text(encoding="utf-8")


def _courses(log: Log) -> list[Course]:
    return [course for run in log.runs for course in run.courses]


def test_a_build_of_sysbench_that_tells_response_times_in_microseconds() -> None:
    text = _text("sysbench/oltp-0.5")
    other = re.sub(r"time: ([0-9.]+)ms \(", lambda found: f"time: {float(found[1]) * 1000:.2f}us (", text)
    assert "us (95%)" in other
    log = formats.read(other)
    assert not log.not_understood
    for own, same in zip(_courses(log), _courses(formats.read(text)), strict=True):
        assert (own.metric, own.at_s, own.values) == (same.metric, same.at_s, pytest.approx(same.values))
