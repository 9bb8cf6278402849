"""Tables whose lines start with a time of day, as printed by sar and mpstat."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from paribus.parsers.log import Log, LogRun
from paribus.parsers.numbers import printed
from paribus.parsers.plain import tool_lines, unterminated_line
from paribus.parsers.repeats import drop_copies
from paribus.parsers.sysstat.samples import SINCE_BOOT, Clock, Samples, SysstatColumn, banner, clock, stacked, whole

_NAMED = (
    "CPU",
    "NODE",
    "DEV",
    "IFACE",
    "INTR",
    "TTY",
    "FAN",
    "TEMP",
    "IN",
    "BUS",
    "FILESYSTEM",
    "MOUNTPOINT",
    "FCHOST",
)
_OF_PROCESSES = {"PID", "TGID"}  # columns of pidstat, whose other columns have the same names
_PLACES = ("CORE", "SOCK", "NODE")  # topology of a processor (mpstat -T), absent in the row of all processors
_HEADS = {*_NAMED, "dentunusd", "totsck", "tcp6sck", "manufact", "MHz"}
_AVERAGE = re.compile(r"[^\W\d]\D{0,30}?[:：](?=\s|$)")  # Average:, Durchschn.:, Moyenne :, 平均时间:
_EXTREME = re.compile(
    r"M[ií]n|M[aá][kx]|Мин|Мак|最小|最大|최소|최대", re.IGNORECASE
)  # printed by sar -x next to the average
_HEAD = re.compile(r"[A-Za-z0-9_%/.+-]+")
_RESTART = re.compile(r"LINUX RESTART|LINUX NEUSTART|RESTART")


@dataclass(slots=True)
class _Machine:
    """One run, from a banner or a restart of the machine to the next one."""

    first: int
    last: int
    options: dict[str, str]
    samples: Samples = field(default_factory=Samples)
    clocks: dict[str, Clock] = field(default_factory=dict)
    begins: int | None = None
    sampled: bool = False  # whether it has samples, not only averages since boot
    missing: str = ""

    @property
    def empty(self) -> bool:
        """Whether nothing was read."""
        return not self.samples.points and not self.samples.stated


@dataclass(slots=True)
class _Tables:
    """Line-by-line reader."""

    columns: Mapping[str, SysstatColumn]
    machines: list[_Machine] = field(default_factory=list)
    header: list[str] = field(default_factory=list)
    heading: str = ""
    unread: set[str] = field(default_factory=set)
    devices: set[str] = field(default_factory=set)
    remarks: list[str] = field(default_factory=list)
    latest: dict[str, float] = field(default_factory=dict)

    def line(self, number: int, line: str, unterminated: bool) -> bool:
        """Return whether the line belongs to such a table."""
        if not line.strip():
            return True
        if (machine := banner(line)) is not None:
            self._begin(number, machine)
            return True
        stated = line.lstrip()
        time_of_day = clock(stated)
        average = None if time_of_day else _AVERAGE.match(stated)
        if time_of_day is None and (average is None or _EXTREME.match(stated)):
            return False
        text = stated[time_of_day[1] if time_of_day else average.end() if average else 0 :]
        words = text.split()
        if not words or words[0] == "COM":
            return bool(words)  # a comment in sar's file
        if _RESTART.search(text):
            self.remarks.append(f"the machine was started anew (line {number}); what follows is a run of its own")
            self._begin(number, self.machines[-1].options if self.machines else {})
            return True
        seconds = time_of_day[0] if time_of_day else None
        plain = all(printed(word.rstrip("%kMGT")) is None for word in words)
        if plain and (words[0] != "all" or _HEADS & set(words)):
            return self._head(number, line, words, seconds)
        understood = self._row(number, line, words, seconds, unterminated)
        if not understood and unterminated and self.machines:
            self.machines[-1].missing = f"line {number} breaks off"
        return understood

    def _begin(self, number: int, options: dict[str, str]) -> None:
        self.machines.append(_Machine(first=number, last=number, options=dict(options)))
        self.header = []

    def _head(self, number: int, line: str, words: list[str], seconds: int | None) -> bool:
        recognised = (
            word in self.columns or word in _HEADS or word.endswith("/s") or word.startswith(("%", "kb"))
            for word in words
        )
        if not any(recognised) or not all(map(_HEAD.fullmatch, words)):
            return False
        if _OF_PROCESSES & set(words):
            self.header = []
            return False
        if not self.machines:
            self._begin(number, {})
        machine = self.machines[-1]
        if machine.begins is None:
            machine.begins = seconds
        machine.last = number
        self.header, self.heading = words, line
        if "INTR" not in words:
            self.unread |= {word for word in words if word not in self.columns and word not in {*_NAMED, *_PLACES}}
        return True

    def _row(self, number: int, line: str, words: list[str], seconds: int | None, unterminated: bool) -> bool:
        """Read the numbers of a line, which describe the interval before its time; without a time, averages."""
        header = self.header
        if words[0] == "all" and set(_PLACES) < set(header):
            header = [name for name in header if name not in _PLACES]
        if len(words) != len(header) or (unterminated and not whole(words, line, self.heading)):
            return False
        machine = self.machines[-1]
        named = dict(zip(header, words, strict=True))
        subject = next((_subject(name, named[name]) for name in _NAMED if name in named), "")
        pairs = [(name, word) for name, word in zip(header, words, strict=True) if name in self.columns]
        values = [self.columns[name].value(word) for name, word in pairs]
        if any(value is None for value in values):
            return False
        machine.last = number
        machine.sampled |= seconds != machine.begins
        at_s = 0.0
        if seconds is not None and pairs:
            table = f"{len(self.machines)} {header} {subject}"
            time_s = machine.clocks.setdefault(table, Clock(first=machine.begins, last=machine.begins or seconds)).at(
                seconds
            )
            if time_s is None or time_s == self.latest.get(table):
                self.remarks.append(f"line {number} is of a time that was told before, and is left out")
                return False
            self.latest[table] = at_s = time_s
        if "DEV" in header:
            self.devices.add(subject)
        for (name, word), value in zip(pairs, values, strict=True):
            if value is None:
                continue
            if seconds is None:
                machine.samples.average(self.columns[name], subject, value, number, word)
            else:
                machine.samples.add(self.columns[name], subject, at_s, value, number, word)
        return True


def _subject(name: str, word: str) -> str:
    """Name the processor or device; empty for the whole machine."""
    if word in ("all", "sum", "SUM"):
        return "all nodes" if name == "NODE" else ""
    return f"{name.lower()}{word}" if name in ("CPU", "NODE") else word


def read(text: str, tool: str, columns: Mapping[str, SysstatColumn]) -> Log:
    """Read the runs of a text: time series, and the averages that the tool states."""
    tables = _Tables(columns)
    lines = tool_lines(text)
    cut = unterminated_line(text, lines)
    unread = [(number, line) for number, line in enumerate(lines, 1) if not tables.line(number, line, number == cut)]
    if tables.unread:
        tables.remarks.append(f"columns that are not read: {', '.join(sorted(tables.unread))}")
    tables.remarks += [
        f"what stands from line {machine.first} on is of the time since boot: no interval was asked for"
        for machine in tables.machines
        if not machine.empty and not machine.sampled
    ]
    runs, copies = drop_copies(
        LogRun(
            tool=tool,
            workload="" if machine.sampled else SINCE_BOOT,
            options=machine.options,
            readings=machine.samples.readings(),
            courses=machine.samples.courses(),
            lines=(machine.first, machine.last),
            missing=machine.missing,
        )
        for machine in tables.machines
        if not machine.empty
    )
    remarks = [*tables.remarks[:20], *stacked(tables.devices), *copies]
    return Log(format=tool, runs=tuple(runs), not_understood=tuple(unread), remarks=tuple(dict.fromkeys(remarks)))
