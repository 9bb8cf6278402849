"""HammerDB's output, of its command line, its window and its log file: results, virtual users, time profiles."""

import re

from paribus.parsers.log import Log, LogReading
from paribus.parsers.reader import Draft, LogReader
from paribus.parsers.redact import HIDDEN
from paribus.parsers.shapes import Field, in_base_unit

FORMAT = "hammerdb"
_ENDS = 16384
_SIGNS = (
    ("TEST RESULT : System achieved", 0.8),
    ("HammerDB", 0.4),
    ("Hammerdb", 0.4),
    ("Vuser 1:", 0.4),
    (">>>>> PROC:", 0.6),
    ("Active Virtual Users", 0.3),
    (" NOPM", 0.2),
)
_VUSER = re.compile(r"(?:Vuser|Virtual User) ([0-9]{1,6}):\s?(.*)")
# 4.0 and later put new orders first, unless they are told to print the old form.
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
    r"(?:hammerdb>\s*)?(diset|dbset|vuset|loadscript|vucreate|vurun|vudestroy|tcset|tcstart)\b\s*(.*)"
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
_STATED = {
    "CALLS": ("operations", "count", 1.0),
    "MIN": ("response_min_s", "s", 1000.0),
    "AVG": ("response_mean_s", "s", 1000.0),
    "MAX": ("response_max_s", "s", 1000.0),
    "TOTAL": ("response_sum_s", "s", 1000.0),
    "SD": ("response_stddev_s", "s", 1000.0),
    **{f"P{n}": (f"response_p{n}_s", "s", 1000.0) for n in (99, 95, 90, 75, 50, 25)},
    "RATIO": ("time_share", "1", 100.0),
}
_NAMES = {"neword": "new_order", "ostat": "order_status", "slev": "stock_level"}
_MS = re.compile(r"([0-9]+[.,][0-9]{3})ms")


def recognises(text: str) -> float:
    """By its results, its virtual users and its time profiles."""
    ends = text if len(text) <= 2 * _ENDS else text[:_ENDS] + text[-_ENDS:]
    return min(0.96, sum(sure for sign, sure in _SIGNS if sign in ends))


def read(text: str) -> Log:
    """Every run of the text."""
    return _Reader(text).log(FORMAT)


class _Reader(LogReader):
    tool = "hammerdb"

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.users = ""  # of whom the profile is, where that is one
        self.whose = False  # whether that is known
        self.procedure = ""
        self.version = ""
        self.asked: dict[str, str] = {}
        self.user = ""  # whose line it is
        self.sets: dict[str, int] = {}  # how many sets of queries each user has completed

    def understands(self, number: int, line: str) -> bool:
        line = line.strip()
        if line.startswith('"'):
            line = line.strip('",')  # as its web service lists the lines of a job
        self.user = ""
        if match := _VUSER.match(line):
            self.user, line = match[1], match[2].strip()
            if line == "RUNNING" and self.sets.get(self.user) and len(self.sets) > 1:
                self.end()  # they are started anew
            self.sets.setdefault(self.user, 0)
        if match := _RESULT.fullmatch(line):
            return self._result(number, match)
        if line.startswith(">"):
            return self._profile(number, line)
        if self.procedure and line.startswith(tuple(f"{name}:" for name in _STATED)):
            return self._times(number, line)
        return self._setting(number, line) or self._told(number, line)

    def _result(self, number: int, match: re.Match[str]) -> bool:
        if self.draft.stage > 1:
            self.end()
        whole = {name: value for name, value in match.groupdict().items() if value}
        for metric, name in (("throughput_per_s", "nopm"), ("transactions_per_s", "tpm")):
            token = whole.get(name) or whole[f"old_{name}"]
            value = in_base_unit(token, Field(metric, "1/s", 0, 60))
            if value is not None:
                stated = f"{token} NOPM" if name == "nopm" else token
                self.draft.add(LogReading(metric=metric, value=value, unit="1/s", line=number, stated=stated))
        self.draft.options["database"] = whole.get("database") or whole["old_database"]
        return self._at(number, 2) and len(self.draft.readings) >= 2

    def _profile(self, number: int, line: str) -> bool:
        if match := _PROFILE.fullmatch(line):
            self.users = f" of user {match[1]}" if match[1] else ""
            self.procedure, self.whose = "", number != self.cut
        elif match := _PROCEDURE.fullmatch(line):
            if number == self.cut or not self.whose:
                return False
            self.procedure = _NAMES.get(match[1].lower(), match[1].lower())
        else:
            if ">>" in line:
                self.procedure, self.whose = "", False  # whose times follow is not known
            return False
        self.draft.touch(number)
        return True

    def _times(self, number: int, line: str) -> bool:
        """A line of a time profile: every time has its unit, and what has none is not understood."""
        understood = True
        subject = self.procedure + self.users
        for name, words in _TIMES.findall(line):
            one = _stated(name, words, subject, number)
            if one is None or (number == self.cut and line.endswith(words) and not words.endswith(("ms", "%"))):
                understood = False
            elif (one.metric, one.subject) in self.draft.readings:
                procedure, users = self.procedure, self.users
                self.end()
                self.procedure, self.users, self.whose = procedure, users, True
                self.draft.add(one)
            else:
                self.draft.add(one)
        self._at(number, 2)
        return understood

    def _setting(self, number: int, line: str) -> bool:
        if match := _SETTING.fullmatch(line):
            words = match[2].split()
            if match[1] in ("diset", "dbset", "vuset") and len(words) >= 2 and number != self.cut:
                name, value = words[-2], words[-1].strip('"{}')
                self._asked(name, value)
            return self._at(number, 0)
        if match := _CHANGED.match(line):
            words = match[2].split()
            if len(words) >= 4 and words[0] == "from" and words[2] == "to":
                self._asked(match[1].rpartition(":")[2], words[3])
            return self._at(number, 0)
        return False

    def _asked(self, name: str, value: str) -> None:
        self.asked[name] = HIDDEN if "pass" in name else value

    def _told(self, number: int, line: str) -> bool:
        if match := _BANNER.fullmatch(line):
            self.version = match[1]
        elif match := _ACTIVE.fullmatch(line):
            if self.may_lack_its_beginning(number):
                return False
            if self.draft.stage > 1:
                self.end()
            self.draft.load = int(match[1])
            self._at(number, 1)
        elif match := _TESTED.fullmatch(line):
            if self.draft.stage > 1:
                self.end()
            lasted = 60.0 * int(match[1])
            self.draft.add(LogReading(metric="duration_s", value=lasted, unit="s", line=number, stated=match[1]))
            self._at(number, 1)
        elif match := _BEGUN.fullmatch(line):
            if self.draft.stage:
                self.end()
            self.draft.options["rampup"] = match[1]
            self._at(number, 1)
        elif match := _QUERIES.fullmatch(line):
            return self._queries(number, match[1], match[2], match[3])
        elif match := _MEAN.fullmatch(line):
            return self._taken(
                number, "query_geometric_mean_s", self._of_user(self.sets.get(self.user, 0)), match[1], 5
            )
        elif not (_IDLE.fullmatch(line) or _RAMPED.fullmatch(line)):
            return False
        return self._at(number, 0)

    def _queries(self, number: int, query: str | None, sets: str | None, took: str) -> bool:
        """How long a query took, or all of them; users that run theirs at once have times of their own."""
        done = self.sets.get(self.user, 0)
        if sets:
            self.sets[self.user] = int(sets)
            return self._taken(number, "duration_s", f"{sets} query sets{self._of_user(0)}", took, 3)
        return self._taken(number, "duration_s", f"query {query}{self._of_user(done + 1)}", took, 3)

    def _of_user(self, in_set: int) -> str:
        if len(self.sets) < 2:
            return ""
        return f" of user {self.user}" + (f" in set {in_set}" if in_set > 1 else "")

    def _taken(self, number: int, metric: str, subject: str, took: str, decimals: int) -> bool:
        value = in_base_unit(took, Field(metric, "s", decimals))
        if value is None:
            return False
        self._add(LogReading(metric=metric, value=value, unit="s", line=number, stated=took, subject=subject.strip()))
        return True

    def _add(self, one: LogReading) -> None:
        if (one.metric, one.subject) in self.draft.readings:
            self.end()
        self.draft.add(one)
        self._at(one.line, 2)

    def _at(self, number: int, stage: int) -> bool:
        self.draft.stage = max(self.draft.stage, stage)
        self.draft.touch(number)
        return True

    def end(self) -> None:
        draft, self.draft, self.procedure, self.users = self.draft, Draft(tool=self.tool), "", ""
        self.whose = False
        if not draft.stage:
            return
        draft.version = self.version
        draft.options = self.asked | draft.options
        names = set(draft.readings)
        draft.workload = "tpch" if any(subject.startswith("query") for _, subject in names) else "tpcc"
        if draft.workload == "tpch" and len(self.sets) > 1:
            draft.load = draft.load or len(self.sets)
        self.sets.clear()
        missing = "" if ("throughput_per_s", "") in names or draft.workload == "tpch" else "the test result"
        self.runs.append(draft.run((), missing))


def _stated(name: str, words: str, subject: str, line: int) -> LogReading | None:
    metric, unit, per = _STATED.get(name, ("", "", 1.0))
    if not metric:
        return None
    if unit == "s":
        match = _MS.fullmatch(words)
        token, decimals = (match[1], 3) if match else ("", 3)
    elif unit == "count":
        token, decimals = words, 0
    else:
        token, decimals = (words[:-1], 3) if words.endswith("%") else ("", 3)
    value = in_base_unit(token, Field(metric, unit, decimals, per)) if token else None
    if value is None:
        return None
    return LogReading(metric=metric, value=value, unit=unit, line=line, stated=words, subject=subject)
