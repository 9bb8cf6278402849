"""iostat of sysstat, plain and extended (-x), with the columns of versions 9 to 12."""

import re
from dataclasses import dataclass, field

from ceteris.parsers.log import Log, Run
from ceteris.parsers.numbers import printed
from ceteris.parsers.repeats import once
from ceteris.parsers.samples import (
    COLOURS,
    CPU,
    SINCE_BOOT,
    Clock,
    Column,
    Samples,
    banner,
    clock,
    shares,
    sizes,
    stacked,
    unended,
    whole,
)

FORMAT = "iostat"

_READ, _WRITTEN, _GONE = "device_read_bytes", "device_written_bytes", "device_discarded_bytes"
_UNITS = {"kB": 1024.0, "MB": 1024.0**2, "Blk": 512.0, "sec": 512.0}
_CALL = re.compile(r"(?:.{0,80}[#$>]\s*)?(?:\S*/)?iostat(?P<arguments>(?: +\S+)*) *")
_DATE = re.compile(
    r"(?:Time: |Heure ?: )?(?:[0-9]{1,4}[./年-]\s?[0-9]{1,2}[./月-]\s?[0-9]{1,4}\.?日?[ T])?(?P<clock>\S.*)"
)
_COLUMNS: dict[str, Column] = {
    **{
        name: Column(metric, "1/s")
        for name, metric in {
            "tps": "device_operations_per_s",
            "r/s": "device_reads_per_s",
            "w/s": "device_writes_per_s",
            "d/s": "device_discards_per_s",
            "f/s": "device_flushes_per_s",
            "rqm/s": "device_merges_per_s",
            "rrqm/s": "device_read_merges_per_s",
            "wrqm/s": "device_write_merges_per_s",
            "drqm/s": "device_discard_merges_per_s",
        }.items()
    },
    **{
        name: Column(metric, "s", 0.001)
        for name, metric in {
            "await": "device_await_s",
            "r_await": "device_read_await_s",
            "w_await": "device_write_await_s",
            "d_await": "device_discard_await_s",
            "f_await": "device_flush_await_s",
            "svctm": "device_service_s",
        }.items()
    },
    **shares(
        {
            "%util": "device_utilisation",
            "%rrqm": "device_read_merges_share",
            "%wrqm": "device_write_merges_share",
            "%drqm": "device_discard_merges_share",
        }
    ),
    "avgqu-sz": Column("device_queue", "1"),
    "aqu-sz": Column("device_queue", "1"),
    "avgrq-sz": Column("device_request_bytes", "B", 512.0, size=True),  # in sectors until 11.5.7, then in KiB
    **sizes(
        {
            "areq-sz": "device_request_bytes",
            "rareq-sz": "device_read_request_bytes",
            "wareq-sz": "device_write_request_bytes",
            "dareq-sz": "device_discard_request_bytes",
        },
        1024.0,
        "B",
    ),
}
for _word, _times in _UNITS.items():
    _COLUMNS |= sizes({f"r{_word}/s": f"{_READ}_per_s", f"w{_word}/s": f"{_WRITTEN}_per_s"}, _times)
    _COLUMNS |= sizes({f"{_word}_read/s": f"{_READ}_per_s", f"{_word}_wrtn/s": f"{_WRITTEN}_per_s"}, _times)
    _COLUMNS |= sizes({f"d{_word}/s": f"{_GONE}_per_s", f"{_word}_dscd/s": f"{_GONE}_per_s"}, _times)
    _COLUMNS |= sizes({f"{_word}_read": _READ, f"{_word}_wrtn": _WRITTEN, f"{_word}_dscd": _GONE}, _times, "B")
    _COLUMNS |= sizes({f"{_word}/s": "device_bytes_per_s"}, _times)
    _COLUMNS |= sizes({f"{_word}_w+d/s": "device_written_or_discarded_bytes_per_s"}, _times)
    _COLUMNS |= sizes({f"{_word}_w+d": "device_written_or_discarded_bytes"}, _times, "B")
_VERSIONS = (
    ("f/s", "12.3 or newer"),
    ("d/s", "12.1 or newer"),
    ("areq-sz", "11.5.7 or newer"),
    ("rareq-sz", "11.5.7 or newer"),
)
"""What a column shows of the version, which iostat does not print; the first that is there."""
_OLD_VERSIONS = (("rareq-sz", "11.5.7 to 12.1"), ("r_await", "9.1.2 to 11.5.6"), ("svctm", "before 9.1.2"))


@dataclass(slots=True)
class _Report:
    """What stands together: one look at processors and devices."""

    first: int
    at: int | None = None
    parts: set[str] = field(default_factory=set)
    rows: list[tuple[Column, str, float, int, str]] = field(default_factory=list)


@dataclass(slots=True)
class _Text:
    """All that is read of one start of iostat."""

    first: int
    last: int
    options: dict[str, str] = field(default_factory=dict)
    columns: set[str] = field(default_factory=set)
    reports: list[_Report] = field(default_factory=list)
    banner: bool = False
    skips_first: bool = False
    interval_s: float | None = None
    missing: str = ""


def recognises(text: str) -> float:
    """By the heads of its tables."""
    ends = text[:8192] + text[-8192:]
    devices = re.search(r"^Device:? +.*(?:%util|_wrtn|_w\+d|kB/s|MB/s)", ends, re.MULTILINE) or re.search(
        r"^ +(?:tps|r/s) .*Device\s*$", ends, re.MULTILINE
    )
    cpu = "avg-cpu:" in ends
    return 0.95 if devices and cpu else 0.85 if devices else 0.7 if cpu else 0.0


def read(text: str) -> Log:
    """Each device's and the processors' course; the first report is of the time since boot and no sample."""
    lines = text.removeprefix("\ufeff").splitlines()
    reader = _Reader(lines)
    cut = unended(text, lines)
    rest = [(number, line) for number, line in enumerate(lines, 1) if not reader.line(number, line, number == cut)]
    runs: list[Run] = []
    remarks: list[str] = []
    for one in reader.texts:
        if one.reports:
            made, told = _run(one)
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
    texts: list[_Text] = field(default_factory=list)
    called: tuple[bool, float | None] = (False, None)
    header: list[str] = field(default_factory=list)
    heading: str = ""
    device: str = ""  # a name so long that its numbers are on the next line
    unread: set[str] = field(default_factory=set)

    def line(self, number: int, line: str, unended: bool) -> bool:
        """Whether the line is one of iostat's."""
        line = COLOURS.sub("", line)
        words = line.split()
        if not words:
            return True
        if (machine := banner(line)) is not None:
            self._begin(number, banner=True)
            self.texts[-1].options.update(machine)
            self.texts[-1].skips_first |= self._skips(number)
            return True
        if "iostat" in line and (found := _CALL.fullmatch(line)):
            self._call(found["arguments"].split())
            return True
        if words[0] == "avg-cpu:":
            return self._head(number, line, words[1:], "cpu")
        if words[0].rstrip(":") == "Device" or (words[-1] == "Device" and words[0] in _COLUMNS):
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
        self.texts.append(_Text(first=number, last=number, banner=banner, skips_first=skips, interval_s=interval))
        self.header = []

    def _call(self, arguments: list[str]) -> None:
        short = [one for one in arguments if one.startswith("-") and not one.startswith("--")]
        numbers = [value for one in arguments if (value := printed(one)) is not None and value > 0]
        self.called = (any("y" in one for one in short), numbers[0] if numbers else None)

    def _report(self, number: int) -> _Report:
        """The report that a line begins, unless the one before has nothing yet."""
        if not self.texts:
            self._begin(number, banner=False)
        now = self.texts[-1]
        if not now.reports or now.reports[-1].parts:
            now.reports.append(_Report(first=number))
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
        known = CPU if part == "cpu" else _COLUMNS
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
        known = CPU if cpu else _COLUMNS
        if len(values) != len(columns) or (unended and not whole(values, line, self.heading)):
            return False
        read = [
            (known[name], known[name].value(word), word)
            for name, word in zip(columns, values, strict=True)
            if name in known
        ]
        if any(value is None for _column, value, _word in read):
            return False
        report.rows += [(column, subject, value, number, word) for column, value, word in read if value is not None]
        now.last = number
        return True


def _time(line: str) -> int | None:
    """The time of day that a line consists of, with or without a date before it."""
    found = _DATE.fullmatch(line.strip())
    at = clock(re.sub(r"[+-][0-9]{4}$", "", found["clock"])) if found else None
    return at[0] if at and found and len(found["clock"]) - at[1] <= 5 else None


def _version(columns: set[str]) -> str:
    known = _OLD_VERSIONS if "svctm" in columns else _VERSIONS
    return next((version for column, version in known if column in columns), "")


def _run(text: _Text) -> tuple[Run, list[str]]:
    """The reports as courses, and what is to be told of them."""
    remarks: list[str] = []
    reports = [one for one in text.reports if one.rows]
    clocks = Clock()
    times = [None if one.at is None else clocks.after(one.at) for one in reports]
    after_first = bool(reports) and text.banner and not text.skips_first
    alone = after_first and len(reports) == 1
    if alone:
        remarks.append(f"the only report (line {reports[0].first}) is of the time since boot, unless -y was given")
    elif after_first:
        left = reports.pop(0).first
        remarks.append(
            f"the first report (line {left}) is of the time since boot, unless -y was given, and is left out"
        )
        times = times[1:]
    step = text.interval_s
    if len(times) > 1 and times[0] is not None and times[1] is not None:
        step = times[1] - times[0]
    samples = Samples()
    for index, (report, at) in enumerate(zip(reports, times, strict=True)):
        if at is None:
            if report.at is not None:
                remarks.append(f"the report in line {report.first} is not later than the one before, and is left out")
                continue
            at_s = (index + 1) * (step or 1.0)
        else:
            at_s = at if after_first else at + (step or 0.0)
        for column, subject, value, number, word in report.rows:
            samples.add(column, subject, at_s, value, number, word)
    if reports and step is None and len(reports) > 1:
        remarks.append("the interval is not stated: the times of samples count reports")
    devices = {
        subject for report in text.reports for _column, subject, _value, _number, _word in report.rows if subject
    }
    made = Run(
        tool="iostat",
        workload=SINCE_BOOT if alone else "",
        version=_version(text.columns),
        options=text.options,
        readings=samples.readings(),
        courses=samples.courses(),
        lines=(text.first, text.last),
        missing=text.missing,
    )
    return made, remarks + stacked(devices)
