"""Reader of YCSB: the summary of each kind of operation, and status lines (-s).

Source of the form: `TextMeasurementsExporter` and `StatusThread` of YCSB 0.1 to 0.17.
"""

import re
from collections.abc import Mapping, Sequence

from paribus.parsers import recognition
from paribus.parsers.log import Log, LogReading
from paribus.parsers.numbers import decimals, number, printed
from paribus.parsers.reader import Draft, Intervals, LogReader
from paribus.parsers.shapes import MOST_S, Field, percentile

FORMAT = "ycsb"
_SIGNS = (
    ("[OVERALL], Throughput(ops/sec), ", 0.95),
    ("[OVERALL], RunTime(ms), ", 0.6),
    (" current ops/sec; ", 0.5),
    ("YCSB Client ", 0.4),
)
_ROW = re.compile(r"\[(?P<of>[A-Za-z0-9_ -]{1,60})\], (?P<name>[^,]{1,60}), (?P<value>\S{1,30})")
_STATUS = re.compile(
    r"(?:[0-9-]{10} [0-9:]{8}:[0-9]{3} )?(?P<at>[0-9]{1,9}) sec: (?P<done>[0-9]{1,15}) operations; ?"
    r"(?:(?P<rate>[0-9.,]{1,20}) current ops/sec; ?)?.*"
)
_PERCENTILE = re.compile(r"(?P<percent>[0-9.]{1,7})(?:[a-z]{2})?Percentile(?:Latency)?\((?P<unit>[um]s)\)")
_TIMES: Mapping[str, str] = {
    "AverageLatency": "response_mean_s",
    "MinLatency": "response_min_s",
    "MaxLatency": "response_max_s",
}
_TIME = re.compile(rf"(?P<name>{'|'.join(_TIMES)})\((?P<unit>[um]s)\)")
_PER_S = {"us": 1e6, "ms": 1e3}
_RETURN = re.compile(r"Return=(?P<status>\S{1,40})")
_COMMAND = re.compile(r"Command line:(?P<arguments>.*)")
_VERSION = re.compile(r"YCSB Client (?P<version>\S{1,30})")
_KNOWN = re.compile(
    r"Loading workload\.\.\.|Starting test\.|DBWrapper: .*|mbean (?:attributes|stats): .*|\[(?:TOTAL_|CLEANUP).*"
    r"|\[[A-Z-]{1,40}\], >?[0-9]{1,9}, [0-9]{1,15}|.*\bjava\b.* (?:site|com\.yahoo)\.ycsb\.Client .*"
)
_OVERALL = "OVERALL"
_OK = ("OK", "BATCHED_OK", "0")
_PRIVATE = re.compile("pass|secret|token|key|cred|auth|pw|user|url|uri|host|mail", re.IGNORECASE)
_RATE = Field("throughput_per_s", "1/s", 2)


def recognises(text: str) -> float:
    """Score by the wording of the summary and the status lines."""
    return recognition.score(text, _SIGNS)


def read(text: str) -> Log:
    """Read every run in the text."""
    return _Reader(text).log(FORMAT)


def _options(words: Sequence[str]) -> dict[str, str]:
    """Return the options and properties of a command line, without passwords, users and addresses."""
    options: dict[str, str] = {}
    remaining = iter(words)
    for word in remaining:
        if word in ("-load", "-t"):
            options["phase"] = "load" if word == "-load" else "run"
        elif word in ("-threads", "-target", "-db"):
            options[word[1:]] = next(remaining, "")
        elif word == "-P":
            options["workload"] = next(remaining, "").rpartition("/")[2]
        elif word == "-p":
            name, equals, value = next(remaining, "").partition("=")
            if equals and not _PRIVATE.search(name):
                options[name] = value
    return options


class _Reader(LogReader):
    tool = "ycsb"

    def understands(self, number: int, line: str) -> bool:
        line = line.strip()
        if number == self.cut:
            return False
        if match := _VERSION.fullmatch(line):
            self._begin(number)
            self.draft.version = match["version"]
            return True
        if match := _COMMAND.fullmatch(line):
            version, has_work = self.draft.version, self.draft.stage > 0
            self._begin(number)
            self.draft.version = "" if has_work else version
            self._take_options(_options(match["arguments"].split()))
            return True
        if match := _STATUS.fullmatch(line):
            return self._status(number, match)
        if _KNOWN.fullmatch(line):
            return True
        match = _ROW.fullmatch(line)
        return match is not None and self._row(number, match["of"], match["name"], match["value"])

    def _begin(self, line: int) -> None:
        if self.draft.stage:
            self.end()
        self.draft.touch(line)

    def _take_options(self, options: dict[str, str]) -> None:
        self.draft.options = options
        threads = options.get("threads") or options.get("threadcount", "1")
        self.draft.load = int(threads) if threads.isdecimal() and len(threads) < 7 else None
        phase = " load" if options.get("phase") == "load" else ""
        self.draft.workload = f"{options.get('workload', 'ycsb')}{phase}"

    def _status(self, line: int, match: re.Match[str]) -> bool:
        """A line of the course; the first one, at 0 s, has no rate."""
        at_s = float(match["at"])
        course = self.draft.intervals.get("status")
        if self.may_lack_its_beginning(line):
            return False
        if ("duration_s", "") in self.draft.readings or (course and at_s < course.rows[-1][1]):
            self._begin(line)
        self.draft.stage = max(self.draft.stage, 1)
        self.draft.touch(line)
        if match["rate"] is None:
            return True
        if printed(match["rate"]) is None or decimals(match["rate"]) > 2:
            return False
        if course and at_s == course.rows[-1][1]:
            return True  # the last line may be of the same second
        parts = ("", match["rate"].replace(",", "."), "")
        self.draft.intervals.setdefault("status", Intervals((_RATE,))).rows.append((line, at_s, parts))
        return True

    def _row(self, line: int, of: str, name: str, text: str) -> bool:
        """A number of the whole run, or of one kind of operation."""
        amount = printed(text)
        if amount is None:
            return False
        subject = "" if of == _OVERALL else of.lower()
        reading = _reading(name, amount, text, line, subject)
        if reading is None:
            return False
        if of == _OVERALL and (reading.metric, "") in self.draft.readings:
            self._begin(line)
        self.draft.stage = 2
        self.draft.touch(line)
        self.draft.add(reading)
        return True

    def end(self) -> None:
        draft, self.draft = self.draft, Draft(tool=self.tool)
        if not draft.stage:
            return
        draft.workload = draft.workload or "ycsb"
        courses = draft.courses(self.unknown)
        required = {"duration": "duration_s", "operations a second": "throughput_per_s"}
        missing = ", ".join(what for what, metric in required.items() if (metric, "") not in draft.readings)
        if draft.readings or courses:
            self.runs.append(draft.run(courses, missing if draft.readings else "the whole report"))


def _reading(name: str, amount: float, text: str, line: int, subject: str) -> LogReading | None:
    """The reading of a row; None of one that is not known, or too large for a time."""
    unit, value = "s", amount
    if name == "RunTime(ms)":
        metric, value = "duration_s", amount / 1e3
    elif name == "Throughput(ops/sec)":
        metric, unit = "throughput_per_s", "1/s"
    elif name == "Operations":
        metric, unit = "operations", "count"
    elif match := _RETURN.fullmatch(name):
        failed = match["status"] not in _OK
        metric, unit = "errors" if failed else "returned", "count"
        subject = f"{subject} {match['status']}" if failed else subject
    elif match := _TIME.fullmatch(name):
        metric, value = _TIMES[match["name"]], amount / _PER_S[match["unit"]]
    elif (match := _PERCENTILE.fullmatch(name)) and number(match["percent"]) and percentile(match["percent"]):
        metric, value = f"response_p{percentile(match['percent'])}_s", amount / _PER_S[match["unit"]]
    else:
        return None
    if unit == "s" and value > MOST_S:
        return None
    return LogReading(metric=metric, value=value, unit=unit, line=line, stated=text, subject=subject)
