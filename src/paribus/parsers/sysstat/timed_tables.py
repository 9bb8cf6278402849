"""Tables whose lines begin with the time of day, as sar and mpstat print them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from paribus.parsers.log import Log, LogRun
from paribus.parsers.numbers import printed
from paribus.parsers.plain import tool_lines, unended
from paribus.parsers.repeats import once
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
_OF_PROCESSES = {"PID", "TGID"}  # pidstat's, with columns named like those of a machine
_PLACES = ("CORE", "SOCK", "NODE")  # where a processor is (mpstat -T), which is not told of all of them together
_HEADS = {*_NAMED, "dentunusd", "totsck", "tcp6sck", "manufact", "MHz"}
_AVERAGE = re.compile(r"[^\W\d]\D{0,30}?[:：](?=\s|$)")  # Average:, Durchschn.:, Moyenne :, 平均时间:
_EXTREME = re.compile(r"M[ií]n|M[aá][kx]|Мин|Мак|最小|最大|최소|최대", re.IGNORECASE)  # of sar -x, beside the average
_HEAD = re.compile(r"[A-Za-z0-9_%/.+-]+")
_RESTART = re.compile(r"LINUX RESTART|LINUX NEUSTART|RESTART")


@dataclass(slots=True)
class _Machine:
    """One run: from a banner, or a restart of the machine, to the next."""

    first: int
    last: int
    options: dict[str, str]
    samples: Samples = field(default_factory=Samples)
    clocks: dict[str, Clock] = field(default_factory=dict)
    begins: int | None = None
    sampled: bool = False  # whether it tells of times after its head, not since boot alone
    missing: str = ""

    @property
    def empty(self) -> bool:
        """Whether nothing was read."""
        return not self.samples.known and not self.samples.stated


@dataclass(slots=True)
class _Tables:
    """A line after the other."""

    columns: Mapping[str, SysstatColumn]
    machines: list[_Machine] = field(default_factory=list)
    header: list[str] = field(default_factory=list)
    heading: str = ""
    unread: set[str] = field(default_factory=set)
    devices: set[str] = field(default_factory=set)
    remarks: list[str] = field(default_factory=list)
    latest: dict[str, float] = field(default_factory=dict)

    def line(self, number: int, line: str, unended: bool) -> bool:
        """Whether the line is of such a table."""
        if not line.strip():
            return True
        if (machine := banner(line)) is not None:
            self._begin(number, machine)
            return True
        stated = line.lstrip()
        found = clock(stated)
        average = None if found else _AVERAGE.match(stated)
        if found is None and (average is None or _EXTREME.match(stated)):
            return False
        rest = stated[found[1] if found else average.end() if average else 0 :]
        words = rest.split()
        if not words or words[0] == "COM":
            return bool(words)  # a comment in sar's file
        if _RESTART.search(rest):
            self.remarks.append(f"the machine was started anew (line {number}); what follows is a run of its own")
            self._begin(number, self.machines[-1].options if self.machines else {})
            return True
        at = found[0] if found else None
        plain = all(printed(word.rstrip("%kMGT")) is None for word in words)
        if plain and (words[0] != "all" or _HEADS & set(words)):
            return self._head(number, line, words, at)
        understood = self._row(number, line, words, at, unended)
        if not understood and unended and self.machines:
            self.machines[-1].missing = f"line {number} breaks off"
        return understood

    def _begin(self, number: int, options: dict[str, str]) -> None:
        self.machines.append(_Machine(first=number, last=number, options=dict(options)))
        self.header = []

    def _head(self, number: int, line: str, words: list[str], at: int | None) -> bool:
        known = (
            word in self.columns or word in _HEADS or word.endswith("/s") or word.startswith(("%", "kb"))
            for word in words
        )
        if not any(known) or not all(map(_HEAD.fullmatch, words)):
            return False
        if _OF_PROCESSES & set(words):
            self.header = []
            return False
        if not self.machines:
            self._begin(number, {})
        now = self.machines[-1]
        if now.begins is None:
            now.begins = at
        now.last = number
        self.header, self.heading = words, line
        if "INTR" not in words:
            self.unread |= {word for word in words if word not in self.columns and word not in {*_NAMED, *_PLACES}}
        return True

    def _row(self, number: int, line: str, words: list[str], at: int | None, unended: bool) -> bool:
        """The numbers of a line, which are of the time before it; of all, where no time of day stands there."""
        header = self.header
        if words[0] == "all" and set(_PLACES) < set(header):
            header = [name for name in header if name not in _PLACES]
        if len(words) != len(header) or (unended and not whole(words, line, self.heading)):
            return False
        now = self.machines[-1]
        named = dict(zip(header, words, strict=True))
        subject = next((_subject(name, named[name]) for name in _NAMED if name in named), "")
        pairs = [(name, word) for name, word in zip(header, words, strict=True) if name in self.columns]
        values = [self.columns[name].value(word) for name, word in pairs]
        if any(value is None for value in values):
            return False
        now.last = number
        now.sampled |= at != now.begins
        at_s = 0.0
        if at is not None and pairs:
            table = f"{len(self.machines)} {header} {subject}"
            later = now.clocks.setdefault(table, Clock(first=now.begins, last=now.begins or at)).at(at)
            if later is None or later == self.latest.get(table):
                self.remarks.append(f"line {number} is of a time that was told before, and is left out")
                return False
            self.latest[table] = at_s = later
        if "DEV" in header:
            self.devices.add(subject)
        for (name, word), value in zip(pairs, values, strict=True):
            if value is None:
                continue
            if at is None:
                now.samples.average(self.columns[name], subject, value, number, word)
            else:
                now.samples.add(self.columns[name], subject, at_s, value, number, word)
        return True


def _subject(name: str, word: str) -> str:
    """Which processor or device; the whole machine where it is all of them."""
    if word in ("all", "sum", "SUM"):
        return "all nodes" if name == "NODE" else ""
    return f"{name.lower()}{word}" if name in ("CPU", "NODE") else word


def read(text: str, tool: str, columns: Mapping[str, SysstatColumn]) -> Log:
    """The runs of a text: courses, and the averages that the tool states."""
    tables = _Tables(columns)
    lines = tool_lines(text)
    cut = unended(text, lines)
    rest = [(number, line) for number, line in enumerate(lines, 1) if not tables.line(number, line, number == cut)]
    if tables.unread:
        tables.remarks.append(f"columns that are not read: {', '.join(sorted(tables.unread))}")
    tables.remarks += [
        f"what stands from line {one.first} on is of the time since boot: no interval was asked for"
        for one in tables.machines
        if not one.empty and not one.sampled
    ]
    runs, copies = once(
        LogRun(
            tool=tool,
            workload="" if one.sampled else SINCE_BOOT,
            options=one.options,
            readings=one.samples.readings(),
            courses=one.samples.courses(),
            lines=(one.first, one.last),
            missing=one.missing,
        )
        for one in tables.machines
        if not one.empty
    )
    remarks = [*tables.remarks[:20], *stacked(tables.devices), *copies]
    return Log(format=tool, runs=tuple(runs), not_understood=tuple(rest), remarks=tuple(dict.fromkeys(remarks)))
