"""pgbench's output, of PostgreSQL 9 to 18: the report, lines of -P, latencies of statements (-r)."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import takewhile

from paribus.parsers.log import Log, LogSeries
from paribus.parsers.reader import Draft, Intervals, LogReader
from paribus.parsers.shapes import Field, Part, count, readings, shape_of, shapes

FORMAT = "pgbench"
_ENDS = 16384
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
_ASKED = {
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


def _count(metric: str, subject: str = "") -> Field:
    return Field(metric, "count", 0, subject=subject)


def _ms(metric: str, subject: str = "") -> Field:
    return Field(metric, "s", 3, 1000, subject)


_TPS = Field("throughput_per_s", "1/s", 6)
_WITH_CONNECTING = Field("throughput_per_s", "1/s", 6, subject="including connections")
_PROGRESS_OF: tuple[Part, ...] = (Field("throughput_per_s", "1/s", 1), _ms("response_mean_s"), _ms("response_stddev_s"))
_MORE: dict[str, tuple[Part, ...]] = {
    ", # failed": (_count("errors"),),
    ", lag # ms": (_ms("schedule_lag_mean_s"),),
    ", # skipped": (_count("skipped"),),
    ", # retried, # retries": (_count("retried"), _count("retries")),
}


def _progresses() -> dict[str, tuple[Part, ...]]:
    """Every line of -P: what follows the first three numbers depends on what was asked, and comes in this order."""
    found: dict[str, tuple[Part, ...]] = {"# tps, lat # ms stddev #": _PROGRESS_OF}
    for more, parts in _MORE.items():
        found |= {shape + more: (*known, *parts) for shape, known in found.items()}
    return found


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
        # without and including reconnection times are what 14 and later count, as before those excluding connections
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
    """By the words of its report and its lines of progress."""
    ends = text if len(text) <= 2 * _ENDS else text[:_ENDS] + text[-_ENDS:]
    return min(0.96, sum(sure for sign, sure in _SIGNS if sign in ends))


def read(text: str) -> Log:
    """Every run of the text."""
    return _Reader(text).log(FORMAT)


def _command(line: str) -> Sequence[str]:
    """The words after pgbench in a command line, up to where the shell takes over; none in any other line."""
    if "pgbench " not in line or len(line) > _LONG:
        return ()
    words = line.split()
    place = next((index for index, word in enumerate(words) if word.rsplit("/", 1)[-1] == "pgbench"), len(words))
    rest = list(takewhile(lambda word: not word.startswith(_ELSEWHERE), words[place + 1 :]))
    return rest if any(word.startswith("-") for word in rest) else ()


def _options(words: Sequence[str]) -> dict[str, str]:
    """What a command line asks for by its long names; where the server is, and as whom, is left out."""
    found: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        name, given, value = word[2:].partition("=")
        if word.startswith("--"):
            if given and "pass" not in name and name not in ("host", "port", "username", "dbname"):
                found[name] = value
        elif word.startswith("-") and word[1:2] in _LETTERS:
            found[_LETTERS[word[1]]] = word[2:] or next(rest, "")
        elif word.startswith("-") and word[1:2] in _SWITCHES:
            found[_SWITCHES[word[1]]] = "on"
    return found


class _Reader(LogReader):
    tool = "pgbench"

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.script = ""  # of which the lines with a dash are
        self.begun = False  # whether its first line was there
        self.statement: re.Pattern[str] | None = None
        self.times: Counter[str] = Counter()  # how often a statement stood in the script

    def understands(self, number: int, line: str) -> bool:
        line = line.strip().strip("*")
        if match := _PROGRESS.fullmatch(line):
            return self._progress(number, match[1], match[2])
        if match := _BANNER.fullmatch(line):
            if self.draft.stage:
                self.end()
            self.draft.version = match[1]
            return self._at(number, 1)
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
        return self._words(number, line)

    def _progress(self, number: int, at: str, rest: str) -> bool:
        shape, parts = shape_of(rest)
        columns = _INTERVALS.get(shape)
        if columns is None or self.breaks_off(number, parts, columns):
            return False
        at_s = float(at.replace(",", "."))
        kept = self.draft.intervals.get(shape)
        if self.draft.stage > 2 or (kept and at_s < kept.rows[-1][1]):
            self.end()
        self.draft.intervals.setdefault(shape, Intervals(columns)).rows.append((number, at_s, parts))
        return self._at(number, 2)

    def _words(self, number: int, line: str) -> bool:
        name, colon, words = line.partition(": ")
        if name == "transaction type" and colon:
            if self.draft.stage > 2:
                self.end()
            self.draft.workload = words.strip("<>").removeprefix("builtin: ")
        elif name in _ASKED and colon:
            self.draft.options.setdefault(_ASKED[name], words)
            if name == "number of clients":
                self.draft.load = count(words)
        elif (match := _STATEMENTS.fullmatch(line)) and bool(self.script) == line.startswith("- ") and number > 1:
            self.statement = _STATEMENT[match[1] or ""]
        elif match := _SCRIPT.fullmatch(line):
            self.script, self.begun, self.statement = f"script {match[1]}", False, None
        elif line.startswith("- weight: "):
            # The first line of each script: where it comes again, the line that named the next one was lost.
            self.script, self.begun = "" if self.begun else self.script, True
            self.statement = None
        elif self.statement and number != self.cut and (match := self.statement.fullmatch(line)):
            return self._statement(number, match[1], match[2])
        elif not _IDLE.fullmatch(line):
            return False
        else:
            self.draft.touch(number)
            return True
        return self._at(number, 3)

    def _statement(self, number: int, took: str, words: str) -> bool:
        """How long a statement takes on average; the same statement may stand in a script several times."""
        subject = f"{self.script}: {words}" if self.script else words
        self.times[subject] += 1
        if self.times[subject] > 1:
            subject += f" ({self.times[subject]})"
        known = Field("response_mean_s", "s", len(re.split("[.,]", took)[1]), 1000, subject)
        for one in readings(number, ["", took, ""], [known]):
            if one:
                self.draft.add(one)
        return self._at(number, 3)

    def _take(self, number: int, shape: str, parts: Sequence[str], columns: Sequence[Part], subject: str) -> bool:
        if self.breaks_off(number, parts, columns):
            return False
        after_others = self.script and number - 1 in self.unknown
        if (number == 1 or after_others) and not subject and f"- {shape}" in _SCRIPTS:
            return False  # may be of a script: the dash was cut off, or is in the line of others
        if subject:
            columns = [
                Field(one.metric, one.unit, one.decimals, one.per, " ".join(filter(None, (subject, one.subject))))
                if isinstance(one, Field)
                else one
                for one in columns
            ]
        found = list(readings(number, parts, columns))
        if any(one and (one.metric, one.subject) in self.draft.readings for one in found):
            self.end()
        for one in found:
            if one:
                self.draft.add(one)
        return self._at(number, 3) and None not in found

    def _at(self, number: int, stage: int) -> bool:
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
        wanted = {"transactions": "operations", "response times": "response_mean_s", "tps": "throughput_per_s"}
        missing = ", ".join(words for words, metric in wanted.items() if metric not in names)
        self.runs.append(draft.run(courses, missing if draft.readings else "the whole report"))


def _from_the_start(course: LogSeries) -> LogSeries:
    """Times of --progress-timestamp are of the day: then they are told from the first line on."""
    if course.at_s[0] < 1e9:
        return course
    first = course.at_s[0]
    at_s = tuple(at - first for at in course.at_s)
    return LogSeries(metric=course.metric, unit=course.unit, at_s=at_s, values=course.values, subject=course.subject)
