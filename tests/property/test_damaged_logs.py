"""Damaged logs raise no exception and yield no number that the undamaged log lacks."""

import math
import re
import time
from pathlib import Path

import pytest
from golden_logs import LOGS, name_of, text_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paribus.parsers import formats
from paribus.parsers.log import Log
from paribus.parsers.shapes import lines_of

OF_REPORTS = ("sysbench", "tpcc-mysql", "pgbench", "hammerdb", "ycsb", "go-tpc", "memtier", "")
REPORTS = [path for path in LOGS if path.parent.name in OF_REPORTS]
TEXTS = {path: text_of(path) for path in LOGS}
NOISE = (
    "FATAL: mysql_drv_query() returned error 1213 (Deadlock found when trying to get lock; try restarting transaction)",
    "mysql: [Warning] Using a password on the command line interface can be insecure.",
    "[12345.678901] perf: interrupt took too long (2503 > 2500), lowering kernel.perf_event_max_sample_rate to 79750",
    "Segmentation fault (core dumped)",
    "\x00\x01\x02\ufffd\ufffd",
)
NO_NUMBERS = ("nan", "-nan", "inf", "-inf", "1e400", "9" * 400, "1e-5", "0x1p3", "١٢", "12.5.7", "--", "")
often = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
every_report = pytest.mark.parametrize("path", REPORTS, ids=name_of)
every_log = pytest.mark.parametrize("path", LOGS, ids=name_of)


def read(path: Path, text: str) -> Log:
    return formats.read(text, path.parent.name)


WHOLE = {path: read(path, TEXTS[path]) for path in LOGS}


def facts(log: Log) -> set[tuple[str, str, str, float]]:
    """Return the stated numbers with metric, unit and subject; the text of an SQL statement is ignored."""
    return {
        (reading.metric, _of(reading.subject), reading.unit, reading.value)
        for run in log.runs
        for reading in run.readings
    }


def _of(subject: str) -> str:
    if subject in ("since the start", "events"):
        return ""  # as it is where the report before cannot be read, or the rate that is told first
    script, colon, _ = subject.partition(": ")
    if script.startswith("script ") and colon:
        return f"{script}: a statement"
    plain = re.fullmatch(r"[a-z_0-9]*(?: [a-z0-9()]+)*", subject)
    return subject if plain else "a statement"


def points(log: Log) -> set[tuple[str, str, float, float]]:
    """Return the points of its time series."""
    return {
        (course.metric, course.subject, 0.0 if course.at_s[0] == 0 else at_s, value)  # 0: told from the first line on
        for run in log.runs
        for course in run.courses
        for at_s, value in zip(course.at_s, course.values, strict=True)
    }


def check(text: str, log: Log) -> None:
    """Check that every number is finite and has a valid line."""
    lines = lines_of(text) if log.format in OF_REPORTS else text.splitlines()
    assert all(1 <= number <= len(lines) for number, _ in log.not_understood)
    for run in log.runs:
        first, last = run.lines
        assert 1 <= first <= last <= len(lines)
        for reading in run.readings:
            assert math.isfinite(reading.value)
            assert first <= reading.line <= last or log.format not in OF_REPORTS
            assert 1 <= reading.line <= len(lines)
        for course in run.courses:
            assert len(course.at_s) == len(course.values) > 0
            assert all(map(math.isfinite, (*course.at_s, *course.values)))
        assert all(math.isfinite(upper_s) and count >= 0 for upper_s, count in run.histogram)


def check_stated(text: str, log: Log) -> None:
    """Check that every number is in its line; of a derived one, one part is there and the other in its run."""
    lines = lines_of(text)
    for run in log.runs:
        for reading in run.readings:
            parts = re.split(r" [+/] ", reading.stated)
            assert any(part in lines[reading.line - 1] for part in parts)
            assert all(any(part in line for line in lines[run.lines[0] - 1 : run.lines[1]]) for part in parts)


def nothing_new(path: Path, text: str) -> Log:
    """Read a damaged log, which may yield fewer numbers."""
    log = read(path, text)
    check(text, log)
    check_stated(text, log)
    assert facts(log) <= facts(WHOLE[path])
    assert points(log) <= points(WHOLE[path])
    return log


@every_report
@often
@given(data=st.data())
def test_a_log_that_was_cut_off_says_less(path: Path, data: st.DataObject) -> None:
    text = TEXTS[path]
    start = data.draw(st.integers(0, len(text)) | st.just(0))
    log = nothing_new(path, text[start : data.draw(st.integers(start, len(text)))])
    if path.parent.name == "sysbench" and not start:  # others may end with what is printed only where it was asked for
        missing = any(run.missing for run in log.runs) or len(log.runs) < len(WHOLE[path].runs)
        assert missing or facts(log) == facts(WHOLE[path])


@every_report
@often
@given(data=st.data())
def test_lines_of_others_between_change_nothing(path: Path, data: st.DataObject) -> None:
    lines = TEXTS[path].split("\n")
    free = [number for number, line in enumerate(lines) if not line[:1].isdigit()]  # else it may be cut in two there
    places = sorted(data.draw(st.lists(st.sampled_from(free), min_size=1, max_size=8)), reverse=True)
    for place in places:
        lines.insert(place, data.draw(st.sampled_from(NOISE)))
    log = nothing_new(path, "\n".join(lines))
    assert facts(log) == facts(WHOLE[path])
    assert len(log.not_understood) >= len(WHOLE[path].not_understood) + len(places)
    if path.parent.name != "tpcc-mysql":  # whose rates are certain only while no line is between
        assert points(log) == points(WHOLE[path])


@every_report
@often
@given(data=st.data())
def test_words_of_others_within_a_line_spoil_it_alone(path: Path, data: st.DataObject) -> None:
    text = TEXTS[path]
    place = data.draw(st.integers(0, len(text)))
    nothing_new(path, text[:place] + data.draw(st.sampled_from(NOISE)) + "\n" + text[place:])


@every_report
@often
@given(data=st.data())
def test_damaged_numbers_are_left_out(path: Path, data: st.DataObject) -> None:
    text = TEXTS[path]
    tokens = list(re.finditer(r"\d+\.\d+|\d+", text))
    token = data.draw(st.sampled_from(tokens))
    nothing_new(path, text[: token.start()] + data.draw(st.sampled_from(NO_NUMBERS)) + text[token.end() :])


@every_report
@often
@given(data=st.data())
def test_lines_that_stand_twice_say_nothing_new(path: Path, data: st.DataObject) -> None:
    if len(WHOLE[path].runs) > 1 or path.stem in ("json-1.0", "three-runs"):
        return  # lines of one run, or interval, within another are nobody's error that could be found
    lines = TEXTS[path].split("\n")
    start = data.draw(st.integers(0, len(lines) - 1))
    block = lines[start : data.draw(st.integers(start, len(lines)))]
    index = data.draw(st.integers(0, len(lines)))
    text = "\n".join([*lines[:index], *block, *lines[index:]])
    log = read(path, text)
    check(text, log)
    check_stated(text, log)
    stated = {
        (reading.metric, reading.value) for run in log.runs for reading in run.readings if " / " not in reading.stated
    }
    assert stated <= {(fact[0], fact[3]) for fact in facts(WHOLE[path])}
    assert points(log) <= points(WHOLE[path])


@every_report
def test_a_log_that_stands_twice_is_one_run_each(path: Path) -> None:
    text = TEXTS[path].rstrip("\n") + "\n"
    log = read(path, text + text)
    runs = [run for run in log.runs if run.readings]
    assert len(runs) == len([run for run in WHOLE[path].runs if run.readings])
    assert sum(" the same " in remark for remark in log.remarks) == len(runs)


def _coloured(text: str) -> str:
    return "\n".join(f"\x1b[1;32m{line[:9]}\x1b[0m{line[9:]}\x1b[K" for line in text.split("\n"))


WRITTEN_OTHERWISE = {
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "CR": lambda text: text.replace("\n", "\r"),
    "colours": _coloured,
    "mark of the byte order": lambda text: "\ufeff" + text,
    "tabs": lambda text: re.sub(r"(?<=\S) {2,}(?=\S)", "\t", text),
    "trailing spaces": lambda text: text.replace("\n", "  \t\n"),
    "quoted": lambda text: "".join(f"> {line}\n" for line in text.split("\n")),
    "times": lambda text: "".join(f"2024-03-05T10:11:12.123Z {line}\n" for line in text.split("\n")),
    "container": lambda text: "".join(f"bench-1  | {line}\n" for line in text.split("\n")),
    "decimal commas": lambda text: re.sub(r"(?<=\d)\.(?=\d)", ",", text),
}


@pytest.mark.parametrize("how", WRITTEN_OTHERWISE)
@every_report
def test_a_log_written_otherwise_says_the_same(path: Path, how: str) -> None:
    text = WRITTEN_OTHERWISE[how](TEXTS[path])
    log = read(path, text)
    check(text, log)
    assert facts(log) == facts(WHOLE[path])
    if how != "decimal commas" or path.stem not in ("tpcc-csv", "json-1.0"):  # where a comma is between numbers
        assert points(log) == points(WHOLE[path])


@every_log
@often
@given(data=st.data())
def test_damaged_bytes_raise_nothing(path: Path, data: st.DataObject) -> None:
    raw = bytearray(TEXTS[path].encode())
    for _ in range(data.draw(st.integers(1, 30))):
        place = data.draw(st.integers(0, len(raw)))
        new = data.draw(st.binary(max_size=12))
        raw[place : place + data.draw(st.integers(0, 12))] = new
    text = raw.decode("utf-8", "replace")
    check(text, read(path, text))
    recognised = formats.read(text)
    check(text, recognised)


@every_log
@often
@given(data=st.data())
def test_any_cut_raises_nothing(path: Path, data: st.DataObject) -> None:
    text = TEXTS[path]
    start = data.draw(st.integers(0, len(text)))
    part = text[start : data.draw(st.integers(start, len(text)))]
    check(part, read(path, part))


@pytest.mark.parametrize("name", formats.FORMATS)
@often
@given(text=st.text() | st.text(alphabet="0123456789.,:[]()s \n\t-+eE%|/KMGib"))
def test_any_text_raises_nothing(name: str, text: str) -> None:
    check(text, formats.read(text, name))


LONG = ("1", "1.1", "[ 1s ] ", "> ", "x\n", "1 ", "2024-01-01 00:00:00 ", "a | ", "sysbench ", "\x1b[1m", "\x1b]", "\r")
LONG += (
    "[1]: ",
    "CALLS: 1 ",
    "MIN: 1.000ms ",
    "password=",
    "-p",
    "://u:",
    "min: 1.00ms\n",
    ">>>>> PROC: A\nCALLS: 1\n",
)


@pytest.mark.parametrize("what", LONG)
@pytest.mark.parametrize("name", ["sysbench", "tpcc-mysql", "pgbench", "hammerdb", "ycsb", "go-tpc", "memtier"])
def test_a_long_text_takes_time_in_proportion(name: str, what: str) -> None:
    short, long = (_seconds(what * (size // len(what)), name) for size in (100_000, 800_000))
    assert long < 1 or long < 24 * short


def _seconds(text: str, name: str) -> float:
    start = time.process_time()
    formats.read(text, name)
    return time.process_time() - start
