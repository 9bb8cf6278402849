"""mpstat of sysstat: how much of each processor was used, and its interrupts."""

import re

from paribus.parsers.json_lines import text_of
from paribus.parsers.log import Log, LogRun
from paribus.parsers.plain import ends_of, tool_lines
from paribus.parsers.repeats import once
from paribus.parsers.sysstat import sysstat_json, timed_tables
from paribus.parsers.sysstat.samples import CPU, Clock, Samples, SysstatColumn, clock

FORMAT = "mpstat"

_COLUMNS = {**CPU, "intr/s": SysstatColumn("interrupts_per_s", "1/s")}
_HEAD = re.compile(
    r"^[ \t]*[^\s<]\S*(?: [AP]M)? +(?:CPU|NODE) +(?:CORE +SOCK +NODE +)?"
    r"(?:%us(?:er|r) +%nice +%sys +%iowait +%irq|intr/s)",
    re.MULTILINE,
)


def recognises(text: str) -> float:
    """By the head of its table, which unlike that of sar has %irq after %iowait."""
    if sysstat_json.is_json(text):
        ends = ends_of(text)
        of_sadf = '"file-date"' in ends
        return 0.92 if not of_sadf and ('"cpu-load"' in ends or '"interrupts"' in ends) else 0.0
    return 0.92 if _HEAD.search(ends_of(text)) else 0.0


def read(text: str) -> Log:
    """Each processor's course, the whole machine's without a subject; averages are readings."""
    if not sysstat_json.is_json(text):
        return timed_tables.read(text, FORMAT, _COLUMNS)
    machines, besides = sysstat_json.machines(tool_lines(text))
    runs, copies = once(map(_run, machines))
    return Log(format=FORMAT, runs=tuple(runs), not_understood=tuple(besides), remarks=tuple(copies))


def _run(machine: sysstat_json.Machine) -> LogRun:
    """The looks at processors that JSON has."""
    samples, clocks = Samples(), Clock()
    times = [clock(one.timestamp[-11:].lstrip()) or clock(one.timestamp) for one in machine.statistics]
    at = [None if one is None else clocks.after(one[0]) for one in times]
    step = at[1] if len(at) > 1 and at[1] is not None else 0.0  # the first is of the time before it, as all others are
    for seen, later in zip(machine.statistics, at, strict=True):
        for table, row in seen.rows if later is not None else ():
            processor = text_of(row.get("cpu"))
            if table not in ("cpu-load", "sum-interrupts") or not processor:
                continue
            subject = "" if processor == "all" else f"cpu{processor}"
            for name, leaf in sysstat_json.numbers(row, _COLUMNS):
                value = _COLUMNS[name].value(leaf.word)
                if value is not None and later is not None:
                    samples.add(_COLUMNS[name], subject, later + step, value, leaf.line, leaf.word)
    return LogRun(
        tool=FORMAT,
        options=machine.options,
        readings=samples.readings(),
        courses=samples.courses(),
        lines=machine.lines,
        missing=machine.missing,
    )
