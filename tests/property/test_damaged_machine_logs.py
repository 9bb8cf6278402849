"""Damaged fio, Orion, iostat, vmstat, sar, mpstat logs and tables yield fewer numbers, never others."""

import re
import time
from pathlib import Path

import pytest
from golden_logs import LOGS, name_of, text_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paribus.parsers import formats
from paribus.parsers.log import Log
from paribus.parsers.sysstat.samples import SINCE_BOOT

FORMATS = ("fio", "orion", "iostat", "vmstat", "sar", "mpstat", "table")
MACHINE = [path for path in LOGS if path.parent.name in FORMATS]
TOOLS = [path for path in MACHINE if path.parent.name != "table"]
NOISE = (
    "fio: io_u error on file /data/f: No space left on device: write offset=0, buflen=4096",
    "WARNING: something, happened here: 5",
    "[12345.678901] perf: interrupt took too long (2503 > 2500), lowering kernel.perf_event_max_sample_rate to 79750",
    "\x00\x01\x02\ufffd\ufffd",
)
NO_NUMBERS = ("nan", "-nan", "inf", "1e400", "9" * 400, "0x1p3", "١٢", "12.5.7", "#")
often = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
every_log = pytest.mark.parametrize("path", MACHINE, ids=name_of)
every_tool = pytest.mark.parametrize("path", TOOLS, ids=name_of)


def _read(path: Path, text: str) -> Log:
    return formats.read(text, path.parent.name)


def _facts(log: Log) -> set[tuple[str, float]]:
    """Return numbers with their metrics, from readings and time series; averages since boot are excluded."""
    runs = [run for run in log.runs if run.workload != SINCE_BOOT]
    alone = {(reading.metric, reading.value) for run in runs for reading in run.readings}
    return alone | {(course.metric, value) for run in runs for course in run.courses for value in course.values}


WHOLE = {path: _facts(_read(path, text_of(path))) for path in MACHINE}


PARTS = ("status-interval-3.33", "status-interval-normal-3.33", "three-forms-3.33")
"""Logs that say the same several times, in full and not: what is left of them may be what is not in full."""


@pytest.mark.parametrize("path", [fact for fact in MACHINE if fact.stem not in PARTS], ids=name_of)
@often
@given(data=st.data())
def test_truncated_logs_give_fewer_facts(path: Path, data: st.DataObject) -> None:
    text = text_of(path)
    facts = _facts(_read(path, text[: data.draw(st.integers(0, len(text)))]))
    assert {fact for fact in facts if not _megabytes(path, *fact)} <= WHOLE[path]


def _megabytes(path: Path, metric: str, value: float) -> bool:
    """Return whether the complete table shows that MB means MiB and a part of it does not."""
    whole = [
        whole_value
        for name, whole_value in WHOLE[path]
        if name == metric == "bytes_per_s" and path.parent.name == "table"
    ]
    return any(value * 1.048576 == pytest.approx(whole_value) for whole_value in whole)


@every_tool
@often
@given(data=st.data())
def test_lines_between_change_nothing(path: Path, data: st.DataObject) -> None:
    lines = text_of(path).split("\n")
    place = data.draw(st.integers(1, max(1, len(lines) - 2)))
    noise = data.draw(st.sampled_from(NOISE))
    log = _read(path, "\n".join([*lines[:place], noise, *lines[place:]]))
    assert path.stem in PARTS or _facts(log) <= WHOLE[path]
    if path.parent.name in ("sar", "mpstat") and "json" not in path.stem:
        assert _facts(log) == WHOLE[path]


@every_log
@often
@given(data=st.data())
def test_damaged_numbers_are_left_out(path: Path, data: st.DataObject) -> None:
    text = text_of(path)
    token = data.draw(st.sampled_from(list(re.finditer(r"\d+\.\d+|\d+", text))))
    log = _read(path, text[: token.start()] + data.draw(st.sampled_from(NO_NUMBERS)) + text[token.end() :])
    assert all(abs(value) < 1e300 for _metric, value in _facts(log))


@every_log
def test_a_text_that_stands_twice_is_one_run_each(path: Path) -> None:
    text = text_of(path)
    log = _read(path, text + text)
    assert _facts(log) <= WHOLE[path]
    assert len(log.runs) <= len(_read(path, text).runs) + (path.parent.name in ("orion", "table"))


WRITTEN_OTHERWISE = {
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "colours": lambda text: "\n".join(f"\x1b[1;32m{line[:9]}\x1b[0m{line[9:]}\x1b[K" for line in text.split("\n")),
    "mark of the byte order": lambda text: "\ufeff" + text,
    "trailing spaces": lambda text: text.replace("\n", "  \n"),
    "quoted": lambda text: "".join(f"> {line}\n" for line in text.split("\n")),
}


@pytest.mark.parametrize("how", WRITTEN_OTHERWISE)
@every_log
def test_a_log_written_otherwise_says_the_same(path: Path, how: str) -> None:
    text = WRITTEN_OTHERWISE[how](text_of(path))
    assert _facts(_read(path, text)) == WHOLE[path]
    assert formats.recognise(text) == path.parent.name


@pytest.mark.parametrize(
    "path",
    [one for one in TOOLS if one.parent.name in ("iostat", "sar", "mpstat") and "json" not in one.stem],
    ids=name_of,
)
def test_decimal_commas_say_the_same(path: Path) -> None:
    text = re.sub(r"(?<=\d)\.(?=\d\d?\b)(?!\d+\.)", ",", text_of(path))
    assert _facts(_read(path, text)) == WHOLE[path]


LONG = (
    "1",
    "{",
    '"',
    "1,",
    "| ",
    "> ",
    "x\n",
    '{"jobs":[',
    "- ",
    "a: (groupid=0",
    "Linux (",
    "\x1b[1m",
    "1;",
    "12:00:00 ",
    "\t",
)


@pytest.mark.parametrize("what", LONG)
@pytest.mark.parametrize("name", FORMATS)
def test_a_long_text_takes_time_in_proportion(name: str, what: str) -> None:
    short, long = (what * (size // len(what)) for size in (100_000, 800_000))
    spent = _cpu_seconds(name, long)
    assert spent < 1 or spent < 24 * _cpu_seconds(name, short)


def _cpu_seconds(name: str, text: str) -> float:
    start = time.process_time()
    formats.read(text, name)
    return time.process_time() - start
