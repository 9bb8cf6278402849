"""Reader of pgbench output, PostgreSQL 9 to 18: reports, progress lines (-P), statement latencies (-r)."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

from paribus.parsers import recognition
from paribus.parsers.log import Log, LogSeries
from paribus.parsers.reader import Draft, Intervals, LogReader
from paribus.parsers.shapes import Field, Part, count, readings, shape_of, shapes

FORMAT = "pgbench"
_LONG = 4096
_ELSEWHERE = ("|", ";", "<", ">", "&", "1>", "2>")
_SIGNS = (
    ("number of transactions actually processed:", 0.6),
    ("transaction type:", 0.3),
    ("latency average", 0.2),
    ("query mode:", 0.2),
    (" tps, lat ", 0.6),
    ("tps = ", 0.3),
    ("statement latencies in milliseconds", 0.3),
    ("pgbench (", 0.3),
)
_BANNER = re.compile(r"pgbench \((?:PostgreSQL\) )?([0-9][\w.]*).*")
_PROGRESS = re.compile(r"progress: ([0-9]{1,12}[.,][0-9]+) s, (.*)")
_SCRIPT = re.compile(r"SQL script ([0-9]{1,6}): .+")
_LETTERS = {"R": "rate", "L": "latency-limit", "P": "progress", "T": "time", "c": "client", "j": "jobs", "b": "builtin"}
_LETTERS |= {"t": "transactions", "M": "protocol", "s": "scale", "f": "file"}
_SWITCHES = {"S": "select-only", "N": "skip-some-updates", "C": "connect", "n": "no-vacuum", "r": "report-per-command"}
_OPTION_NAMES = {
    "scaling factor": "scale",
    "query mode": "protocol",
    "number of clients": "client",
    "number of threads": "jobs",
    "maximum number of tries": "max-tries",
    "number of transactions per client": "transactions",
    "partition method": "partition-method",
    "partitions": "partitions",
}
_STATEMENTS = re.compile(r"(?:- )?statement latencies in milliseconds( and failures|, failures and retries)?:")
_STATEMENT = {
    "": re.compile(r"([0-9]{1,12}[.,][0-9]{3,6})\s+(\S.*)"),
    " and failures": re.compile(r"([0-9]{1,12}[.,][0-9]{3,6})\s+[0-9]{1,18}\s+(\S.*)"),
    ", failures and retries": re.compile(r"([0-9]{1,12}[.,][0-9]{3,6})\s+[0-9]{1,18}\s+[0-9]{1,18}\s+(\S.*)"),
}
_IDLE = re.compile(
    r"NOTICE:.{0,200} does not exist, skipping"
    r"|(?:pgbench: )?(?:starting vacuum.*|end\.|dropping old tables\.\.\.|creating .*\.\.\."
    r"|generating data.*|vacuuming.*"
    r"|set primary keys?\.\.\.|done(?:\.| in .*)"
    r"|[0-9]+ of [0-9]+ tuples \([0-9]+%\) (?:of \S+ )?done.*|script statistics:)"
)

_FAILED = re.compile(
    r"(?:pgbench: (?:error|fatal): )?(?:Run was aborted; the above results are incomplete\."
    r"|(?:Client|client) [0-9]+ (?:script [0-9]+ )?aborted in (?:command|state) [0-9]+.*)"
)


def _count(metric: str, subject: str = "") -> Field:
    return Field(metric, "count", 0, subject=subject)


def _ms(metric: str, subject: str = "") -> Field:
    return Field(metric, "s", 3, 1000, subject)


_TPS = Field("throughput_per_s", "1/s", 6)
_INCLUDING = "including connections"
_WITH_CONNECTING = Field("throughput_per_s", "1/s", 6, subject=_INCLUDING)
_PROGRESS_OF: tuple[Part, ...] = (Field("throughput_per_s", "1/s", 1), _ms("response_mean_s"), _ms("response_stddev_s"))
_SUFFIXES: dict[str, tuple[Part, ...]] = {
    ", # failed": (_count("errors"),),
    ", lag # ms": (_ms("schedule_lag_mean_s"),),
    ", # skipped": (_count("skipped"),),
    ", # retried, # retries": (_count("retried"), _count("retries")),
}


def _progresses() -> dict[str, tuple[Part, ...]]:
    """Return the columns of every form of progress line; optional parts follow in a fixed order."""
    intervals: dict[str, tuple[Part, ...]] = {"# tps, lat # ms stddev #": _PROGRESS_OF}
    for suffix, parts in _SUFFIXES.items():
        intervals |= {shape + suffix: (*columns, *parts) for shape, columns in intervals.items()}
    return intervals


_INTERVALS: Mapping[str, tuple[Part, ...]] = shapes(_progresses())
_LINES: Mapping[str, tuple[Part, ...]] = shapes(
    {
        "duration: # s": (Field("duration_s", "s", 0),),
        "number of transactions actually processed: #": (_count("operations"),),
        "number of transactions actually processed: #/#": (_count("operations"), _count("operations", "asked")),
        "number of failed transactions: # (#%)": (_count("errors"), None),
        "number of serialization failures: # (#%)": (_count("errors", "serialization"), None),
        "number of deadlock failures: # (#%)": (_count("errors", "deadlock"), None),
        "number of other failures: # (#%)": (_count("errors", "other"), None),
        "number of transactions retried: # (#%)": (_count("retried"), None),
        "total number of retries: #": (_count("retries"),),
        "number of transactions skipped: # (#%)": (_count("skipped"), None),
        "number of transactions skipped: # (# %)": (_count("skipped"), None),
        "number of transactions above the # ms latency limit: #/# (#%)": (None, _count("late"), None, None),
        "number of transactions above the # ms latency limit: # (# %)": (None, _count("late"), None),
        "number of transactions above the # ms latency limit: #/# (# %)": (None, _count("late"), None, None),
        "latency average = # ms": (_ms("response_mean_s"),),
        "latency average = # ms (including failures)": (_ms("response_mean_s"),),
        "latency average: # ms": (_ms("response_mean_s"),),
        "latency stddev = # ms": (_ms("response_stddev_s"),),
        "latency stddev: # ms": (_ms("response_stddev_s"),),
        "rate limit schedule lag: avg # (max #) ms": (_ms("schedule_lag_mean_s"), _ms("schedule_lag_max_s")),
        "initial connection time = # ms": (_ms("connection_time_s"),),
        "average connection time = # ms": (_ms("connection_time_mean_s"),),
        # 14 and later count without connection or with reconnection times; earlier ones excluded connections
        "tps = # (without initial connection time)": (_TPS,),
        "tps = # (including reconnection times)": (_TPS,),
        "tps = # (excluding connections establishing)": (_TPS,),
        "tps = # (including connections establishing)": (_WITH_CONNECTING,),
    }
)
_SCRIPTS: Mapping[str, tuple[Part, ...]] = shapes(
    {
        "- # transactions (#% of total, tps = #)": (_count("operations"), None, _TPS),
        "- # transactions (#% of total)": (_count("operations", "all"), None),
        "- number of transactions actually processed: # (tps = #)": (_count("operations"), _TPS),
        "- number of failed transactions: # (#%)": (_count("errors"), None),
        "- number of serialization failures: # (#%)": (_count("errors", "serialization"), None),
        "- number of deadlock failures: # (#%)": (_count("errors", "deadlock"), None),
        "- number of other failures: # (#%)": (_count("errors", "other"), None),
        "- number of transactions retried: # (#%)": (_count("retried"), None),
        "- total number of retries: #": (_count("retries"),),
        "- number of transactions skipped: # (#%)": (_count("skipped"), None),
        "- latency average = # ms": (_ms("response_mean_s"),),
        "- latency stddev = # ms": (_ms("response_stddev_s"),),
    }
)


def recognises(text: str) -> float:
    """Score by the wording of the report and the progress lines."""
    return recognition.score(text, _SIGNS)


def read(text: str) -> Log:
    """Read every run in the text."""
    return _Reader(text).log(FORMAT)


def _command(line: str) -> Sequence[str]:
    """Return the arguments of a pgbench command line up to shell operators; empty for any other line."""
    if "pgbench " not in line or len(line) > _LONG:
        return ()
    words = line.split()
    position = next((index for index, word in enumerate(words) if word.rsplit("/", 1)[-1] == "pgbench"), len(words))
    arguments = list(takewhile(lambda word: not word.startswith(_ELSEWHERE), words[position + 1 :]))
    return arguments if any(word.startswith("-") for word in arguments) else ()


def _options(arguments: Sequence[str]) -> dict[str, str]:
    """Return options by their long names; host, port, user, database and passwords are omitted."""
    options: dict[str, str] = {}
    remaining = iter(arguments)
    for word in remaining:
        name, equals, value = word[2:].partition("=")
        if word.startswith("--"):
            if equals and "pass" not in name and name not in ("host", "port", "username", "dbname"):
                options[name] = value
        elif word.startswith("-") and word[1:2] in _LETTERS:
            options[_LETTERS[word[1]]] = word[2:] or next(remaining, "")
        elif word.startswith("-") and word[1:2] in _SWITCHES:
            options[_SWITCHES[word[1]]] = "on"
    return options


class _Reader(LogReader):
    tool = "pgbench"

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.script = ""  # script that lines with a dash describe
        self.begun = False  # whether the first line of the script was read
        self.statement: re.Pattern[str] | None = None
        self.times: Counter[str] = Counter()  # occurrences of each statement in the script

    def understands(self, number: int, line: str) -> bool:
        line = line.strip().strip("*")
        if match := _PROGRESS.fullmatch(line):
            return self._progress(number, match[1], match[2])
        if match := _BANNER.fullmatch(line):
            if self.draft.stage:
                self.end()
            self.draft.version = match[1]
            return self._advance(number, 1)
        if words := _command(line):
            self.end()
            self.draft.options = _options(words)
            self.draft.touch(number)
            return True
        shape, parts = shape_of(line)
        columns = _LINES.get(shape)
        scripts = _SCRIPTS.get(shape) if self.script else None
        if columns or scripts:
            return self._take(number, shape, parts, columns or scripts or (), self.script if scripts else "")
        if number == self.cut and self.breaks_off(number, parts):
            return False
        return self._other_line(number, line)

    def _progress(self, number: int, time: str, text: str) -> bool:
        shape, parts = shape_of(text)
        columns = _INTERVALS.get(shape)
        if columns is None or self.breaks_off(number, parts, columns):
            return False
        at_s = float(time.replace(",", "."))
        intervals = self.draft.intervals.get(shape)
        if self.draft.stage > 2 or (intervals and at_s < intervals.rows[-1][1]):
            self.end()
        self.draft.intervals.setdefault(shape, Intervals(columns)).rows.append((number, at_s, parts))
        return self._advance(number, 2)

    def _other_line(self, number: int, line: str) -> bool:
        name, colon, value = line.partition(": ")
        if name == "transaction type" and colon:
            if self.draft.stage > 2:
                self.end()
            self.draft.workload = value.strip("<>").removeprefix("builtin: ")
        elif name in _OPTION_NAMES and colon:
            self.draft.options.setdefault(_OPTION_NAMES[name], value)
            if name == "number of clients":
                self.draft.load = count(value)
        elif (match := _STATEMENTS.fullmatch(line)) and bool(self.script) == line.startswith("- ") and number > 1:
            self.statement = _STATEMENT[match[1] or ""]
        elif match := _SCRIPT.fullmatch(line):
            self.script, self.begun, self.statement = f"script {match[1]}", False, None
        elif line.startswith("- weight: "):
            # The first line of each script; a second one means that the next script's name was lost.
            self.script, self.begun = "" if self.begun else self.script, True
            self.statement = None
        elif self.statement and number != self.cut and (match := self.statement.fullmatch(line)):
            return self._statement(number, match[1], match[2])
        elif _FAILED.fullmatch(line):
            self.draft.failed = self.draft.failed or line
            self.draft.touch(number)
            return True
        elif not _IDLE.fullmatch(line):
            return False
        else:
            self.draft.touch(number)
            return True
        return self._advance(number, 3)

    def _statement(self, number: int, latency: str, statement: str) -> bool:
        """Add the mean latency of a statement; a script may contain the same statement several times."""
        subject = f"{self.script}: {statement}" if self.script else statement
        self.times[subject] += 1
        if self.times[subject] > 1:
            subject += f" ({self.times[subject]})"
        column = Field("response_mean_s", "s", len(re.split("[.,]", latency)[1]), 1000, subject)
        for reading in readings(number, ["", latency, ""], [column]):
            if reading:
                self.draft.add(reading)
        return self._advance(number, 3)

    def _take(self, number: int, shape: str, parts: Sequence[str], columns: Sequence[Part], subject: str) -> bool:
        if self.breaks_off(number, parts, columns):
            return False
        after_others = self.script and number - 1 in self.unknown
        if (number == 1 or after_others) and not subject and f"- {shape}" in _SCRIPTS:
            return False  # may belong to a script whose dash was cut off
        if subject:
            columns = [
                replace(column, subject=f"{subject} {column.subject}".rstrip()) if isinstance(column, Field) else column
                for column in columns
            ]
        line_readings = list(readings(number, parts, columns))
        if any(reading and (reading.metric, reading.subject) in self.draft.readings for reading in line_readings):
            self.end()
        for reading in line_readings:
            if reading:
                self.draft.add(reading)
        return self._advance(number, 3) and None not in line_readings

    def _advance(self, number: int, stage: int) -> bool:
        self.draft.stage = max(self.draft.stage, stage)
        self.draft.touch(number)
        return True

    def end(self) -> None:
        draft, self.draft, self.script, self.statement = self.draft, Draft(tool=self.tool), "", None
        self.begun = False
        self.times.clear()
        courses = tuple(map(_from_the_start, draft.courses(self.unknown)))
        if draft.stage < 2:
            return
        names = {metric for metric, subject in draft.readings if not subject}
        names |= {"response_mean_s"} if _has_no_times(draft) else set()
        required = {"transactions": "operations", "response times": "response_mean_s", "tps": "throughput_per_s"}
        missing = ", ".join(description for description, metric in required.items() if metric not in names)
        self.runs.append(draft.run(courses, missing if draft.readings else "the whole report"))


def _has_no_times(draft: Draft) -> bool:
    """Return whether no line is between transactions and tps, as before 9.4, which prints no response time."""
    lines = [draft.readings.get(key) for key in (("operations", ""), ("throughput_per_s", _INCLUDING))]
    return bool(lines[0] and lines[1] and lines[1].line == lines[0].line + 1)


def _from_the_start(series: LogSeries) -> LogSeries:
    """Convert times of day (--progress-timestamp) to seconds since the first line."""
    if series.at_s[0] < 1e9:
        return series
    first = series.at_s[0]
    at_s = tuple(at - first for at in series.at_s)
    return LogSeries(metric=series.metric, unit=series.unit, at_s=at_s, values=series.values, subject=series.subject)
