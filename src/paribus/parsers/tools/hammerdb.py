"""Reader of HammerDB output (CLI, GUI, log file, JSON of jobs): results, virtual users, time profiles."""

import re

from paribus.parsers import recognition
from paribus.parsers.log import Log, LogReading
from paribus.parsers.reader import Draft, LogReader
from paribus.parsers.redact import HIDDEN
from paribus.parsers.shapes import Field, in_base_unit

FORMAT = "hammerdb"
_SIGNS = (
    ("TEST RESULT : System achieved", 0.8),
    ("HammerDB", 0.4),
    ("Hammerdb", 0.4),
    ("Vuser 1:", 0.4),
    (">>>>> PROC:", 0.6),
    ("Active Virtual Users", 0.3),
    (" NOPM", 0.2),
    ('"NEWORD": {', 0.6),
    ('"nopm": "', 0.4),
    ('"activevu": "', 0.4),
)
_VUSER = re.compile(r"(?:Vuser|Virtual User) ([0-9]{1,6}):\s?(.*)")
# 4.0 and later print NOPM before TPM, unless configured to print the old form.
_RESULT = re.compile(
    r"(?:TEST RESULT : )?System achieved "
    r"(?:(?P<nopm>[0-9]+) NOPM from (?P<tpm>[0-9]+) (?P<database>[A-Za-z][\w ]{0,40}?) TPM"
    r"|(?P<old_tpm>[0-9]+) (?P<old_database>[A-Za-z][\w ]{0,40}?) TPM at (?P<old_nopm>[0-9]+) NOPM)"
)
_BANNER = re.compile(r"HammerDB (?:CLI )?v?([0-9]+(?:\.[0-9]+)+)\b.*")
_PROFILE = re.compile(
    r"[> ]*>> (?:SUMMARY OF [0-9]{1,6} ACTIVE VIRTUAL USERS"
    r"|COMBINED METRICS ACROSS ALL USERS|VIRTUAL USER ([0-9]{1,6}))(?: .*)?"
)
_PROCEDURE = re.compile(r"[> ]*>> PROC: (\w{1,60})")
_TIMES = re.compile(r"([A-Z][A-Z0-9]{1,6}): ([^\s]+)")
_SETTING = re.compile(
    r"(?:hammerdb>\s*)?(diset|dbset|vuset|jobs?|loadscript|vucreate|vurun|vudestroy|tcset|tcstart)\b\s*(.*)"
)
_CHANGED = re.compile(r"(?:Changed|Value) (\S+) ?(.*)")
_RAMPED = re.compile(r"Rampup [0-9]+ minutes complete \.\.\.|[0-9]{1,6} +\.\.\.,")
_ACTIVE = re.compile(r"([0-9]{1,6}) Active Virtual Users configured")
_TESTED = re.compile(r"Timing test period of ([0-9]{1,6}) in minutes")
_BEGUN = re.compile(r"Beginning rampup time of ([0-9]{1,6}) minutes")
_QUERIES = re.compile(
    r"(?:query ([0-9]{1,3}) completed|Completed ([0-9]{1,9}) query set\(s\)) in ([0-9]{1,9}(?:\.[0-9]{1,9})?) seconds"
)
_MEAN = re.compile(r"Geometric mean of query times returning rows \([0-9]{1,3}\) is ([0-9]{1,9}\.[0-9]{5})")
_IDLE = re.compile(
    r"RUNNING|Executing Query [0-9]+ \([0-9]+ of [0-9]+\)|[0-9]+ Virtual Users Created"
    r"|WAIT IDLE|FINISHED SUCCESS|created.*|Initializing xtprof time profiler"
    r"|(?:Rampup|Test) complete, Taking (?:start|end) .*|Test complete: view .*|(?:Start|End) Snapshot .*"
    r"|Processing [0-9]+ transactions with(?:out)? output suppressed\.\.\."
    r"|(?:DBVersion|Operating in|Delaying login|Logging in|Checkpoint|Gathering|Calculating|Writing timing)\b.*"
    r"|[0-9]+ out of [0-9]+ Virtual Users reported|ALL VIRTUAL USERS COMPLETE|Virtual Users? (?:created|deleted).*"
    r"|Hammerdb Log @ .*|Timestamp [0-9]+ @ .*|\w+ Hammerdb Time Profile Report @ .*|\+(?:-\+)+|[+-]{3,}"
    r"|Script loaded.*|Benchmark set to .*|Database set to .*|vudestroy success|Copyright .*|Type \"help\".*"
    r"|The xml is well-formed.*|Timer: [0-9]+ minutes elapsed|Logging activated|to /\S+\.log|[0-9]+ VU TEST"
    r"|Vuser [0-9]+ created .*|[0-9]+ Virtual Users Created with Monitor VU|No Virtual Users found to destroy"
    r"|(?:SETTING CONFIGURATION|(?:TEST )?SEQUENCE (?:STARTED|COMPLETE)|Loading script|Script cleared)"
    r"|Clearing Script, reload script to activate new setting"
)
_PROFILE_METRICS = {
    "CALLS": ("operations", "count", 1.0),
    "MIN": ("response_min_s", "s", 1000.0),
    "AVG": ("response_mean_s", "s", 1000.0),
    "MAX": ("response_max_s", "s", 1000.0),
    "TOTAL": ("response_sum_s", "s", 1000.0),
    "SD": ("response_stddev_s", "s", 1000.0),
    **{f"P{n}": (f"response_p{n}_s", "s", 1000.0) for n in (99, 95, 90, 75, 50, 25)},
    "RATIO": ("time_share", "1", 100.0),
}
_OF_JOBS = re.compile(
    r'"(?P<procedure>[A-Z][A-Z0-9_]{1,20})": \{'
    r'|"(?P<name>calls|(?:min|avg|max|total|p[0-9]{2})_ms|sd|ratio_pct)": "(?P<time>[0-9.,]{1,20})",?'
    r'|"(?P<key>db|activevu|nopm|tpm)": "(?P<value>[^"]{1,40})",?'
)
_IDLE_OF_JOBS = re.compile(
    r'[\]\[{}],?|"[0-9A-F]{16,32}"(?:,|: \{)?|"[0-9-]{10} [0-9:]{8}",?|"(?:elapsed_ms|bm|tstamp)": ".*",?'
    r'|"[A-Za-z ]{1,30} tpm": \{|"[0-9]{1,12}": "[0-9-]{10} [0-9:]{8}",?'
    r"|TRANSACTION (?:RESPONSE TIMES|COUNT)|HAMMERDB RESULT"
)
_TIMES_OF_JOB = "TRANSACTION RESPONSE TIMES"
_NAMES = {"neword": "new_order", "ostat": "order_status", "slev": "stock_level"}
_MS = re.compile(r"([0-9]+[.,][0-9]{3})ms")


def recognises(text: str) -> float:
    """Score by test results, virtual users and time profiles."""
    return recognition.score(text, _SIGNS)


def read(text: str) -> Log:
    """Read every run in the text."""
    return _Reader(text).log(FORMAT)


class _Reader(LogReader):
    tool = "hammerdb"

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.users = ""  # suffix naming the virtual user of the profile; empty for all users
        self.profile_known = False  # whether the heading of the profile was read
        self.procedure = ""
        self.times_first = False  # whether the draft has times of a job, whose result follows
        self.results = 0  # since the last times
        self.is_attaching = True  # while times of jobs stand before their results, as HammerDB's scripts print them
        self.version = ""
        self.options: dict[str, str] = {}
        self.user = ""  # virtual user of the current line
        self.sets: dict[str, int] = {}  # completed query sets by virtual user

    def understands(self, number: int, line: str) -> bool:
        line = line.strip()
        if match := _OF_JOBS.fullmatch(line):
            return number != self.cut and self._of_job(number, match)
        if _IDLE_OF_JOBS.fullmatch(line):
            if line == _TIMES_OF_JOB and self.results > 1:
                self.end()
            self.results = 0 if line == _TIMES_OF_JOB else self.results
            if line == _TIMES_OF_JOB and self.is_attaching and self.draft.stage > 1:
                self.is_attaching = not self.times_first  # two jobs' times in a row: whose the next result is, is open
                self.end()
            return True
        if line.startswith('"'):
            line = line.strip('",')  # the web service returns the lines of a job quoted
        self.user = ""
        if match := _VUSER.match(line):
            self.user, line = match[1], match[2].strip()
            if line == "RUNNING" and self.sets.get(self.user) and len(self.sets) > 1:
                self.end()  # the virtual users were restarted
            self.sets.setdefault(self.user, 0)
        if match := _RESULT.fullmatch(line):
            return self._result(number, match)
        if line.startswith(">"):
            return self._profile(number, line)
        if self.procedure and line.startswith(tuple(f"{name}:" for name in _PROFILE_METRICS)):
            return self._times(number, line)
        return self._setting(number, line) or self._status_line(number, line)

    def _of_job(self, number: int, match: re.Match[str]) -> bool:
        """Read a line of JSON: a procedure, a time of it, or a figure of a result."""
        if match["procedure"]:
            self.times_first = self.times_first or (self.is_attaching and not self.draft.readings)
            self.procedure, self.users = _NAMES.get(match["procedure"].lower(), match["procedure"].lower()), ""
            return self._advance(number, 0)
        if match["name"]:
            name = match["name"].removesuffix("_ms").removesuffix("_pct").upper()
            reading = _reading_of(name, match["time"], match["time"], self.procedure, number)
            if reading is None or not self.procedure:
                return False
            self._add_time_of_profile(reading)
            return self._advance(number, 2)
        value = match["value"]
        if match["key"] == "db":
            if self.draft.stage > 1:
                self.end()
            self.draft.options["database"] = value
        elif match["key"] == "activevu":
            self.draft.load = int(value) if value.isdecimal() and len(value) < 7 else None
        elif not value.isdecimal():
            return False
        else:
            self._rate(number, match["key"], value, value)
            return self._advance(number, 2)
        return self._advance(number, 1)

    def _rate(self, number: int, name: str, token: str, stated: str) -> None:
        """Add new orders (nopm) or all transactions (tpm) a minute."""
        metric = "throughput_per_s" if name == "nopm" else "transactions_per_s"
        value = in_base_unit(token, Field(metric, "1/s", 0, 60))
        if value is not None:
            self.draft.add(LogReading(metric=metric, value=value, unit="1/s", line=number, stated=stated))

    def _result(self, number: int, match: re.Match[str]) -> bool:
        if self.draft.stage > 1 and not self.times_first:
            self.end()
        self.results += 1
        self.is_attaching = self.is_attaching and self.times_first
        self.times_first = False
        groups = {name: value for name, value in match.groupdict().items() if value}
        for name in ("nopm", "tpm"):
            token = groups.get(name) or groups[f"old_{name}"]
            self._rate(number, name, token, f"{token} NOPM" if name == "nopm" else token)
        self.draft.options["database"] = groups.get("database") or groups["old_database"]
        return self._advance(number, 2) and len(self.draft.readings) >= 2

    def _profile(self, number: int, line: str) -> bool:
        if match := _PROFILE.fullmatch(line):
            self.users = f" of user {match[1]}" if match[1] else ""
            self.procedure, self.profile_known = "", number != self.cut
        elif match := _PROCEDURE.fullmatch(line):
            if number == self.cut or not self.profile_known:
                return False
            self.procedure = _NAMES.get(match[1].lower(), match[1].lower())
        else:
            if ">>" in line:
                self.procedure, self.profile_known = "", False  # the owner of the following times is unknown
            return False
        self.draft.touch(number)
        return True

    def _times(self, number: int, line: str) -> bool:
        """Read a line of a time profile; a time without a unit is not understood."""
        understood = True
        subject = self.procedure + self.users
        for name, token in _TIMES.findall(line):
            reading = _profile_reading(name, token, subject, number)
            if reading is None or (number == self.cut and line.endswith(token) and not token.endswith(("ms", "%"))):
                understood = False
            else:
                self._add_time_of_profile(reading)
        self._advance(number, 2)
        return understood

    def _add_time_of_profile(self, reading: LogReading) -> None:
        """Add a time of a procedure; one that the run has already begins another run."""
        if (reading.metric, reading.subject) in self.draft.readings:
            procedure, users = self.procedure, self.users
            self.end()
            self.procedure, self.users, self.profile_known = procedure, users, True
        self.draft.add(reading)

    def _setting(self, number: int, line: str) -> bool:
        if match := _SETTING.fullmatch(line):
            words = match[2].split()
            if match[1] in ("diset", "dbset", "vuset") and len(words) >= 2 and number != self.cut:
                name, value = words[-2], words[-1].strip('"{}')
                self._set_option(name, value)
            return self._advance(number, 0)
        if match := _CHANGED.match(line):
            words = match[2].split()
            if len(words) >= 4 and words[0] == "from" and words[2] == "to":
                self._set_option(match[1].rpartition(":")[2], words[3])
            return self._advance(number, 0)
        return False

    def _set_option(self, name: str, value: str) -> None:
        self.options[name] = HIDDEN if "pass" in name else value

    def _status_line(self, number: int, line: str) -> bool:
        if match := _BANNER.fullmatch(line):
            self.version = match[1]
        elif match := _ACTIVE.fullmatch(line):
            if self.may_lack_its_beginning(number):
                return False
            if self.draft.stage > 1 and not self.times_first:
                self.end()
            self.draft.load = int(match[1])
            self._advance(number, 1)
        elif match := _TESTED.fullmatch(line):
            if self.draft.stage > 1:
                self.end()
            duration_s = 60.0 * int(match[1])
            self.draft.add(LogReading(metric="duration_s", value=duration_s, unit="s", line=number, stated=match[1]))
            self._advance(number, 1)
        elif match := _BEGUN.fullmatch(line):
            if self.draft.stage:
                self.end()
            self.draft.options["rampup"] = match[1]
            self._advance(number, 1)
        elif match := _QUERIES.fullmatch(line):
            return self._queries(number, match[1], match[2], match[3])
        elif match := _MEAN.fullmatch(line):
            return self._add_time(
                number, "query_geometric_mean_s", self._of_user(self.sets.get(self.user, 0)), match[1], 5
            )
        elif line == "FINISHED FAILED" and self.draft.stage:
            self.draft.failed = f"Vuser {self.user}:{line}"
        elif not (_IDLE.fullmatch(line) or _RAMPED.fullmatch(line)):
            return False
        return self._advance(number, 0)

    def _queries(self, number: int, query: str | None, sets: str | None, duration: str) -> bool:
        """Add the duration of one query, or of a whole set; concurrent users have separate times."""
        completed = self.sets.get(self.user, 0)
        if sets:
            self.sets[self.user] = int(sets)
            return self._add_time(number, "duration_s", f"{sets} query sets{self._of_user(0)}", duration, 3)
        return self._add_time(number, "duration_s", f"query {query}{self._of_user(completed + 1)}", duration, 3)

    def _of_user(self, in_set: int) -> str:
        if len(self.sets) < 2:
            return ""
        return f" of user {self.user}" + (f" in set {in_set}" if in_set > 1 else "")

    def _add_time(self, number: int, metric: str, subject: str, duration: str, decimals: int) -> bool:
        value = in_base_unit(duration, Field(metric, "s", decimals))
        if value is None:
            return False
        self._add(
            LogReading(metric=metric, value=value, unit="s", line=number, stated=duration, subject=subject.strip())
        )
        return True

    def _add(self, reading: LogReading) -> None:
        if (reading.metric, reading.subject) in self.draft.readings or ("throughput_per_s", "") in self.draft.readings:
            self.end()  # also where a query follows the result of transactions
        self.draft.add(reading)
        self._advance(reading.line, 2)

    def _advance(self, number: int, stage: int) -> bool:
        self.draft.stage = max(self.draft.stage, stage)
        self.draft.touch(number)
        return True

    def end(self) -> None:
        draft, self.draft, self.procedure, self.users = self.draft, Draft(tool=self.tool), "", ""
        self.profile_known = self.times_first = False
        if not draft.stage:
            return
        draft.version = self.version
        draft.options = self.options | draft.options
        names = set(draft.readings)
        draft.workload = "tpch" if any("query" in f"{metric} {subject}" for metric, subject in names) else "tpcc"
        if draft.workload == "tpch" and len(self.sets) > 1:
            draft.load = draft.load or len(self.sets)
        self.sets.clear()
        missing = "" if ("throughput_per_s", "") in names or draft.workload == "tpch" else "the test result"
        self.runs.append(draft.run((), missing))


def _profile_reading(name: str, printed: str, subject: str, line: int) -> LogReading | None:
    """The reading of a time with its unit, a share with its sign, or a number of calls."""
    _metric, unit, _per = _PROFILE_METRICS.get(name, ("", "", 1.0))
    if unit == "s":
        token = match[1] if (match := _MS.fullmatch(printed)) else ""
    else:
        token = printed if unit == "count" else printed.removesuffix("%") if printed.endswith("%") else ""
    return _reading_of(name, token, printed, subject, line) if token else None


def _reading_of(name: str, token: str, printed: str, subject: str, line: int) -> LogReading | None:
    metric, unit, per = _PROFILE_METRICS.get(name, ("", "", 1.0))
    decimals = 0 if unit == "count" else 3
    value = in_base_unit(token, Field(metric, unit, decimals, per)) if metric else None
    if value is None:
        return None
    return LogReading(metric=metric, value=value, unit=unit, line=line, stated=printed, subject=subject)
