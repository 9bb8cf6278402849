"""Reader of vmstat of procps: also wide (-w), with timestamps (-t) and active memory (-a)."""

import re
from dataclasses import dataclass, field

from paribus.parsers.log import Log, LogRun
from paribus.parsers.numbers import number as whole_number
from paribus.parsers.plain import ends_of, tool_lines, unterminated_line
from paribus.parsers.repeats import drop_copies
from paribus.parsers.sysstat.samples import SINCE_BOOT, Clock, Samples, SysstatColumn, clock, shares, sizes

FORMAT = "vmstat"

_HEAD = re.compile(r"^ *r +b +swpd +free .*\bbi +bo +in +cs +us +sy +id\b.*$", re.MULTILINE)
_TITLE = re.compile(r" *-*procs-* *-+.*")
_CALL = re.compile(r"(?:.{0,80}[#$>]\s*)?(?:\S*/)?vmstat(?P<arguments>(?: +\S+)*) *")
_COLUMNS: dict[str, SysstatColumn] = {
    "r": SysstatColumn("running_tasks", "count"),
    "b": SysstatColumn("blocked_tasks", "count"),
    # bi and bo count blocks of 1024 bytes since Linux 2.6, regardless of -S (vmstat(8)).
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
    """Score by the head of the table."""
    return 0.95 if _HEAD.search(ends_of(text)) else 0.0


def read(text: str) -> Log:
    """Read the time series of the machine; the first line covers the time since boot and is no sample."""
    lines = tool_lines(text)
    cut = unterminated_line(text, lines)
    starts: list[_Start] = []
    unread: list[tuple[int, str]] = []
    call: tuple[bool, float | None] | None = None
    last = 0  # the last line that is neither blank nor a title
    for number, line in enumerate(lines, 1):
        if not line.strip() or _TITLE.fullmatch(line):
            continue
        if _HEAD.fullmatch(line):
            columns = [word for word in line.split() if word in _NUMBERS]
            if not starts or call is not None or not _is_repeated_head(starts[-1], columns, number, last, lines):
                starts.append(_Start(number, number, columns, *(call or (False, None))))
                call = None
        elif "vmstat" in line and (match := _CALL.fullmatch(line)):
            call = _call(match["arguments"].split())
        elif not starts or not _row(starts[-1], number, line, number == cut, lines[last - 1]):
            unread.append((number, line))
        last = number
    results = [_run(start) for start in starts if start.rows]
    runs, copies = drop_copies(run for run, _remarks in results)
    remarks = [*(remark for _run, remarks in results for remark in remarks), *copies]
    if results:
        remarks.append("memory and swap (swpd to so) are not read: their unit is chosen by -S and is not printed")
    return Log(
        format=FORMAT,
        runs=tuple(runs),
        not_understood=tuple(unread),
        remarks=tuple(dict.fromkeys(remarks)),
    )


def _call(arguments: list[str]) -> tuple[bool, float | None]:
    numbers = [value for argument in arguments if (value := whole_number(argument)) is not None and value > 0]
    skips = any(
        argument == "--no-first" or (argument.startswith("-") and not argument.startswith("--") and "y" in argument)
        for argument in arguments
    )
    return skips, numbers[0] if numbers else None


def _is_repeated_head(start: _Start, columns: list[str], number: int, last: int, lines: list[str]) -> bool:
    """Return whether vmstat repeated the head while running: right after numbers, not before the first ones."""
    following = next((line.split() for line in lines[number:] if line), [])
    restarts = bool(start.rows) and following == lines[start.rows[0][0] - 1].split()
    return columns == start.columns and bool(start.rows) and start.rows[-1][0] == last and not restarts


def _row(start: _Start, number: int, line: str, unterminated: bool, previous_line: str) -> bool:
    """Read the numbers of a line; with -t a date and a time follow them."""
    words = line.split()
    values, suffix = words[: len(start.columns)], words[len(start.columns) :]
    at = clock(suffix[1]) if len(suffix) in (2, 3) and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", suffix[0]) else None
    short = unterminated and len(line) < len(previous_line) if not suffix else False  # numbers are right-aligned
    if len(values) < len(start.columns) or (suffix and at is None) or short:
        if unterminated:
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
    offset_s = 0.0
    alone = not start.skips_first and len(rows) == 1
    since = f"(line {rows[0][0]}) is of the time since boot, unless -y was given"
    if alone:
        remarks.append(f"the only line of numbers {since}")
    elif not start.skips_first:
        remarks.append(f"the first line of numbers {since}, and is left out")
        rows, times = rows[1:], times[1:]
    elif len(times) > 1 and times[0] is not None and times[1] is not None:
        offset_s = times[1] - times[0]
    samples = Samples()
    for index, ((number, values, at), time_s) in enumerate(zip(rows, times, strict=True)):
        if at is not None and time_s is None:
            remarks.append(f"line {number} is of a time that was told before, and is left out")
            continue
        at_s = (index + 1) * (start.interval_s or 1.0) if time_s is None else time_s + offset_s
        for name, word in zip(start.columns, values, strict=True):
            value = _COLUMNS[name].value(word) if name in _COLUMNS else None
            if value is not None:
                samples.add(_COLUMNS[name], "", at_s, value, number, word)
    if len(rows) > 1 and start.interval_s is None and times[0] is None:
        remarks.append("the interval is not stated: the times of samples count lines")
    log_run = LogRun(
        tool="vmstat",
        workload=SINCE_BOOT if alone else "",
        readings=samples.readings(),
        courses=samples.courses(),
        lines=(start.first, start.last),
        missing=start.missing,
    )
    return log_run, remarks
