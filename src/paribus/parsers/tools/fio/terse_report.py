"""Reader of fio's --minimal lines, terse versions 2 to 5."""

import re

from paribus.parsers.log import LogReading, LogRun
from paribus.parsers.numbers import number
from paribus.parsers.tools.fio.fio_job import Sheet, percentile, run

_BEGINS = re.compile(r"(?:[345];fio-[^;]{1,60};|2;)[^;]*;[0-9]+;[0-9]+;")
_PERCENTILES = 20
_TIMES = ("min", "max", "mean", "stddev")
# stat.c, show_ddir_status_terse: KiB, KiB/s, 1/s, ms; all times in µs, in 3.x too; KiB/s again.
_ONE_SIDE = 4 + 4 + 4 + _PERCENTILES + 4 + 5
_MORE_IN_5 = 6
_SHARE = re.compile(r"[0-9]+\.[0-9]+%")
_AFTER = (2, 3, 7 + 10 + 12)  # CPU shares; context switches and faults; distributions of depths and times as shares


def recognises(text: str) -> float:
    """Score by the first fields of a line."""
    return 0.9 if any(_BEGINS.match(line) for line in text.splitlines()) else 0.0


def runs(lines: list[tuple[int, str]]) -> tuple[list[LogRun], list[tuple[int, str]]]:
    """Return the jobs, one per line, and the other lines."""
    job_runs: list[LogRun] = []
    other_lines: list[tuple[int, str]] = []
    for line, text in lines:
        job_run = _run(line, text) if _BEGINS.match(text) else None
        if job_run is None:
            other_lines.append((line, text))
        else:
            job_runs.append(job_run)
    return job_runs, other_lines


def _run(line: int, text: str) -> LogRun | None:
    """Return the run of a line; None if the fields do not fit the version."""
    fields = text.split(";")
    version = int(fields[0])
    head = 4 if version == 2 else 5
    size = _ONE_SIDE + (_MORE_IN_5 if version == 5 else 0)
    sides, cut = _sides(fields, head, size, version)
    sheet = Sheet(complete=not cut)
    for index, side in enumerate(sides):
        _side(sheet, side, fields[head + index * size : head + (index + 1) * size], line)
    if cut and not sheet.sides:
        return None
    error = number(fields[head - 1])
    if error:
        sheet.extra.append(
            LogReading(metric="error_code", value=error, unit="count", line=line, stated=fields[head - 1])
        )
    return run(
        sheet,
        version="" if version == 2 else fields[1].removeprefix("fio-"),
        options={"terse-version": fields[0]},
        job=fields[head - 3],
        jobs=0,  # the number of jobs is not stated
        lines=(line, line),
        missing=f"line {line} breaks off" if cut else "",
    )


def _sides(fields: list[str], head: int, size: int, version: int) -> tuple[tuple[str, ...], bool]:
    """Return the directions of a line, located by the CPU shares after them, and whether the line is cut."""
    usual = ("read", "write") if version == 3 else ("read", "write", "trim")
    for sides in (usual, ("mixed",), (*usual, "mixed"), ("read", "write")):
        position = head + len(sides) * size
        shares = [
            *fields[position : position + _AFTER[0]],
            *fields[position + _AFTER[0] + _AFTER[1] : position + sum(_AFTER)],
        ]
        if len(shares) == _AFTER[0] + _AFTER[2] and all(_SHARE.fullmatch(share) for share in shares):
            return sides, False
    whole = max(0, (len(fields) - 1 - head) // size)  # the last field may be cut
    return usual[:whole], True


def _side(sheet: Sheet, side: str, fields: list[str], line: int) -> None:
    scales = (
        ("bytes", 1 / 1024, " KiB"),
        ("bytes_per_s", 1 / 1024, " KiB/s"),
        ("rate", 1.0, ""),
        ("duration_s", 1e3, " ms"),
    )
    for (name, per, unit), word in zip(scales, fields, strict=False):
        _put(sheet, side, name, word, per, unit, line)
    blocks = (("submission", 4), ("completion", 8), ("response", 12 + _PERCENTILES))
    for time_name, start in blocks:
        words = fields[start : start + 4]
        if number(words[1]) == 0 and number(words[2]) == 0:
            continue  # no operation was timed
        for part, word in zip(_TIMES, words, strict=True):
            _put(sheet, side, f"{time_name}_{part}_s", word, 1e6, " us", line)
    for pair in fields[12 : 12 + _PERCENTILES]:
        share_text, _sign, word = pair.partition("%=")
        share = number(share_text)
        if share is not None and 1 <= share <= 100:
            _put(sheet, side, percentile(share), word, 1e6, " us", line)


def _put(sheet: Sheet, side: str, name: str, word: str, per: float, unit: str, line: int) -> None:
    value = number(word)
    if value is not None and value >= 0:
        sheet.put(side, name, value / per, line, f"{word}{unit}")
