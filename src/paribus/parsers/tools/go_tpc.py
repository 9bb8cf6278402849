"""Reader of go-tpc (also `tiup bench tpcc`): the summary of each kind of TPC-C transaction, and tpmC.

Source of the forms: go-tpc from March 2020 on. Its histograms hold a response time to one digit, up to 16 s.
"""

import re
import shlex
from collections.abc import Mapping, Sequence

from paribus.parsers import recognition
from paribus.parsers.log import Log, LogReading
from paribus.parsers.numbers import printed
from paribus.parsers.reader import Draft, LogReader
from paribus.parsers.shapes import MOST_S, percentile

FORMAT = "go-tpc"
_SIGNS = (("[Summary] NEW_ORDER - Takes(s): ", 0.95), ("tpmC: ", 0.4), (" - Takes(s): ", 0.5), ("go-tpc tpcc", 0.3))
_KINDS = ("NEW_ORDER", "PAYMENT", "ORDER_STATUS", "DELIVERY", "STOCK_LEVEL")
_SUMMARY = re.compile(rf"\[Summary\] (?P<kind>{'|'.join(_KINDS)})(?P<failed>_ERR)? +- (?P<figures>Takes\(s\): .*)")
_TPMC = re.compile(
    r"tpmC: (?P<tpmc>[0-9.,]{1,20})(?:, tpmTotal: (?P<total>[0-9.,]{1,20}))?"
    r"(?:, efficiency: (?P<efficiency>[0-9.,]{1,12})%)?"
)
_COMMAND = re.compile(r".*\b(?:go-tpc|tiup(?:-bench| bench)) (?P<arguments>.*\btpcc\b.*)")
_KNOWN = re.compile(
    r"\[Current\] .*|\[Summary\] (?:KEYING|THINKING)TIME-.*|Finished|begin to .*|creating table .*|load to .*"
    r"|creating index .*|finish .*|maxprocs: .*|Starting component .*|execute run failed, err .*"
)
_OTHER_COMMAND = re.compile(r"(?:^| )(?:prepare|cleanup|check)(?: |$)")
_ATTACHED = re.compile(r"-T(?P<threads>[0-9]{1,6})")
_OPTIONS = {"-T": "threads", "--threads": "threads", "--warehouses": "warehouses", "--time": "time", "--parts": "parts",
            "--isolation": "isolation", "--weight": "weight", "-d": "driver", "--driver": "driver"}  # fmt: skip
_FLAGS = ("--wait", "--use-fk")
_TPMC_OF_WAREHOUSE = 12.86
"""What a warehouse can reach by the specification, which `efficiency` is a share of."""
_HALF_DIGIT = 0.05


def recognises(text: str) -> float:
    """Score by the wording of the summary."""
    return recognition.score(text, _SIGNS)


def read(text: str) -> Log:
    """Read every run in the text."""
    return _Reader(text).log(FORMAT)


def _options(arguments: str) -> dict[str, str]:
    """Return the options of a command line that change the test; no address, user or password."""
    try:
        words = shlex.split(arguments)
    except ValueError:
        words = arguments.split()
    options: dict[str, str] = {}
    remaining = iter(words)
    for word in remaining:
        name, equals, value = word.partition("=")
        if match := _ATTACHED.fullmatch(word):
            options["threads"] = match["threads"]
        elif name in _OPTIONS:
            options[_OPTIONS[name]] = value if equals else next(remaining, "")
        elif name in _FLAGS:
            options[name.lstrip("-")] = value or "true"
    return options


def _warehouses(tpmc: str, efficiency: str | None) -> str:
    """Return the number of warehouses that both figures imply; empty where no whole number does."""
    rate, share = printed(tpmc), (printed(efficiency) if efficiency else None)
    if rate is None or share is None or share <= _HALF_DIGIT:
        return ""
    share /= 100
    least = (rate - _HALF_DIGIT) / (_TPMC_OF_WAREHOUSE * (share + _HALF_DIGIT / 100))
    most = (rate + _HALF_DIGIT) / (_TPMC_OF_WAREHOUSE * (share - _HALF_DIGIT / 100))
    whole = round((least + most) / 2)
    return str(whole) if least <= whole <= most and most - least < 1 and whole else ""


class _Reader(LogReader):
    tool = "go-tpc"

    def understands(self, number: int, line: str) -> bool:
        line = line.strip()
        if number == self.cut:
            return False
        if match := _COMMAND.fullmatch(line):
            return self._command(number, match["arguments"], is_echo=line.startswith("Starting component"))
        if match := _SUMMARY.fullmatch(line):
            return self._summary(number, match["kind"].lower(), match["figures"], failed=bool(match["failed"]))
        if match := _TPMC.fullmatch(line):
            return self._tpmc(number, match)
        return _KNOWN.fullmatch(line) is not None

    def _command(self, line: int, arguments: str, *, is_echo: bool) -> bool:
        """The command line of a run, or the second one that tiup prints of the same; others make no run."""
        earlier = self.draft.options if is_echo else {}
        self.end()
        if _OTHER_COMMAND.search(arguments):
            return True
        self.draft.touch(line)
        self.draft.options = earlier | _options(arguments)
        threads = self.draft.options.get("threads", "1")
        self.draft.load = int(threads) if threads.isdecimal() and len(threads) < 7 else None
        return True

    def _summary(self, line: int, kind: str, text: str, *, failed: bool) -> bool:
        """The figures of one kind of transaction, or of those of it that failed."""
        figures = dict(part.split(": ", 1) for part in text.split(", ") if ": " in part)
        readings = [_failures(kind, figures, line)] if failed else list(_of_kind(kind, figures, line))
        if not readings or None in readings:
            return False
        stated = [reading for reading in readings if reading is not None]
        if any((reading.metric, reading.subject) in self.draft.readings for reading in stated):
            self.end()
        self.draft.stage = 1
        self.draft.touch(line)
        for reading in stated:
            self.draft.add(reading)
        return True

    def _tpmc(self, line: int, match: re.Match[str]) -> bool:
        rate = printed(match["tpmc"])
        if rate is None:
            return False
        self.draft.stage = 2
        self.draft.touch(line)
        self.draft.add(_reading("throughput_per_s", "1/s", rate / 60, line, match["tpmc"], ""))
        if match["total"] and (total := printed(match["total"])) is not None:
            self.draft.add(_reading("throughput_per_s", "1/s", total / 60, line, match["total"], "all"))
        if "warehouses" not in self.draft.options and (n := _warehouses(match["tpmc"], match["efficiency"])):
            self.draft.options["warehouses"] = n
        self.end()
        return True

    def end(self) -> None:
        draft, self.draft = self.draft, Draft(tool=self.tool)
        if not draft.readings:
            return
        draft.workload = "tpcc"
        required = {"tpmC": ("throughput_per_s", ""), "new orders": ("operations", "new_order")}
        self.runs.append(draft.run((), ", ".join(what for what, key in required.items() if key not in draft.readings)))


def _reading(metric: str, unit: str, value: float, line: int, text: str, subject: str) -> LogReading:
    return LogReading(metric=metric, value=value, unit=unit, line=line, stated=text, subject=subject)


def _failures(kind: str, figures: Mapping[str, str], line: int) -> LogReading | None:
    text = figures.get("Count", "")
    count = printed(text)
    return _reading("errors", "count", count, line, text, kind) if count is not None else None


def _of_kind(kind: str, figures: Mapping[str, str], line: int) -> Sequence[LogReading | None]:
    """The readings of a summary line; None for a figure that is no number, or too large for a time."""
    readings: list[LogReading | None] = []
    for name, text in figures.items():
        value = printed(text)
        if value is None:
            return [None]
        if name == "Count":
            readings.append(_reading("operations", "count", value, line, text, kind))
        elif name == "TPM":
            readings.append(_reading("throughput_per_s", "1/s", value / 60, line, text, kind))
        elif name == "Takes(s)" and kind == "new_order":
            readings.append(_reading("duration_s", "s", value, line, text, ""))
        elif metric := _time_of(name):
            seconds = value / 1000
            readings.append(_reading(metric, "s", seconds, line, text, kind) if seconds <= MOST_S else None)
    return readings


def _time_of(name: str) -> str:
    """Return the metric of a response time by its name in the summary; empty for the sum and other figures."""
    if name in ("Avg(ms)", "Max(ms)"):
        return {"Avg(ms)": "response_mean_s", "Max(ms)": "response_max_s"}[name]
    match = re.fullmatch(r"([0-9.,]{1,6})th\(ms\)", name)
    of = percentile(match[1]) if match else ""
    return f"response_p{of}_s" if of else ""
