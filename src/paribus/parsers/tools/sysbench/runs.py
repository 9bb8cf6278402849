"""Line-by-line reader of sysbench: every run of a text with its options, intervals and report."""

import re
from collections.abc import Sequence

from paribus.parsers.reader import Draft, Intervals, LogReader
from paribus.parsers.shapes import NUMBER, EchoedOption, Part, count, readings, shape_of, similar_lines_pattern
from paribus.parsers.tools.sysbench import command_lines as commands
from paribus.parsers.tools.sysbench import derived, line_shapes, options

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
    """Reader that ends a run at a command, a banner, a repeated number or a time that decreases."""

    tool = "sysbench"

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.command: commands.SysbenchCommand | None = None
        self.checkpoint: Draft | None = None
        self.mixed: list[int] = []  # interval lines of concurrent sysbench processes
        self.members: dict[str, str] = {}  # members of an interval in JSON
        self.columns_by_shape: dict[
            str, Sequence[Part]
        ] = {}  # interval lines with their spaces, so that these are looked at once
        self.usual: tuple[re.Pattern[str], str] | None = None  # pattern and shape of the latest interval line

    def understands(self, number: int, line: str) -> bool:
        """Take a line into the draft; return whether every number in it is certain."""
        if "[" in line[:_EARLY] and self._interval(number, line):
            return True
        return self._line(number, line.strip())

    def _interval(self, number: int, line: str) -> bool:
        if self.usual and (match := self.usual[0].fullmatch(line)):
            at_s, *parts = match.groups()
            return self._add_interval(number, self.usual[1], float(at_s), parts, self.columns_by_shape[self.usual[1]])
        match = _INTERVAL.match(line)
        if not match or "#" in match[2]:  # reserved for numbers in shapes
            return False
        text = match[2]
        if text.startswith("Checkpoint report:"):
            self._stage(_RUNNING, number)
            self.checkpoint = self.draft
            return True
        parts = NUMBER.split(text)
        shape = "#".join(parts[::2])
        columns = self.columns_by_shape.get(shape)
        if columns is None:
            columns = line_shapes.INTERVALS.get(" ".join(shape.split()))
            if columns is None:
                return False
            self.columns_by_shape[shape] = columns
        if expression := similar_lines_pattern(parts, columns):
            self.usual = re.compile(_AT + expression), shape
        return self._row(number, shape, float(match[1].replace(",", ".")), parts, columns)

    def _json(self, number: int, line: str) -> bool:
        """Read one line of an interval in JSON; the interval is added when its last member is read."""
        if self.draft.stage < _OPTIONS:
            return False
        if line == "{":
            self.members = {}
        elif (match := _MEMBER.fullmatch(line)) and match[1] == line_shapes.JSON[
            len(self.members) % len(line_shapes.JSON)
        ]:
            self.members[match[1]] = match[2]
        elif line in ("}", "},") and len(self.members) == len(line_shapes.JSON):
            tokens = [self.members.pop(name, "") for name in line_shapes.JSON]
            return self._csv(number, ",".join(tokens))
        elif line not in ("[", "]", ",", "},", '"qps": {'):
            return False
        self.draft.touch(number)
        return True

    def _csv(self, number: int, line: str) -> bool:
        """Read an interval as comma-separated values, verified by the sum of the statement types."""
        match = _CSV.fullmatch(line)
        if not match or self.may_lack_its_beginning(number):
            return False
        tokens = match[2].split(",")
        if abs(float(tokens[2]) - float(tokens[3]) - float(tokens[4]) - float(tokens[5])) > _ROUNDING:
            return False
        parts = [part for token in tokens for part in ("", token)] + [""]
        return self._row(number, "csv", float(match[1]), parts, line_shapes.CSV)

    def _row(self, number: int, shape: str, at_s: float, parts: Sequence[str], columns: Sequence[Part]) -> bool:
        return not self.breaks_off(number, parts, columns) and self._add_interval(number, shape, at_s, parts, columns)

    def _add_interval(
        self, number: int, shape: str, at_s: float, parts: Sequence[str], columns: Sequence[Part]
    ) -> bool:
        intervals = self.draft.intervals.get(shape)
        if self.draft.stage > _RUNNING or (intervals and at_s < intervals.rows[-1][1]):
            self._begin(_RUNNING)
            intervals = None
        if intervals is None:
            intervals = self.draft.intervals[shape] = Intervals(columns)
        intervals.rows.append((number, at_s, parts))
        self._stage(_RUNNING, number)
        return True

    def _line(self, number: int, line: str) -> bool:
        if ("sysbench" in line or ".lua" in line) and (self._banner(number, line) or self._call(number, line)):
            return True
        if self.command and commands.continues(self.command, line):
            self._apply_command(number)
            return True
        if line.rstrip(":") in line_shapes.HEADINGS or line == _HISTOGRAM:
            return self._heading(number, line.rstrip(":"))
        shape, parts = shape_of(line)
        columns = line_shapes.REPORT.get(shape)
        if columns is None:
            columns = line_shapes.BELOW.get(self.draft.section, {}).get(shape)
        if columns is not None:
            return self._report(number, parts, columns)
        if line.startswith("FATAL:") and _OPTIONS <= self.draft.stage < _REPORT:
            self.draft.failed = self.draft.failed or line
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
        self._apply_command(number)
        return True

    def _apply_command(self, number: int) -> None:
        """Copy the options of the command into the run."""
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
        self._name_test(name)
        return True

    def _report(self, number: int, parts: Sequence[str], columns: Sequence[Part]) -> bool:
        if self.breaks_off(number, parts, columns) or self.may_lack_its_beginning(number):
            return False
        line_readings = list(readings(number, parts, columns))
        if any(reading and (reading.metric, reading.subject) in self.draft.readings for reading in line_readings):
            self._begin(_REPORT)
        self._stage(_REPORT, number)
        for reading in line_readings:
            if reading:
                self.draft.add(reading)
        return None not in line_readings

    def _option(self, number: int, line: str, shape: str, parts: Sequence[str]) -> bool:
        """Read an echoed option or a progress message; after a report it belongs to the next run."""
        echoed = _echoed_options(line, shape, parts) if number != self.cut else {}
        name = line.partition(":")[0]
        if echoed is None or not (echoed or shape in options.IDLE or name in options.TESTS):
            return False
        if self.draft.stage == _REPORT or (shape == _OPTIONS_FOLLOW and self.draft.stage == _OPTIONS):
            self._begin(_OPTIONS)
        if shape == _OPTIONS_FOLLOW:
            self._stage(_OPTIONS, number)
        if "threads" in echoed and "#" in shape:
            self.draft.load = count(echoed["threads"])
        self.draft.options = echoed | self.draft.options
        self.draft.headings.add(shape)
        self.draft.touch(number)
        self._name_test(name)
        return True

    def _name_test(self, name: str) -> None:
        test = options.TESTS.get(name, "")
        if test and not self.draft.workload:
            self.draft.workload = test

    def _bar(self, number: int, line: str) -> bool:
        match = _BAR.fullmatch(line) if self.draft.section == _HISTOGRAM and number != self.cut else None
        if not match:
            return False
        self._stage(_RUNNING, number)
        # sysbench prints the position of the bucket on its logarithmic scale; its upper bound is 0.9 % higher.
        # A percentile computed from these numbers equals the one that sysbench states.
        self.draft.histogram[float(match[1].replace(",", ".")) / 1000] += int(match[2])
        return True

    def _stage(self, stage: int, number: int) -> None:
        self.draft.stage = max(self.draft.stage, stage)
        self.draft.touch(number)
        self.command = None

    def _begin(self, stage: int) -> None:
        """Start a run; after a checkpoint report it inherits the options."""
        previous = self.draft
        self.end()
        if previous is self.checkpoint and stage >= _RUNNING:
            self.draft.version, self.draft.workload, self.draft.load = (
                previous.version,
                previous.workload,
                previous.load,
            )
            self.draft.options = dict(previous.options)
            self.draft.continues = True
        self.checkpoint = None

    def end(self) -> None:
        """Turn the draft into a run."""
        draft, self.draft, self.command = self.draft, Draft(tool="sysbench"), None
        for shape in [shape for shape, lines in draft.intervals.items() if lines.doubled()]:
            self.mixed += (row[0] for row in draft.intervals.pop(shape).rows)
            self.unknown.update(self.mixed)
        courses = draft.courses(self.unknown)
        if draft.stage < _OPTIONS and not draft.readings and not courses:
            return  # only a command, or a prepare or cleanup run
        derived.complete(draft)
        courses = derived.courses(draft, courses)
        self.runs.append(draft.run(courses, derived.missing(draft)))

    def remarks(self) -> list[str]:
        """Return remarks on mixed lines and on the warnings of sysbench."""
        remarks = []
        if self.mixed:
            first = self.mixed[0]
            remarks.append(
                f"several sysbench wrote their interval lines at once, from line {first} on: they are left out"
            )
        for sign in ("FATAL", "ALERT", "WARNING"):
            lines = [number for number in sorted(self.unknown) if f"{sign}:" in self.lines[number - 1]]
            if lines:
                times = "line" if len(lines) == 1 else f"{len(lines)} lines, the first is line"
                remarks.append(f"sysbench says {sign} in {times} {lines[0]}")
        return remarks


def _echoed_options(line: str, shape: str, parts: Sequence[str]) -> dict[str, str] | None:
    """Return the options that a line echoes; None if one is ambiguous."""
    name, colon, value = line.partition(":")
    if match := _CHECKPOINTS.fullmatch(line):
        return {"report-checkpoints": match[1].replace(" ", "")}
    if line in options.SAYINGS:
        return dict([options.SAYINGS[line]])
    if colon and name in options.WORDS:
        return {options.WORDS[name]: value.strip()}
    echoed = {}
    for index, column in enumerate(options.OPTIONS.get(shape, ())):
        if isinstance(column, EchoedOption):
            unit = _SIZE_UNIT.match(parts[2 * index + 2])
            echoed[column.option] = parts[2 * index + 1] + (unit[0] if unit else "")
    return None if "threads" in echoed and not count(echoed["threads"]) else echoed
