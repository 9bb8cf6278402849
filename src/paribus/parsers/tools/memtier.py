"""Reader of memtier_benchmark: the table of all statistics, by kind of operation.

Source of the form: memtier_benchmark 1.2 to 2.1. Response times are in milliseconds, amounts in KB of 1024 bytes.
"""

import re
from collections.abc import Iterator, Mapping

from paribus.parsers import recognition
from paribus.parsers.log import Log, LogReading
from paribus.parsers.numbers import decimals, printed
from paribus.parsers.reader import Draft, LogReader
from paribus.parsers.shapes import MOST_S, percentile

FORMAT = "memtier"
_SIGNS = (
    ("Connections per thread", 0.6),
    ("Hits/sec   Misses/sec", 0.6),
    ("[RUN #1] Launching threads", 0.5),
)
_AMOUNT = re.compile(r"(?P<number>[0-9]{1,12}) +(?P<of>Threads|Connections per thread|Requests per client|Seconds)")
_TITLE = re.compile(
    r"ALL STATS|(?P<of>BEST|WORST) RUN RESULTS|RUN #(?P<number>[0-9]{1,4}) RESULTS"
    r"|AGGREGATED AVERAGE RESULTS \((?P<runs>[0-9]{1,4}) runs\)"
)
_BEGUN = re.compile(r"\[RUN #1\] Preparing benchmark client\.\.\.")
_COMMAND = re.compile(r".*\bmemtier_benchmark (?P<arguments>-.*)")
_OPTION = re.compile(
    r"--(?P<name>pipeline|data-size|data-size-range|key-pattern|key-maximum|ratio|protocol|cluster-mode|multi-key-get)"
    r"(?:[= ](?P<value>[\w:.,-]{1,40}))?(?= |$)"
)
_HEADS = re.compile(r"Type +Ops/sec\b.*")
_HEAD = re.compile(r"(?:Ops|Hits|Misses|MOVED|ASK)/sec|(?:Avg\. |p[0-9.,]{1,7} )?Latency|KB/sec(?: [RT]X)?")
_KINDS = re.compile(r"(?P<kind>[A-Z][A-Za-z]{2,20})s +(?P<cells>(?:[0-9.,]{3,20}|---)(?: +(?:[0-9.,]{3,20}|---))+)")
_KNOWN = re.compile(
    r"Writing results to .*|\[RUN #[0-9]{1,4}(?: [0-9]{1,3}%, .*)?\].*|[=-]{20,}|Request Latency Distribution"
    r"|Type +<= msec +Percent|[A-Z]{3,20} +[0-9.,]{5,15} +[0-9.,]{4,7}|-{3}"
)
_OPTIONS = {"Requests per client": "requests", "Seconds": "test-time"}
_TOTAL = "total"
_COLUMNS: Mapping[str, tuple[str, str, float, tuple[int, ...]]] = {
    "Ops/sec": ("throughput_per_s", "1/s", 1.0, (2,)),
    "Hits/sec": ("hits_per_s", "1/s", 1.0, (2,)),
    "Misses/sec": ("misses_per_s", "1/s", 1.0, (2,)),
    "Latency": ("response_mean_s", "s", 1e-3, (3, 5)),
    "Avg. Latency": ("response_mean_s", "s", 1e-3, (3, 5)),
    "KB/sec": ("bytes_per_s", "B/s", 1024.0, (2,)),
}


def recognises(text: str) -> float:
    """Score by the heads of the statistics and the amounts above them."""
    return recognition.score(text, _SIGNS)


def read(text: str) -> Log:
    """Read every run in the text."""
    return _Reader(text).log(FORMAT)


class _Reader(LogReader):
    tool = "memtier"

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.amounts: dict[str, str] = {}
        self.heads: list[str] = []
        self.is_left_out = False  # whether the statistics are of the best or the worst run, or the mean of others here
        self.has_single_runs = False
        self.command: dict[str, str] = {}

    def understands(self, number: int, line: str) -> bool:
        line = " ".join(line.split())
        if number == self.cut:
            return False
        if match := _AMOUNT.fullmatch(line):
            return self._amount(number, match["of"], match["number"])
        if match := _TITLE.fullmatch(line):
            self.end()
            self.has_single_runs = self.has_single_runs or bool(match["number"])
            self.is_left_out = bool(match["of"]) or bool(match["runs"] and self.has_single_runs)
            if match["runs"]:
                self.draft.options["mean of runs"] = match["runs"]
            return True
        if match := _COMMAND.fullmatch(line):
            is_alone = not self.command or bool(self.amounts)  # of several before the outputs, none is of this one
            self._begin()
            self.command = (
                {}
                if not is_alone
                else {option["name"]: option["value"] or "on" for option in _OPTION.finditer(match["arguments"])}
            )
            return True
        if _BEGUN.fullmatch(line):
            command = self.command if not self.amounts else {}
            self._begin()
            self.command = command
            return True
        if _HEADS.fullmatch(line):
            self.heads = _HEAD.findall(line)
            return True
        if match := _KINDS.fullmatch(line):
            return self._kind(number, match["kind"].lower(), match["cells"].split())
        return _KNOWN.fullmatch(line) is not None

    def _begin(self) -> None:
        """Begin another output, of which neither options nor amounts are known yet."""
        self.end()
        self.amounts.clear()
        self.command = {}
        self.has_single_runs = False

    def _amount(self, line: int, of: str, number: str) -> bool:
        """Take the number of threads, which begins a run, or of connections, requests or seconds."""
        if of == "Threads":
            self.end()
            self.amounts.clear()
        self.amounts[of] = number
        self.draft.touch(line)
        return True

    def _kind(self, line: int, kind: str, cells: list[str]) -> bool:
        """Read a row; one of the best or the worst of several runs is understood and left out."""
        if len(cells) != len(self.heads):
            return False
        readings = list(_readings(dict(zip(self.heads, cells, strict=True)), "" if kind == _TOTAL else kind, line))
        if None in readings:
            return False
        self.draft.touch(line)
        is_idle = any(reading and reading.metric == "throughput_per_s" and not reading.value for reading in readings)
        for reading in readings:
            if reading is not None and not self.is_left_out and (kind == _TOTAL or not is_idle):
                self.draft.add(reading)
        if kind == _TOTAL:
            self.end()
        return True

    def end(self) -> None:
        draft, self.draft = self.draft, Draft(tool=self.tool)
        if not draft.readings:
            return
        factors = [self.amounts.get(name, "") for name in ("Threads", "Connections per thread")]
        if all(factors) and (load := int(factors[0]) * int(factors[1])) < 10**7:
            draft.load = load
        rates = {
            kind: reading.value for (metric, kind), reading in draft.readings.items() if metric == "throughput_per_s"
        }
        draft.workload = " ".join(["memtier", *sorted(f"{kind}s" for kind, rate in rates.items() if kind and rate)])
        if rates.get("set") and rates.get("get"):
            draft.options["gets per set"] = f"{rates['get'] / rates['set']:.2g}"
        draft.options |= self.command | {name: self.amounts[of] for of, name in _OPTIONS.items() if of in self.amounts}
        self.runs.append(draft.run((), "" if ("throughput_per_s", "") in draft.readings else "the totals"))


def _readings(row: Mapping[str, str], kind: str, line: int) -> Iterator[LogReading | None]:
    """The readings of a row; None for a figure that is no number, or too large for a time."""
    for head, text in row.items():
        metric, unit, times, digits = _meaning(head)
        if text == "---" or not metric:
            continue
        value = printed(text)
        if value is None or decimals(text) not in digits or (unit == "s" and value * times > MOST_S):
            yield None
        else:
            yield LogReading(metric=metric, value=value * times, unit=unit, line=line, stated=text, subject=kind)


def _meaning(head: str) -> tuple[str, str, float, tuple[int, ...]]:
    """Return metric, base unit, factor and possible decimals of a column; an empty metric for others."""
    if head in _COLUMNS:
        return _COLUMNS[head]
    match = re.fullmatch(r"p([0-9.,]{1,7}) Latency", head)
    of = percentile(match[1].replace(",", ".")) if match else ""
    return (f"response_p{of}_s", "s", 1e-3, (3, 5)) if of else ("", "", 1.0, ())
