"""iostat of sysstat, plain and extended (-x), for people (-h) and as JSON, with the columns of versions 9 to 12."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from paribus.parsers.json_lines import text_of
from paribus.parsers.log import Log, LogRun
from paribus.parsers.numbers import printed
from paribus.parsers.plain import ends_of, tool_lines, unended
from paribus.parsers.repeats import once
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
    """By the heads of its tables."""
    ends = ends_of(text)
    devices = re.search(r"^Device:? +.*(?:%util|_wrtn|_w\+d|kB/s|MB/s)", ends, re.MULTILINE) or re.search(
        r"^ +(?:tps|r/s) .*Device\s*$", ends, re.MULTILINE
    )
    cpu = "avg-cpu:" in ends
    if sysstat_json.is_json(text):
        return 0.95 if '"avg-cpu"' in ends or '"disk_device"' in ends else 0.0
    return 0.95 if devices and cpu else 0.85 if devices else 0.7 if cpu else 0.0


def read(text: str) -> Log:
    """Each device's and the processors' course; the first report is of the time since boot and no sample."""
    lines = tool_lines(text)
    reader = _Reader(lines)
    if sysstat_json.is_json(text):
        reader.texts, rest = _json(lines)
    else:
        cut = unended(text, lines)
        rest = [(number, line) for number, line in enumerate(lines, 1) if not reader.line(number, line, number == cut)]
    runs: list[LogRun] = []
    remarks: list[str] = []
    for one in reader.texts:
        if one.reports:
            made, told = run(one)
            runs.append(made)
            remarks += told
    if reader.unread:
        remarks.append(f"columns that are not read: {', '.join(sorted(reader.unread))}")
    runs, copies = once(runs)
    remarks += copies
    return Log(format=FORMAT, runs=tuple(runs), not_understood=tuple(rest), remarks=tuple(dict.fromkeys(remarks)))


@dataclass(slots=True)
class _Reader:
    """A line after the other."""

    lines: list[str]
    texts: list[Start] = field(default_factory=list)
    called: tuple[bool, float | None] = (False, None)
    header: list[str] = field(default_factory=list)
    heading: str = ""
    device: str = ""  # a name so long that its numbers are on the next line
    unread: set[str] = field(default_factory=set)

    def line(self, number: int, line: str, unended: bool) -> bool:
        """Whether the line is one of iostat's."""
        words = line.split()
        if not words:
            return True
        if (machine := banner(line)) is not None:
            self._begin(number, banner=True)
            self.texts[-1].options.update(machine)
            self.texts[-1].skips_first |= self._skips(number)
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
        understood = bool(self.header) and self._row(number, line, words, unended)
        if not understood and self.texts and unended:
            self.texts[-1].missing = f"line {number} breaks off"
        return understood

    def _skips(self, number: int) -> bool:
        """Whether -y was given: where the report since boot would be, it leaves a second blank line (until 12.6)."""
        after = [bool(line.strip()) for line in self.lines[number : number + 4]]
        return after == [False, False, True, True]

    def _begin(self, number: int, *, banner: bool) -> None:
        skips, interval = self.called
        self.called = (False, None)
        self.texts.append(Start(first=number, last=number, banner=banner, skips_first=skips, interval_s=interval))
        self.header = []

    def _call(self, arguments: list[str]) -> None:
        short = [one for one in arguments if one.startswith("-") and not one.startswith("--")]
        numbers = [value for one in arguments if (value := printed(one)) is not None and value > 0]
        self.called = (any("y" in one for one in short), numbers[0] if numbers else None)

    def _report(self, number: int) -> IostatReport:
        """The report that a line begins, unless the one before has nothing yet."""
        if not self.texts:
            self._begin(number, banner=False)
        now = self.texts[-1]
        if not now.reports or now.reports[-1].parts:
            now.reports.append(IostatReport(first=number))
        return now.reports[-1]

    def _head(self, number: int, line: str, words: list[str], part: str) -> bool:
        if not self.texts:
            self._begin(number, banner=False)
        now = self.texts[-1]
        name = part + " ".join(words)
        seen = now.reports[-1].parts if now.reports else {name}
        if name in seen or (part == "cpu" and seen):
            self._report(number)
        now.reports[-1].parts.add(name)
        now.last = number
        self.header, self.heading, self.device = words, line, ""
        known = CPU if part == "cpu" else COLUMNS
        self.unread |= {word for word in words if word not in known and word.rstrip(":") != "Device"}
        now.columns |= set(words)
        return True

    def _row(self, number: int, line: str, words: list[str], unended: bool) -> bool:
        """The numbers of the processors, or of a device."""
        now = self.texts[-1]
        report = now.reports[-1]
        cpu = "%idle" in self.header or "%iowait" in self.header
        columns = [one for one in self.header if one.rstrip(":") != "Device"]
        values, subject = words, ""
        if not cpu:
            if len(words) == 1 and printed(words[0]) is None and not unended:
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
            return False  # of another table: no device is a number
        known = CPU if cpu else COLUMNS
        named_last = not cpu and self.header[-1] == "Device"  # then it is the name that may be cut
        if len(values) != len(columns) or (unended and (named_last or not whole(values, line, self.heading))):
            return False
        read = [
            (known[name], known[name].value(word), word)
            for name, word in zip(columns, values, strict=True)
            if name in known
        ]
        if any(value is None for _column, value, _word in read):
            return False
        if not cpu:
            report = self._of_device(report, number, subject, line)
        report.rows += [(column, subject, value, number, word) for column, value, word in read if value is not None]
        now.last = number
        return True

    def _of_device(self, report: IostatReport, number: int, device: str, line: str) -> IostatReport:
        """The report that the device's line is of: another, where it has the device already, as after `grep sda`."""
        report.grouped |= line[:1].isspace()
        if device in report.devices and not report.grouped:
            report = IostatReport(first=number, parts=set(report.parts))
            self.texts[-1].reports.append(report)
        report.devices.add(device)
        return report


def _time(line: str) -> int | None:
    """The time of day that a line consists of, with or without a date before it."""
    match = _DATE.fullmatch(line.strip())
    at = clock(re.sub(r"[+-][0-9]{4}$", "", match["clock"])) if match else None
    return at[0] if at and match and len(match["clock"]) - at[1] <= 5 else None


def _json(lines: list[str]) -> tuple[list[Start], list[tuple[int, str]]]:
    """What JSON says, put as tables are."""
    machines, besides = sysstat_json.machines(lines)
    starts = []
    for one in machines:
        reports = []
        columns: set[str] = set()
        for seen in one.statistics:
            report = IostatReport(first=seen.line, at=_time(seen.timestamp))
            for table, row in seen.rows:
                known: Mapping[str, SysstatColumn] = CPU if table == "avg-cpu" else COLUMNS
                device = text_of(row.get("disk_device")).strip()
                for name, leaf in sysstat_json.numbers(row, known):
                    columns.add(name)
                    value = known[name].value(leaf.word)
                    if value is not None:
                        report.rows.append((known[name], device, value, leaf.line, leaf.word))
            reports.append(report)
        first, last = one.lines
        start = Start(first=first, last=last, options=dict(one.options), columns=columns, reports=reports)
        start.banner, start.missing = True, one.missing
        starts.append(start)
    return starts, besides
