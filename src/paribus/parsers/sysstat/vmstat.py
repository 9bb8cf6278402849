"""vmstat of procps, also wide (-w), with timestamps (-t) and active memory (-a)."""

import re
from dataclasses import dataclass, field

from paribus.parsers.log import Log, LogRun
from paribus.parsers.numbers import number as whole_number
from paribus.parsers.plain import ends_of, tool_lines, unended
from paribus.parsers.repeats import once
from paribus.parsers.sysstat.samples import SINCE_BOOT, Clock, Samples, SysstatColumn, clock, shares, sizes

FORMAT = "vmstat"

_HEAD = re.compile(r"^ *r +b +swpd +free .*\bbi +bo +in +cs +us +sy +id\b.*$", re.MULTILINE)
_TITLE = re.compile(r" *-*procs-* *-+.*")
_CALL = re.compile(r"(?:.{0,80}[#$>]\s*)?(?:\S*/)?vmstat(?P<arguments>(?: +\S+)*) *")
_COLUMNS: dict[str, SysstatColumn] = {
    "r": SysstatColumn("running_tasks", "count"),
    "b": SysstatColumn("blocked_tasks", "count"),
    # bi and bo are in blocks of 1024 bytes on every Linux since 2.6, whatever -S says (vmstat(8)).
    **sizes({"bi": "device_read_bytes_per_s", "bo": "device_written_bytes_per_s"}, 1024.0),
    "in": SysstatColumn("interrupts_per_s", "1/s"),
    "cs": SysstatColumn("context_switches_per_s", "1/s"),
    **shares(
        {
            "us": "cpu_user_share",
            "sy": "cpu_system_share",
            "id": "cpu_idle_share",
            "wa": "iowait_share",
            "st": "cpu_steal_share",
            "gu": "cpu_guest_share",
        }
    ),
}
_NUMBERS = ("r", "b", "swpd", "free", "buff", "cache", "inact", "active", "si", "so", *_COLUMNS)


@dataclass(slots=True)
class _Start:
    """One start of vmstat."""

    first: int
    last: int
    columns: list[str]
    skips_first: bool
    interval_s: float | None
    rows: list[tuple[int, list[str], int | None]] = field(default_factory=list)
    missing: str = ""


def recognises(text: str) -> float:
    """By the head of its table."""
    return 0.95 if _HEAD.search(ends_of(text)) else 0.0


def read(text: str) -> Log:
    """The machine's course; the first line is of the time since boot and no sample."""
    lines = tool_lines(text)
    cut = unended(text, lines)
    starts: list[_Start] = []
    rest: list[tuple[int, str]] = []
    called: tuple[bool, float | None] | None = None
    last = 0  # line that says something and is no title
    for number, line in enumerate(lines, 1):
        if not line.strip() or _TITLE.fullmatch(line):
            continue
        if _HEAD.fullmatch(line):
            columns = [word for word in line.split() if word in _NUMBERS]
            if not starts or called is not None or not _goes_on(starts[-1], columns, number, last, lines):
                starts.append(_Start(number, number, columns, *(called or (False, None))))
                called = None
        elif "vmstat" in line and (match := _CALL.fullmatch(line)):
            called = _call(match["arguments"].split())
        elif not starts or not _row(starts[-1], number, line, number == cut, lines[last - 1]):
            rest.append((number, line))
        last = number
    told = [_run(one) for one in starts if one.rows]
    runs, copies = once(run for run, _remarks in told)
    remarks = [*(remark for _run, remarks in told for remark in remarks), *copies]
    if told:
        remarks.append("memory and swap (swpd to so) are not read: their unit is chosen by -S and is not printed")
    return Log(
        format=FORMAT,
        runs=tuple(runs),
        not_understood=tuple(rest),
        remarks=tuple(dict.fromkeys(remarks)),
    )


def _call(arguments: list[str]) -> tuple[bool, float | None]:
    numbers = [value for one in arguments if (value := whole_number(one)) is not None and value > 0]
    skips = any(
        one == "--no-first" or (one.startswith("-") and not one.startswith("--") and "y" in one) for one in arguments
    )
    return skips, numbers[0] if numbers else None


def _goes_on(start: _Start, columns: list[str], number: int, last: int, lines: list[str]) -> bool:
    """Whether a head is one that vmstat repeats while it runs: right after its numbers, and not before the first."""
    following = next((line.split() for line in lines[number:] if line), [])
    again = bool(start.rows) and following == lines[start.rows[0][0] - 1].split()
    return columns == start.columns and bool(start.rows) and start.rows[-1][0] == last and not again


def _row(start: _Start, number: int, line: str, unended: bool, before: str) -> bool:
    """The numbers of a line, which with -t end with a date and a time."""
    words = line.split()
    values, more = words[: len(start.columns)], words[len(start.columns) :]
    at = clock(more[1]) if len(more) in (2, 3) and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", more[0]) else None
    short = unended and len(line) < len(before) if not more else False  # numbers are aligned to the right
    if len(values) < len(start.columns) or (more and at is None) or short:
        if unended:
            start.missing = f"line {number} breaks off"
        return False
    if any(whole_number(word) is None for word in values):
        return False
    start.rows.append((number, values, at[0] if at else None))
    start.last = number
    return True


def _run(start: _Start) -> tuple[LogRun, list[str]]:
    remarks: list[str] = []
    rows = start.rows
    clocks = Clock()
    times = [None if at is None else clocks.after(at) for _number, _values, at in rows]
    begun = 0.0
    alone = not start.skips_first and len(rows) == 1
    since = f"(line {rows[0][0]}) is of the time since boot, unless -y was given"
    if alone:
        remarks.append(f"the only line of numbers {since}")
    elif not start.skips_first:
        remarks.append(f"the first line of numbers {since}, and is left out")
        rows, times = rows[1:], times[1:]
    elif len(times) > 1 and times[0] is not None and times[1] is not None:
        begun = times[1] - times[0]
    samples = Samples()
    for index, ((number, values, at), later) in enumerate(zip(rows, times, strict=True)):
        if at is not None and later is None:
            remarks.append(f"line {number} is of a time that was told before, and is left out")
            continue
        at_s = (index + 1) * (start.interval_s or 1.0) if later is None else later + begun
        for name, word in zip(start.columns, values, strict=True):
            value = _COLUMNS[name].value(word) if name in _COLUMNS else None
            if value is not None:
                samples.add(_COLUMNS[name], "", at_s, value, number, word)
    if len(rows) > 1 and start.interval_s is None and times[0] is None:
        remarks.append("the interval is not stated: the times of samples count lines")
    made = LogRun(
        tool="vmstat",
        workload=SINCE_BOOT if alone else "",
        readings=samples.readings(),
        courses=samples.courses(),
        lines=(start.first, start.last),
        missing=start.missing,
    )
    return made, remarks
