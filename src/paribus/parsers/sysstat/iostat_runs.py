"""Conversion of one start of iostat into a run: reports as time series, the one since boot separate."""

from dataclasses import dataclass, field

from paribus.parsers.log import LogRun
from paribus.parsers.sysstat.iostat_columns import version
from paribus.parsers.sysstat.samples import SINCE_BOOT, Clock, Samples, SysstatColumn, stacked


@dataclass(slots=True)
class IostatReport:
    """One sample of processors and devices."""

    first: int
    at: int | None = None
    parts: set[str] = field(default_factory=set)
    devices: set[str] = field(default_factory=set)
    grouped: bool = False  # -g: a device may belong to several groups
    rows: list[tuple[SysstatColumn, str, float, int, str]] = field(default_factory=list)


@dataclass(slots=True)
class Start:
    """Everything read from one start of iostat; `banner` if its first line was read, `skips_first` if -y was given."""

    first: int
    last: int
    options: dict[str, str] = field(default_factory=dict)
    columns: set[str] = field(default_factory=set)
    reports: list[IostatReport] = field(default_factory=list)
    banner: bool = False
    skips_first: bool = False
    interval_s: float | None = None
    missing: str = ""


def run(start: Start) -> tuple[LogRun, list[str]]:
    """Return the reports as time series, and remarks on them."""
    remarks: list[str] = []
    reports = [report for report in start.reports if report.rows]
    clocks = Clock()
    times = [None if report.at is None else clocks.after(report.at) for report in reports]
    after_first = bool(reports) and start.banner and not start.skips_first
    alone = after_first and len(reports) == 1
    if alone:
        remarks.append(f"the only report (line {reports[0].first}) is of the time since boot, unless -y was given")
    elif after_first:
        first_line = reports.pop(0).first
        remarks.append(
            f"the first report (line {first_line}) is of the time since boot, unless -y was given, and is left out"
        )
        times = times[1:]
    elif len(reports) > 1 and not start.skips_first:
        remarks.append(
            f"iostat's first line is not there: what begins in line {reports[0].first} may be of the time since boot"
        )
    step_s = start.interval_s
    if len(times) > 1 and times[0] is not None and times[1] is not None:
        step_s = times[1] - times[0]
    samples = Samples()
    for index, (report, at) in enumerate(zip(reports, times, strict=True)):
        if at is None:
            if report.at is not None:
                remarks.append(f"the report in line {report.first} is not later than the one before, and is left out")
                continue
            at_s = (index + 1) * (step_s or 1.0)
        else:
            at_s = at if after_first else at + (step_s or 0.0)
        for column, subject, value, number, word in report.rows:
            samples.add(column, subject, at_s, value, number, word)
    if reports and step_s is None and len(reports) > 1:
        remarks.append("the interval is not stated: the times of samples count reports")
    devices = {
        subject for report in start.reports for _column, subject, _value, _number, _word in report.rows if subject
    }
    log_run = LogRun(
        tool="iostat",
        workload=SINCE_BOOT if alone else "",
        version=version(start.columns),
        options=start.options,
        readings=samples.readings(),
        courses=samples.courses(),
        lines=(start.first, start.last),
        missing=start.missing,
    )
    return log_run, remarks + stacked(devices)
