"""sysbench's output read line by line: every run of a text, with what was asked, its intervals and its report."""

import re
from collections.abc import Sequence

from paribus.parsers.reader import Draft, Intervals, LogReader
from paribus.parsers.shapes import NUMBER, EchoedOption, Part, alike, count, readings, shape_of
from paribus.parsers.sysbench import command_lines as commands
from paribus.parsers.sysbench import derived, options
from paribus.parsers.sysbench import line_shapes as known

_EARLY = 120
_ROUNDING = 0.021  # of four numbers with two decimals
_INTERVAL = re.compile(r"\s*\[\s*([0-9]{1,9}(?:[.,][0-9]{1,3})?)s\s*\]\s*(.*)", re.DOTALL)
_AT = r"\[ *([0-9]{1,9})s *\] *"
_BANNER = re.compile(r"\s*sysbench\s+v?([0-9]+(?:\.[0-9]+)+[\w.-]*?)(?::\s+multi-threaded|\s+\(using )")
_BAR = re.compile(r"\s*([0-9]{1,9}[.,][0-9]{3}) +\|\**\s+([0-9]{1,18})\s*")
_CSV = re.compile(r"([0-9]{1,9}),([0-9]{1,9}(?:,[0-9]{1,18}\.[0-9][0-9]){8})")
_MEMBER = re.compile(r'"([a-z]{3,10})":\s*([0-9]{1,18}(?:\.[0-9][0-9])?),?')
_SIZE_UNIT = re.compile(r"[KMGT]?i?[bB]?")
_CHECKPOINTS = re.compile(r"Report checkpoint\(s\) at ([0-9, ]+) seconds")
_OPTIONS_FOLLOW = "Running the test with following options:"
_HISTOGRAM = "Latency histogram (values are in milliseconds)"
_COMMAND, _HEAD, _OPTIONS, _RUNNING, _REPORT = range(5)


class SysbenchReader(LogReader):
    """Ends a run where a line cannot be of it: a command, a banner, a number that it has already, a time gone back."""

    tool = "sysbench"

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.command: commands.SysbenchCommand | None = None
        self.checkpoint: Draft | None = None
        self.mixed: list[int] = []  # interval lines of several sysbench that wrote at once
        self.members: dict[str, str] = {}  # of an interval that is an object of JSON
        self.known: dict[str, Sequence[Part]] = {}  # interval lines with their spaces, so that these are looked at once
        self.usual: tuple[re.Pattern[str], str] | None = None  # lines as the last one, which most are, and their shape

    def understands(self, number: int, line: str) -> bool:
        if "[" in line[:_EARLY] and self._interval(number, line):
            return True
        return self._line(number, line.strip())

    def _interval(self, number: int, line: str) -> bool:
        if self.usual and (match := self.usual[0].fullmatch(line)):
            at_s, *parts = match.groups()
            return self._keep(number, self.usual[1], float(at_s), parts, self.known[self.usual[1]])
        match = _INTERVAL.match(line)
        if not match or "#" in match[2]:  # which stands for numbers in shapes
            return False
        rest = match[2]
        if rest.startswith("Checkpoint report:"):
            self._stage(_RUNNING, number)
            self.checkpoint = self.draft
            return True
        parts = NUMBER.split(rest)
        shape = "#".join(parts[::2])
        columns = self.known.get(shape)
        if columns is None:
            columns = known.INTERVALS.get(" ".join(shape.split()))
            if columns is None:
                return False
            self.known[shape] = columns
        if expression := alike(parts, columns):
            self.usual = re.compile(_AT + expression), shape
        return self._row(number, shape, float(match[1].replace(",", ".")), parts, columns)

    def _json(self, number: int, line: str) -> bool:
        """A line of an interval as an object of JSON, which is an interval once all of it is there."""
        if self.draft.stage < _OPTIONS:
            return False
        if line == "{":
            self.members = {}
        elif (found := _MEMBER.fullmatch(line)) and found[1] == known.JSON[len(self.members) % len(known.JSON)]:
            self.members[found[1]] = found[2]
        elif line in ("}", "},") and len(self.members) == len(known.JSON):
            tokens = [self.members.pop(name, "") for name in known.JSON]
            return self._csv(number, ",".join(tokens))
        elif line not in ("[", "]", ",", "},", '"qps": {'):
            return False
        self.draft.touch(number)
        return True

    def _csv(self, number: int, line: str) -> bool:
        """An interval as comma-separated values, certain by the statements that it tells of each kind and of all."""
        match = _CSV.fullmatch(line)
        if not match or self.may_lack_its_beginning(number):
            return False
        tokens = match[2].split(",")
        if abs(float(tokens[2]) - float(tokens[3]) - float(tokens[4]) - float(tokens[5])) > _ROUNDING:
            return False
        parts = [part for token in tokens for part in ("", token)] + [""]
        return self._row(number, "csv", float(match[1]), parts, known.CSV)

    def _row(self, number: int, shape: str, at_s: float, parts: Sequence[str], columns: Sequence[Part]) -> bool:
        return not self.breaks_off(number, parts, columns) and self._keep(number, shape, at_s, parts, columns)

    def _keep(self, number: int, shape: str, at_s: float, parts: Sequence[str], columns: Sequence[Part]) -> bool:
        kept = self.draft.intervals.get(shape)
        if self.draft.stage > _RUNNING or (kept and at_s < kept.rows[-1][1]):
            self._begin(_RUNNING)
            kept = None
        if kept is None:
            kept = self.draft.intervals[shape] = Intervals(columns)
        kept.rows.append((number, at_s, parts))
        self._stage(_RUNNING, number)
        return True

    def _line(self, number: int, line: str) -> bool:
        if ("sysbench" in line or ".lua" in line) and (self._banner(number, line) or self._call(number, line)):
            return True
        if self.command and commands.goes_on(self.command, line):
            self._asked(number)
            return True
        if line.rstrip(":") in known.HEADINGS or line == _HISTOGRAM:
            return self._heading(number, line.rstrip(":"))
        shape, parts = shape_of(line)
        columns = known.REPORT.get(shape)
        if columns is None:
            columns = known.BELOW.get(self.draft.section, {}).get(shape)
        if columns is not None:
            return self._report(number, parts, columns)
        return (
            self._option(number, line, shape, parts)
            or self._bar(number, line)
            or (self._csv(number, line) or self._json(number, line))
        )

    def _banner(self, number: int, line: str) -> bool:
        match = _BANNER.match(line)
        if not match:
            return False
        if self.draft.stage > _COMMAND:
            self._begin(_HEAD)
        self._stage(_HEAD, number)
        self.draft.version = match[1]
        return True

    def _call(self, number: int, line: str) -> bool:
        command = commands.begins(line)
        if command is None:
            return False
        self._begin(_COMMAND)
        self.command = command
        self._asked(number)
        return True

    def _asked(self, number: int) -> None:
        """Put what the command asks for into the run."""
        assert self.command is not None
        self.draft.touch(number)
        self.draft.options |= self.command.options
        self.draft.workload = self.command.test or self.draft.workload
        threads = self.command.options.get("threads") or self.command.options.get("num-threads") or ""
        self.draft.load = count(threads) or self.draft.load

    def _heading(self, number: int, name: str) -> bool:
        if name in self.draft.headings:
            self._begin(_REPORT)
        self._stage(_RUNNING if name == _HISTOGRAM else _REPORT, number)
        self.draft.headings.add(name)
        self.draft.section = name
        self._named(name)
        return True

    def _report(self, number: int, parts: Sequence[str], columns: Sequence[Part]) -> bool:
        if self.breaks_off(number, parts, columns) or self.may_lack_its_beginning(number):
            return False
        found = list(readings(number, parts, columns))
        if any(one and (one.metric, one.subject) in self.draft.readings for one in found):
            self._begin(_REPORT)
        self._stage(_REPORT, number)
        for one in found:
            if one:
                self.draft.add(one)
        return None not in found

    def _option(self, number: int, line: str, shape: str, parts: Sequence[str]) -> bool:
        """What was asked, or a line that only tells of progress. After a report it is of the next run."""
        asked = _asked(line, shape, parts) if number != self.cut else {}
        name = line.partition(":")[0]
        if asked is None or not (asked or shape in options.IDLE or name in options.TESTS):
            return False
        if self.draft.stage == _REPORT or (shape == _OPTIONS_FOLLOW and self.draft.stage == _OPTIONS):
            self._begin(_OPTIONS)
        if shape == _OPTIONS_FOLLOW:
            self._stage(_OPTIONS, number)
        if "threads" in asked and "#" in shape:
            self.draft.load = count(asked["threads"])
        self.draft.options = asked | self.draft.options
        self.draft.headings.add(shape)
        self.draft.touch(number)
        self._named(name)
        return True

    def _named(self, words: str) -> None:
        test = options.TESTS.get(words, "")
        if test and not self.draft.workload:
            self.draft.workload = test

    def _bar(self, number: int, line: str) -> bool:
        match = _BAR.fullmatch(line) if self.draft.section == _HISTOGRAM and number != self.cut else None
        if not match:
            return False
        self._stage(_RUNNING, number)
        # sysbench tells where the bucket is on its logarithmic scale; it ends 0.9 % above that, and a percentile that
        # is reckoned from these numbers is the one that sysbench states.
        self.draft.histogram[float(match[1].replace(",", ".")) / 1000] += int(match[2])
        return True

    def _stage(self, stage: int, number: int) -> None:
        self.draft.stage = max(self.draft.stage, stage)
        self.draft.touch(number)
        self.command = None

    def _begin(self, stage: int) -> None:
        """A new run; after a report at a checkpoint it goes on with what was asked."""
        before = self.draft
        self.end()
        if before is self.checkpoint and stage >= _RUNNING:
            self.draft.version, self.draft.workload, self.draft.load = before.version, before.workload, before.load
            self.draft.options = dict(before.options)
            self.draft.goes_on = True
        self.checkpoint = None

    def end(self) -> None:
        draft, self.draft, self.command = self.draft, Draft(tool="sysbench"), None
        for shape in [shape for shape, lines in draft.intervals.items() if lines.doubled()]:
            self.mixed += (row[0] for row in draft.intervals.pop(shape).rows)
            self.unknown.update(self.mixed)
        courses = draft.courses(self.unknown)
        if draft.stage < _OPTIONS and not draft.readings and not courses:
            return  # a command alone, or one that prepares or cleans up
        derived.complete(draft)
        courses = derived.courses(draft, courses)
        self.runs.append(draft.run(courses, derived.missing(draft)))

    def remarks(self) -> list[str]:
        found = []
        if self.mixed:
            first = self.mixed[0]
            found.append(
                f"several sysbench wrote their interval lines at once, from line {first} on: they are left out"
            )
        for sign in ("FATAL", "ALERT", "WARNING"):
            lines = [number for number in sorted(self.unknown) if f"{sign}:" in self.lines[number - 1]]
            if lines:
                times = "line" if len(lines) == 1 else f"{len(lines)} lines, the first is line"
                found.append(f"sysbench says {sign} in {times} {lines[0]}")
        return found


def _asked(line: str, shape: str, parts: Sequence[str]) -> dict[str, str] | None:
    """The options of a line; None where it has one that is not certain."""
    name, colon, words = line.partition(":")
    if match := _CHECKPOINTS.fullmatch(line):
        return {"report-checkpoints": match[1].replace(" ", "")}
    if line in options.SAYINGS:
        return dict([options.SAYINGS[line]])
    if colon and name in options.WORDS:
        return {options.WORDS[name]: words.strip()}
    asked = {}
    for index, one in enumerate(options.OPTIONS.get(shape, ())):
        if isinstance(one, EchoedOption):
            unit = _SIZE_UNIT.match(parts[2 * index + 2])
            asked[one.option] = parts[2 * index + 1] + (unit[0] if unit else "")
    return None if "threads" in asked and not count(asked["threads"]) else asked
