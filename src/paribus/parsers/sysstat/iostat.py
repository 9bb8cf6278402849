"""Reader of iostat of sysstat 9 to 12: plain, extended (-x), human-readable (-h) and JSON."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from paribus.parsers.json_lines import text_of
from paribus.parsers.log import Log, LogRun
from paribus.parsers.numbers import printed
from paribus.parsers.plain import ends_of, tool_lines, unterminated_line
from paribus.parsers.repeats import drop_copies
from paribus.parsers.sysstat import sysstat_json
from paribus.parsers.sysstat.iostat_columns import COLUMNS
from paribus.parsers.sysstat.iostat_runs import IostatReport, Start, run
from paribus.parsers.sysstat.samples import CPU, SysstatColumn, banner, clock, whole

FORMAT = "iostat"

_CALL = re.compile(r"(?:.{0,80}[#$>]\s*)?(?:\S*/)?iostat(?P<arguments>(?: +\S+)*) *")
_DATE = re.compile(
    r"(?:[^\W\d]{1,12} ?[:：] ?)?"  # Time:, Heure :, 時間:
    r"(?:[0-9]{1,4}[./年년-]\s?[0-9]{1,2}[./月월-]\s?[0-9]{1,4}\.?[日일]?[ T])?(?P<clock>\S.*)"
)


def recognises(text: str) -> float:
    """Score by the heads of the tables."""
    ends = ends_of(text)
    devices = re.search(r"^Device:? +.*(?:%util|_wrtn|_w\+d|kB/s|MB/s)", ends, re.MULTILINE) or re.search(
        r"^ +(?:tps|r/s) .*Device\s*$", ends, re.MULTILINE
    )
    cpu = "avg-cpu:" in ends
    if sysstat_json.is_json(text):
        return 0.95 if '"avg-cpu"' in ends or '"disk_device"' in ends else 0.0
    return 0.95 if devices and cpu else 0.85 if devices else 0.7 if cpu else 0.0


def read(text: str) -> Log:
    """Read the time series of each device and of the processors; the report since boot is no sample."""
    lines = tool_lines(text)
    reader = _Reader(lines)
    if sysstat_json.is_json(text):
        reader.starts, unread = _json(lines)
    else:
        cut = unterminated_line(text, lines)
        unread = [
            (number, line) for number, line in enumerate(lines, 1) if not reader.line(number, line, number == cut)
        ]
    runs: list[LogRun] = []
    remarks: list[str] = []
    for start in reader.starts:
        if start.reports:
            log_run, run_remarks = run(start)
            runs.append(log_run)
            remarks += run_remarks
    if reader.unread:
        remarks.append(f"columns that are not read: {', '.join(sorted(reader.unread))}")
    runs, copies = drop_copies(runs)
    remarks += copies
    return Log(format=FORMAT, runs=tuple(runs), not_understood=tuple(unread), remarks=tuple(dict.fromkeys(remarks)))


@dataclass(slots=True)
class _Reader:
    """Line-by-line reader."""

    lines: list[str]
    starts: list[Start] = field(default_factory=list)
    called: tuple[bool, float | None] = (False, None)
    header: list[str] = field(default_factory=list)
    heading: str = ""
    device: str = ""  # a long name whose numbers follow on the next line
    unread: set[str] = field(default_factory=set)

    def line(self, number: int, line: str, unterminated: bool) -> bool:
        """Return whether iostat printed the line."""
        words = line.split()
        if not words:
            return True
        if (machine := banner(line)) is not None:
            self._begin(number, banner=True)
            self.starts[-1].options.update(machine)
            self.starts[-1].skips_first |= self._skips(number)
            return True
        if "iostat" in line and (match := _CALL.fullmatch(line)):
            self._call(match["arguments"].split())
            return True
        if words[0] == "avg-cpu:":
            return self._head(number, line, words[1:], "cpu")
        if words[0].rstrip(":") == "Device" or (words[-1] == "Device" and words[0] in COLUMNS):
            return self._head(number, line, words, "disk")
        if (at := _time(line)) is not None:
            self._report(number).at = at
            return True
        understood = bool(self.header) and self._row(number, line, words, unterminated)
        if not understood and self.starts and unterminated:
            self.starts[-1].missing = f"line {number} breaks off"
        return understood

    def _skips(self, number: int) -> bool:
        """Return whether -y was given: up to 12.6 it leaves an extra blank line in place of the report since boot."""
        after = [bool(line.strip()) for line in self.lines[number : number + 4]]
        return after == [False, False, True, True]

    def _begin(self, number: int, *, banner: bool) -> None:
        skips, interval = self.called
        self.called = (False, None)
        self.starts.append(Start(first=number, last=number, banner=banner, skips_first=skips, interval_s=interval))
        self.header = []

    def _call(self, arguments: list[str]) -> None:
        short = [argument for argument in arguments if argument.startswith("-") and not argument.startswith("--")]
        numbers = [value for argument in arguments if (value := printed(argument)) is not None and value > 0]
        self.called = (any("y" in argument for argument in short), numbers[0] if numbers else None)

    def _report(self, number: int) -> IostatReport:
        """Return the report that a line starts; the latest one if it is still empty."""
        if not self.starts:
            self._begin(number, banner=False)
        start = self.starts[-1]
        if not start.reports or start.reports[-1].parts:
            start.reports.append(IostatReport(first=number))
        return start.reports[-1]

    def _head(self, number: int, line: str, words: list[str], part: str) -> bool:
        if not self.starts:
            self._begin(number, banner=False)
        start = self.starts[-1]
        name = part + " ".join(words)
        printed_parts = start.reports[-1].parts if start.reports else {name}
        if name in printed_parts or (part == "cpu" and printed_parts):
            self._report(number)
        start.reports[-1].parts.add(name)
        start.last = number
        self.header, self.heading, self.device = words, line, ""
        definitions = CPU if part == "cpu" else COLUMNS
        self.unread |= {word for word in words if word not in definitions and word.rstrip(":") != "Device"}
        start.columns |= set(words)
        return True

    def _row(self, number: int, line: str, words: list[str], unterminated: bool) -> bool:
        """Read the numbers of the processors or of a device."""
        start = self.starts[-1]
        report = start.reports[-1]
        cpu = "%idle" in self.header or "%iowait" in self.header
        columns = [name for name in self.header if name.rstrip(":") != "Device"]
        values, subject = words, ""
        if not cpu:
            if len(words) == 1 and printed(words[0]) is None and not unterminated:
                self.device = words[0]
                return True
            if len(words) == len(columns) and self.device:
                subject = self.device
            elif self.header[-1] == "Device":
                subject, values = words[-1], words[:-1]
            else:
                subject, values = words[0], words[1:]
            self.device = ""
        if not cpu and printed(subject) is not None:
            return False  # belongs to another table: no device name is a number
        definitions = CPU if cpu else COLUMNS
        named_last = not cpu and self.header[-1] == "Device"  # the name is then the part that may be cut
        if len(values) != len(columns) or (unterminated and (named_last or not whole(values, line, self.heading))):
            return False
        cells = [
            (definitions[name], definitions[name].value(word), word)
            for name, word in zip(columns, values, strict=True)
            if name in definitions
        ]
        if any(value is None for _column, value, _word in cells):
            return False
        if not cpu:
            report = self._report_of_device(report, number, subject, line)
        report.rows += [(column, subject, value, number, word) for column, value, word in cells if value is not None]
        start.last = number
        return True

    def _report_of_device(self, report: IostatReport, number: int, device: str, line: str) -> IostatReport:
        """Return the report of a device's line; a new one if it already has the device, as after `grep sda`."""
        report.grouped |= line[:1].isspace()
        if device in report.devices and not report.grouped:
            report = IostatReport(first=number, parts=set(report.parts))
            self.starts[-1].reports.append(report)
        report.devices.add(device)
        return report


def _time(line: str) -> int | None:
    """Return the time of day, in seconds, of a line with only a time or a date and a time."""
    match = _DATE.fullmatch(line.strip())
    at = clock(re.sub(r"[+-][0-9]{4}$", "", match["clock"])) if match else None
    return at[0] if at and match and len(match["clock"]) - at[1] <= 5 else None


def _json(lines: list[str]) -> tuple[list[Start], list[tuple[int, str]]]:
    """Return JSON documents in the same form as tables."""
    machines, other_lines = sysstat_json.machines(lines)
    starts = []
    for machine in machines:
        reports = []
        columns: set[str] = set()
        for statistic in machine.statistics:
            report = IostatReport(first=statistic.line, at=_time(statistic.timestamp))
            for table, row in statistic.rows:
                definitions: Mapping[str, SysstatColumn] = CPU if table == "avg-cpu" else COLUMNS
                device = text_of(row.get("disk_device")).strip()
                for name, leaf in sysstat_json.numbers(row, definitions):
                    columns.add(name)
                    value = definitions[name].value(leaf.word)
                    if value is not None:
                        report.rows.append((definitions[name], device, value, leaf.line, leaf.word))
            reports.append(report)
        first, last = machine.lines
        start = Start(first=first, last=last, options=dict(machine.options), columns=columns, reports=reports)
        start.banner, start.missing = True, machine.missing
        starts.append(start)
    return starts, other_lines
