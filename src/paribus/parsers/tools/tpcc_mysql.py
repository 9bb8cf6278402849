"""Reader of tpcc-mysql (tpcc_start): parameters, interval lines, raw results and TpmC."""

import re
from collections.abc import Iterator, Mapping, Sequence

from paribus.parsers import recognition
from paribus.parsers.log import Log, LogSeries
from paribus.parsers.reader import Draft, Intervals, LogReader
from paribus.parsers.redact import HIDDEN
from paribus.parsers.shapes import Field, Part, Unproven, count, readings, shape_of, shapes, without_prefix

FORMAT = "tpcc-mysql"
_KINDS = ("new_order", "payment", "order_status", "delivery", "stock_level")
_NAMES = {"New-Order": _KINDS[0], "Payment": _KINDS[1], "Order-Status": _KINDS[2], "Delivery": _KINDS[3]}
_NAMES |= {"Stock-Level": _KINDS[4]}
_SIGNS = ("TPC-C Load Generator", "<TpmC>", "<Raw Results>", "RAMP-UP TIME.(", "TpmC", ", 99%: ", ", max_rt: ")
_OPTION = re.compile(r"\[(\w+)\]: ?(.*)")
_INTERVAL_S = re.compile(r"option i with value '([0-9]{1,6})'")
_HEADINGS = ("<Raw Results>", "<Raw Results2(sum ver.)>", "<TpmC>", "<90th Percentile RT (MaxRT)>", "<RT Histogram>")


def _number(metric: str, subject: str) -> Field:
    return Field(metric, "count", 0, subject=subject)


def _ms(metric: str, subject: str) -> Field:
    # Since the form "trx: …" appeared in 2016: milliseconds, contrary to the README. A published run of 100 connections
    # has 100.1 concurrent transactions by these times and rates (Little's law).
    return Field(metric, "s", 3, 1000, subject)


def _counts(*after: Part) -> Iterator[Part]:
    """Yield the count of each transaction type, each followed by `after`."""
    for kind in _KINDS:
        yield _number("operations", kind)
        yield from after


_OTHERS = tuple(part for kind in _KINDS[1:] for part in (_number("operations", kind), _ms("response_max_s", kind)))
_INTERVALS: Mapping[str, tuple[Part, ...]] = shapes(
    {
        f"#, trx: #, #{percent}: #, #{percent}: #, max_rt: #, #|#, #|#, #|#, #|#": (
            *(None, _number("operations", _KINDS[0]), None, _ms("response_p95_s", _KINDS[0])),
            *(None, _ms("response_p99_s", _KINDS[0]), _ms("response_max_s", _KINDS[0]), *_OTHERS),
        )
        for percent in ("%", "")  # some systems' printf drops the sign
    }
    | {
        "#, trx: # max_rt: #, #|#, #|#, #|#, #|#": (
            *(None, _number("operations", _KINDS[0]), _ms("response_max_s", _KINDS[0]), *_OTHERS),
        ),
    }
    # Earlier forms use seconds, milliseconds or hundredths without saying which: only counts are read.
    | {"#, " + ", ".join(["#(#):#"] * 5): (None, *_counts(None, Unproven(1)))}
    | {"#, " + ", ".join(["#(#):#|#"] * 5): (None, *_counts(None, Unproven(1), Unproven(1)))}
    | {"#, " + ", ".join(["#:#|#"] * 5): (None, *_counts(Unproven(1), Unproven(1)))}
)
_SHARES = {
    f"{share} {verdict}": name
    for share, name in (("#%", "within_limit_share"), ("#% (>=#%)", "share"), ("#% (>= #%)", "share"))
    for verdict in ("[OK]", "[NG] *")
}
_RAW = ("sc:# lt:# rt:# fl:#", "sc:# lt:# rt:# fl:# avg_rt: # (#)")
_TPMC = Field("throughput_per_s", "1/s", 3, 60)  # TpmC counts new orders per minute


def recognises(text: str) -> float:
    """Score by the banner, the results and the interval lines."""
    ends = recognition.ends_of(text)
    return min(0.96, 0.5 * sum(sign in ends for sign in _SIGNS))


def read(text: str) -> Log:
    """Read every run in the text."""
    return _Reader(text).log(FORMAT)


class _Reader(LogReader):
    tool = "tpcc-mysql"

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.previous: tuple[int, float] | None = None  # line number and time of the previous interval
        self.step_s = 0.0  # interval between lines, if stated

    def understands(self, number: int, line: str) -> bool:
        line = line.strip()
        if line.startswith("[") and (match := _OPTION.fullmatch(line)):
            return self._option_line(number, match[1], match[2].strip())
        if line in _HEADINGS:
            return self._heading(number, line)
        shape, parts = shape_of(line)
        columns = _INTERVALS.get(shape)
        if columns is not None:
            return self._interval(number, shape, parts, columns)
        if number == self.cut and self.breaks_off(number, parts):
            return False
        return self._result(number, line, shape, parts) or self._idle(number, line, shape)

    def _option_line(self, number: int, name: str, value: str) -> bool:
        if self.draft.stage > 1:
            self.end()
        if number == self.cut:
            return False
        self.draft.touch(number)
        self.draft.stage = 1
        self.draft.options[name] = HIDDEN if name == "pass" and value else value
        if name == "connection":
            self.draft.load = count(value)
        return True

    def _heading(self, number: int, name: str) -> bool:
        if name in self.draft.headings:
            self.end()
        self.draft.headings.add(name)
        self.draft.section = name
        self._at(number, 3)
        return True

    def _interval(self, number: int, shape: str, parts: Sequence[str], columns: Sequence[Part]) -> bool:
        time = count(parts[1])
        if time is None or self.may_lack_its_beginning(number):
            return False
        if self.breaks_off(number, parts, columns):
            return False
        at_s = float(time)
        if self.draft.stage > 2 or (self.previous and at_s <= self.previous[1]):
            self.end()
        self._at(number, 2)
        # The line has no rate. Its duration is certain only if no line is missing since the previous one.
        duration_s = at_s - self.previous[1] if self.previous and self._follows(number, self.previous[0]) else 0.0
        self.previous = (number, at_s)
        intervals = self.draft.intervals.setdefault(shape, Intervals(columns))
        intervals.rows.append((number, at_s, [*parts, str(duration_s)]))
        return True

    def _follows(self, number: int, previous: int) -> bool:
        return not any(map(str.strip, map(without_prefix, self.lines[previous : number - 1])))

    def _result(self, number: int, line: str, shape: str, parts: Sequence[str]) -> bool:
        bare = shape.removeprefix("[#] ")
        sum_of = " (sum)" if "Results2" in self.draft.section else ""
        if bare in _RAW and self.draft.section.startswith("<Raw") and parts[1] in "01234":
            kind = _KINDS[int(parts[1])] + sum_of
            columns: list[Part] = [None, _number("operations", kind), _number("late", kind), _number("retries", kind)]
            columns += [_number("errors", kind), Field("response_mean_s", "s", 1, 1000, kind), None]
            return self._take(number, parts, columns[: shape.count("#")])
        if shape == "in # sec.":
            return self._take(number, parts, [Field("duration_s", "s", 0)])
        if shape == "# TpmC" and not self.may_lack_its_beginning(number):
            return self._take(number, parts, [_TPMC])
        name = line.partition(":")[0]
        share = _SHARES.get(shape.partition(": ")[2], "")
        if name in _NAMES and share:
            columns = [Field(share, "1", 2, 100, _NAMES[name]), *[None] * (shape.count("#") - 1)]
            return self._take(number, parts, columns)
        return False

    def _take(self, number: int, parts: Sequence[str], columns: Sequence[Part]) -> bool:
        line_readings = list(readings(number, parts, columns))
        if any(reading and (reading.metric, reading.subject) in self.draft.readings for reading in line_readings):
            self.end()
        self._at(number, 3)
        for reading in line_readings:
            if reading:
                self.draft.add(reading)
        return None not in line_readings

    def _idle(self, number: int, line: str, shape: str) -> bool:
        if match := _INTERVAL_S.fullmatch(line):
            self.step_s = float(match[1])
        elif line == "*** ###easy### TPC-C Load Generator ***":
            if self.draft.stage:
                self.end()
            self.step_s = 0.0
        elif shape == "MEASURING START.":
            self.previous = (number, 0.0)
        elif not (
            line.strip("*.") in ("", "STOPPING THREADS")
            or shape.startswith(("option ", "RAMP-UP TIME.(#", "Using schema: "))
            or line in ("<Parameters>", "[transaction percentage]", "[response time (at least 90% passed)]")
            or line == "<Constraint Check> (all must be [OK])"
        ):
            return False
        self.draft.touch(number)
        return True

    def _at(self, number: int, stage: int) -> None:
        self.draft.stage = max(self.draft.stage, stage)
        self.draft.touch(number)

    def end(self) -> None:
        draft, self.draft, self.previous = self.draft, Draft(tool=self.tool), None
        if not draft.stage:
            return
        draft.workload = "tpcc"
        rates = tuple(_rates(draft, self.step_s))
        courses = tuple(series for series in draft.courses(self.unknown) if series.metric != "operations")
        required = {"TpmC": ("throughput_per_s", ""), "raw results": ("operations", _KINDS[0])}
        missing = ", ".join(description for description, key in required.items() if key not in draft.readings)
        self.runs.append(draft.run((*rates, *courses), missing if draft.readings else "the whole report"))


def _rates(draft: Draft, stated_step_s: float) -> list[LogSeries]:
    """Return transactions per second for lines whose duration equals the stated or usual interval."""
    durations = [float(parts[-1]) for lines in draft.intervals.values() for _, _, parts in lines.rows]
    step_s = stated_step_s or min((s for s in durations[1:] if s), default=0.0)
    rates = []
    for lines in draft.intervals.values():
        for index, column in enumerate(lines.columns):
            if isinstance(column, Field) and column.metric == "operations":
                timed = [
                    (at_s, float(parts[2 * index + 1]) / float(parts[-1]))
                    for _, at_s, parts in lines.rows
                    if float(parts[-1]) == step_s > 0 and count(parts[2 * index + 1]) is not None
                ]
                if timed:
                    at_s, values = zip(*timed, strict=True)
                    subject = (
                        "" if column.subject == _KINDS[0] else column.subject
                    )  # the tool's throughput counts new orders
                    rates.append(
                        LogSeries(metric="throughput_per_s", unit="1/s", at_s=at_s, values=values, subject=subject)
                    )
    return rates
