"""tpcc-mysql's output (tpcc_start): its parameters, a line each interval, raw results and TpmC."""

import re
from collections.abc import Iterator, Mapping, Sequence

from paribus.parsers.log import Log, LogSeries
from paribus.parsers.reader import Draft, Intervals, LogReader
from paribus.parsers.redact import HIDDEN
from paribus.parsers.shapes import Field, Part, Unproven, count, readings, shape_of, shapes, without_prefix

FORMAT = "tpcc-mysql"
_ENDS = 16384
_KINDS = ("new_order", "payment", "order_status", "delivery", "stock_level")
_NAMES = {"New-Order": _KINDS[0], "Payment": _KINDS[1], "Order-Status": _KINDS[2], "Delivery": _KINDS[3]}
_NAMES |= {"Stock-Level": _KINDS[4]}
_SIGNS = ("TPC-C Load Generator", "<TpmC>", "<Raw Results>", "RAMP-UP TIME.(", "TpmC", ", 99%: ", ", max_rt: ")
_ASKED = re.compile(r"\[(\w+)\]: ?(.*)")
_INTERVAL_S = re.compile(r"option i with value '([0-9]{1,6})'")
_HEADINGS = ("<Raw Results>", "<Raw Results2(sum ver.)>", "<TpmC>", "<90th Percentile RT (MaxRT)>", "<RT Histogram>")


def _number(metric: str, subject: str) -> Field:
    return Field(metric, "count", 0, subject=subject)


def _ms(metric: str, subject: str) -> Field:
    # Since the form "trx: …" came, in 2016: milliseconds, whatever its README says. A published run of 100 connections
    # has 100.1 transactions at work by these times and its rates (Little's law).
    return Field(metric, "s", 3, 1000, subject)


def _counts(*after: Part) -> Iterator[Part]:
    """How many of each kind, each with what follows it."""
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
        for percent in ("%", "")  # which some systems' printf drops
    }
    | {
        "#, trx: # max_rt: #, #|#, #|#, #|#, #|#": (
            *(None, _number("operations", _KINDS[0]), _ms("response_max_s", _KINDS[0]), *_OTHERS),
        ),
    }
    # Before that there are seconds, milliseconds and hundredths, and nothing in the text tells which: counts alone.
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
_TPMC = Field("throughput_per_s", "1/s", 3, 60)  # new orders a minute are what it counts


def recognises(text: str) -> float:
    """By its banner, its results and its interval lines."""
    ends = text if len(text) <= 2 * _ENDS else text[:_ENDS] + text[-_ENDS:]
    return min(0.96, 0.5 * sum(sign in ends for sign in _SIGNS))


def read(text: str) -> Log:
    """Every run of the text."""
    return _Reader(text).log(FORMAT)


class _Reader(LogReader):
    tool = "tpcc-mysql"

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.before: tuple[int, float] | None = None  # the line of the interval before, and its time
        self.step_s = 0.0  # between interval lines, where it is told

    def understands(self, number: int, line: str) -> bool:
        line = line.strip()
        if line.startswith("[") and (match := _ASKED.fullmatch(line)):
            return self._asked(number, match[1], match[2].strip())
        if line in _HEADINGS:
            return self._heading(number, line)
        shape, parts = shape_of(line)
        columns = _INTERVALS.get(shape)
        if columns is not None:
            return self._interval(number, shape, parts, columns)
        if number == self.cut and self.breaks_off(number, parts):
            return False
        return self._result(number, line, shape, parts) or self._idle(number, line, shape)

    def _asked(self, number: int, name: str, words: str) -> bool:
        if self.draft.stage > 1:
            self.end()
        if number == self.cut:
            return False
        self.draft.touch(number)
        self.draft.stage = 1
        self.draft.options[name] = HIDDEN if name == "pass" and words else words
        if name == "connection":
            self.draft.load = count(words)
        return True

    def _heading(self, number: int, name: str) -> bool:
        if name in self.draft.headings:
            self.end()
        self.draft.headings.add(name)
        self.draft.section = name
        self._at(number, 3)
        return True

    def _interval(self, number: int, shape: str, parts: Sequence[str], columns: Sequence[Part]) -> bool:
        at = count(parts[1])
        if at is None or self.may_lack_its_beginning(number):
            return False
        if self.breaks_off(number, parts, columns):
            return False
        at_s = float(at)
        if self.draft.stage > 2 or (self.before and at_s <= self.before[1]):
            self.end()
        self._at(number, 2)
        # The line tells no rate. How long it is of is certain after the line before it, with nothing lost between.
        lasted = at_s - self.before[1] if self.before and self._follows(number, self.before[0]) else 0.0
        self.before = (number, at_s)
        kept = self.draft.intervals.setdefault(shape, Intervals(columns))
        kept.rows.append((number, at_s, [*parts, str(lasted)]))
        return True

    def _follows(self, number: int, before: int) -> bool:
        return not any(map(str.strip, map(without_prefix, self.lines[before : number - 1])))

    def _result(self, number: int, line: str, shape: str, parts: Sequence[str]) -> bool:
        bare = shape.removeprefix("[#] ")
        sum_of = " (sum)" if "Results2" in self.draft.section else ""
        if bare in _RAW and self.draft.section.startswith("<Raw") and parts[1] in "01234":
            kind = _KINDS[int(parts[1])] + sum_of
            known: list[Part] = [None, _number("operations", kind), _number("late", kind), _number("retries", kind)]
            known += [_number("errors", kind), Field("response_mean_s", "s", 1, 1000, kind), None]
            return self._take(number, parts, known[: shape.count("#")])
        if shape == "in # sec.":
            return self._take(number, parts, [Field("duration_s", "s", 0)])
        if shape == "# TpmC" and not self.may_lack_its_beginning(number):
            return self._take(number, parts, [_TPMC])
        name = line.partition(":")[0]
        share = _SHARES.get(shape.partition(": ")[2], "")
        if name in _NAMES and share:
            known = [Field(share, "1", 2, 100, _NAMES[name]), *[None] * (shape.count("#") - 1)]
            return self._take(number, parts, known)
        return False

    def _take(self, number: int, parts: Sequence[str], known: Sequence[Part]) -> bool:
        found = list(readings(number, parts, known))
        if any(one and (one.metric, one.subject) in self.draft.readings for one in found):
            self.end()
        self._at(number, 3)
        for one in found:
            if one:
                self.draft.add(one)
        return None not in found

    def _idle(self, number: int, line: str, shape: str) -> bool:
        if match := _INTERVAL_S.fullmatch(line):
            self.step_s = float(match[1])
        elif line == "*** ###easy### TPC-C Load Generator ***":
            if self.draft.stage:
                self.end()
            self.step_s = 0.0
        elif shape == "MEASURING START.":
            self.before = (number, 0.0)
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
        draft, self.draft, self.before = self.draft, Draft(tool=self.tool), None
        if not draft.stage:
            return
        draft.workload = "tpcc"
        rates = tuple(_rates(draft, self.step_s))
        courses = tuple(one for one in draft.courses(self.unknown) if one.metric != "operations")
        wanted = {"TpmC": ("throughput_per_s", ""), "raw results": ("operations", _KINDS[0])}
        missing = ", ".join(words for words, key in wanted.items() if key not in draft.readings)
        self.runs.append(draft.run((*rates, *courses), missing if draft.readings else "the whole report"))


def _rates(draft: Draft, told_s: float) -> list[LogSeries]:
    """Transactions each second, of the lines that are known to be of so many seconds, as all others or as was asked."""
    lasted = [float(parts[-1]) for lines in draft.intervals.values() for _, _, parts in lines.rows]
    step_s = told_s or min((s for s in lasted[1:] if s), default=0.0)
    found = []
    for lines in draft.intervals.values():
        for index, one in enumerate(lines.known):
            if isinstance(one, Field) and one.metric == "operations":
                timed = [
                    (at_s, float(parts[2 * index + 1]) / float(parts[-1]))
                    for _, at_s, parts in lines.rows
                    if float(parts[-1]) == step_s > 0 and count(parts[2 * index + 1]) is not None
                ]
                if timed:
                    at_s, values = zip(*timed, strict=True)
                    subject = "" if one.subject == _KINDS[0] else one.subject  # new orders are what it counts
                    found.append(
                        LogSeries(metric="throughput_per_s", unit="1/s", at_s=at_s, values=values, subject=subject)
                    )
    return found
