"""Reader of mpstat of sysstat: utilisation of each processor, and its interrupts."""

import re

from paribus.parsers.json_lines import text_of
from paribus.parsers.log import Log, LogRun
from paribus.parsers.plain import ends_of, tool_lines
from paribus.parsers.repeats import drop_copies
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
    """Score by the head of the table, which has %irq after %iowait, unlike that of sar."""
    if sysstat_json.is_json(text):
        ends = ends_of(text)
        of_sadf = '"file-date"' in ends
        return 0.92 if not of_sadf and ('"cpu-load"' in ends or '"interrupts"' in ends) else 0.0
    return 0.92 if _HEAD.search(ends_of(text)) else 0.0


def read(text: str) -> Log:
    """Read the time series of each processor; those of the whole machine have no subject. Averages are readings."""
    if not sysstat_json.is_json(text):
        return timed_tables.read(text, FORMAT, _COLUMNS)
    machines, other_lines = sysstat_json.machines(tool_lines(text))
    runs, copies = drop_copies(map(_run, machines))
    return Log(format=FORMAT, runs=tuple(runs), not_understood=tuple(other_lines), remarks=tuple(copies))


def _run(machine: sysstat_json.Machine) -> LogRun:
    """Return the run of a machine in a JSON document."""
    samples, clocks = Samples(), Clock()
    times = [
        clock(statistic.timestamp[-11:].lstrip()) or clock(statistic.timestamp) for statistic in machine.statistics
    ]
    times_s = [None if time is None else clocks.after(time[0]) for time in times]
    step_s = (
        times_s[1] if len(times_s) > 1 and times_s[1] is not None else 0.0
    )  # each sample covers the interval before it
    for statistic, time_s in zip(machine.statistics, times_s, strict=True):
        for table, row in statistic.rows if time_s is not None else ():
            processor = text_of(row.get("cpu"))
            if table not in ("cpu-load", "sum-interrupts") or not processor:
                continue
            subject = "" if processor == "all" else f"cpu{processor}"
            for name, leaf in sysstat_json.numbers(row, _COLUMNS):
                value = _COLUMNS[name].value(leaf.word)
                if value is not None and time_s is not None:
                    samples.add(_COLUMNS[name], subject, time_s + step_s, value, leaf.line, leaf.word)
    return LogRun(
        tool=FORMAT,
        options=machine.options,
        readings=samples.readings(),
        courses=samples.courses(),
        lines=machine.lines,
        missing=machine.missing,
    )
