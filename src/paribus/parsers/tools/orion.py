"""Reader of Oracle Orion: the summary and the matrices of IOPS, MBPS and latency, as CSV or printed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from paribus.parsers.log import Log, LogReading, LogRun
from paribus.parsers.numbers import number
from paribus.parsers.plain import ends_of, plain_lines, unterminated_line
from paribus.parsers.repeats import drop_copies

FORMAT = "orion"

_IOPS, _MBPS, _LATENCY = "iops", "mbps", "lat"
_MIB = 1024.0**2
_CORNER = re.compile(r"[\s|]*Large ?/ ?Small\b", re.IGNORECASE)
_POINT = r"@ *Small=(?P<small>[0-9]{1,6}) and Large=(?P<large>[0-9]{1,6})\s*"
_BEST = re.compile(
    r"(?P<what>Maximum Large MBPS|Maximum Small IOPS|Minimum Small Latency)=(?P<value>[0-9.]+) *"
    r"(?P<unit>usecs|us|msecs|ms)? *" + _POINT
)
_SPREAD = re.compile(
    r"(?P<what>Small|Large) (?P<side>Read|Write) Latency: avg=(?P<mean>[0-9.]+) us, min=(?P<min>[0-9.]+) us, "
    r"max=(?P<max>[0-9.]+) us, std dev=(?P<stddev>[0-9.]+) us " + _POINT
)
_HISTOGRAM = re.compile(rf"(?:Small|Large) Read / Write Latency Histogram {_POINT}")
_BUCKET = re.compile(
    r"[0-9]+ - (?P<to>[0-9]{1,15}) (?P<unit>us|ms|s): (?P<read>[0-9]{1,15}) \( ?[0-9.]+%\) "
    r"(?P<write>[0-9]{1,15}) \( ?[0-9.]+%\)"
)
_VERSION = re.compile(r"(?:ORION VERSION|ORION: ORacle IO Numbers -- Version) ?(?P<version>\S+)\s*")
_SETTING = re.compile(
    r"(?P<name>Test|Small IO size|Large IO size|IO Types?|Sequential stream pattern|Simulated Array Type|Stripe Depth|"
    r"Write|Cache Size|Duration for each Data Point|Total Data Points): *(?P<value>.*)"
)
_KNOWN = re.compile(
    r"Command ?line:|-run |This maps to this test:|(?:Small|Large) Columns:|Name: .* Size: |[0-9]+ FILEs? found|"
    r"(?:Calibration|Test) will take|Using a large value for -cache_size|Larger caches may|Setting ftype|"
    r"Latency: # of IOs|\S+_[0-9]{8}_[0-9]{4}$|"
    r".*contains? (?:histograms|the)\b|(?:Column|Row) heading|.*outstanding (?:small|large) I/Os",
    re.IGNORECASE,
)
_TITLES = (
    (_IOPS, re.compile(r"iops\.csv|rates? sustained by small|\bin IOPS\b", re.IGNORECASE)),
    (_MBPS, re.compile(r"mbps\.csv|rates? sustained by large|\bin MBPS\b", re.IGNORECASE)),
    (_LATENCY, re.compile(r"lat\.csv|latency sustained by small", re.IGNORECASE)),
)
_PER_SECOND = {"us": 1e6, "usecs": 1e6, "ms": 1e3, "msecs": 1e3, "s": 1.0}


@dataclass(slots=True)
class _Point:
    """One data point: readings at a number of small and large outstanding operations."""

    readings: list[LogReading] = field(default_factory=list)
    buckets: list[tuple[float, int]] = field(default_factory=list)


@dataclass(slots=True)
class _Test:
    """The contents of one report or file."""

    version: str = ""
    options: dict[str, str] = field(default_factory=dict)
    points: dict[tuple[int, int], _Point] = field(default_factory=dict)

    def add(self, point: tuple[int, int], metric: str, value: float, line: int, stated: str, subject: str = "") -> None:
        """Add a number to a data point, unless an identical number is already there."""
        unit = "B/s" if metric == "bytes_per_s" else "1/s" if metric.endswith("_per_s") else "s"
        reading = LogReading(metric=metric, value=value, unit=unit, line=line, stated=stated, subject=subject)
        readings = self.points.setdefault(point, _Point()).readings
        if all((metric, value, subject) != (other.metric, other.value, other.subject) for other in readings):
            readings.append(reading)


@dataclass(slots=True)
class _Matrix:
    """A matrix being read: cells with their line."""

    kind: str
    micro: bool
    columns: list[int]
    width: int
    rows: list[tuple[int, int, list[str]]] = field(default_factory=list)


@dataclass(slots=True)
class _Reader:
    """Line-by-line reader."""

    tests: list[_Test] = field(default_factory=lambda: [_Test()])
    matrices: list[tuple[_Test, _Matrix]] = field(default_factory=list)
    title: str = ""
    micro: bool = False
    matrix: _Matrix | None = None
    histogram: tuple[int, int] | None = None

    def line(self, number_: int, line: str, unterminated: bool) -> bool:
        """Return whether Orion printed the line; an unterminated last line may end within a number."""
        if not line.strip():
            return True
        if _CORNER.match(line):
            return not unterminated and self._corner(line)
        if (
            self.matrix is not None
            and not (unterminated and _last(line) != self.matrix.width)
            and self._row(number_, line)
        ):
            return True
        if unterminated and line[-1].isdecimal():
            return False
        self.matrix = None
        return self._summary_line(number_, " ".join(line.split()))

    def _summary_line(self, line: int, text: str) -> bool:
        test = self.tests[-1]
        if match := _VERSION.fullmatch(text):
            if test.points or test.version:
                test = _Test()
                self.tests.append(test)
            test.version = match["version"]
            return True
        if match := _BEST.fullmatch(text):
            return self._best(test, line, match)
        if match := _SPREAD.fullmatch(text):
            point = (int(match["small"]), int(match["large"]))
            subject = " ".join([*([match["what"].lower()] if all(point) else []), match["side"].lower()])
            for part in ("min", "mean", "max", "stddev"):
                value = number(match[part])
                if value is not None:
                    test.add(point, f"response_{part}_s", value / 1e6, line, f"{match[part]} us", subject)
            return True
        if match := _HISTOGRAM.fullmatch(text):
            self.histogram = (int(match["small"]), int(match["large"]))
            test.points.setdefault(self.histogram, _Point()).buckets = []
            return True
        if self.histogram and (match := _BUCKET.fullmatch(text)):
            counts = int(match["read"]) + int(match["write"])
            test.points[self.histogram].buckets.append((int(match["to"]) / _PER_SECOND[match["unit"]], counts))
            return True
        for kind, title in _TITLES:
            if title.search(text):
                self.title, self.micro = kind, self.micro or "microsec" in text
                return True
        if match := _SETTING.fullmatch(text):
            test.options.setdefault(match["name"], match["value"].strip())
            return True
        return bool(_KNOWN.match(text))

    def _best(self, test: _Test, line: int, match: re.Match[str]) -> bool:
        value = number(match["value"])
        if value is None:
            return False
        point = (int(match["small"]), int(match["large"]))
        if "MBPS" in match["what"]:
            test.add(point, "bytes_per_s", value * _MIB, line, f"{match['value']} MBPS", "large" if all(point) else "")
        elif "IOPS" in match["what"]:
            test.add(point, "throughput_per_s", value, line, f"{match['value']} IOPS")
        else:
            # 10.2 and 11.1 print ms without a unit: 0.26 ms fits 5 outstanding operations at 19019 IOPS.
            unit = match["unit"] or "ms"
            test.add(point, "response_mean_s", value / _PER_SECOND[unit], line, f"{match['value']} {unit}")
        return True

    def _corner(self, line: str) -> bool:
        columns = _cells(_CORNER.sub("", line))
        if not columns or not all(cell.isascii() and cell.isdecimal() and len(cell) < 7 for cell in columns):
            return False
        self.matrix = _Matrix(
            kind=self.title, micro=self.micro, columns=[int(cell) for cell in columns], width=_last(line)
        )
        self.matrices.append((self.tests[-1], self.matrix))
        self.title, self.micro = "", False
        return True

    def _row(self, line: int, text: str) -> bool:
        assert self.matrix is not None
        cells = _cells(text)
        if not cells or not (cells[0].isascii() and cells[0].isdecimal() and len(cells[0]) < 7):
            return False
        if len(cells) - 1 > len(self.matrix.columns) or any(cell and number(cell) is None for cell in cells[1:]):
            return False
        if (
            "," not in text
            and "|" not in text
            and 1 < len(cells) <= len(self.matrix.columns)
            and self.matrix.columns != [0]
        ):
            return False  # the positions of empty cells are unknown
        self.matrix.rows.append((line, int(cells[0]), cells[1:]))
        return True


def _cells(text: str) -> list[str]:
    """Split a line at commas, bars or blanks."""
    text = text.strip().strip("|").strip()
    separator = "," if "," in text else "|" if "|" in text else None
    cells = [cell.strip() for cell in text.split(separator)]
    if separator == "," and not cells[0]:
        cells = cells[1:]
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _last(line: str) -> int:
    """Return the width of the last cell."""
    return len(line) - line.rfind(",")


def recognises(text: str) -> float:
    """Score by the tool's name, its summary, or the corner of its matrices."""
    ends = ends_of(text)
    if "Maximum Small IOPS=" in ends or "Maximum Large MBPS=" in ends or "ORION VERSION" in ends:
        return 0.95
    return 0.95 if re.search(r"Large ?/ ?Small\b", ends, re.IGNORECASE) else 0.3 if "ORacle IO Numbers" in ends else 0.0


def read(text: str) -> Log:
    """Read one run per data point, that is per number of small and large outstanding operations."""
    reader = _Reader()
    lines = plain_lines(text)
    cut = unterminated_line(text, lines)
    unread = [(line, content) for line, content in enumerate(lines, 1) if not reader.line(line, content, line == cut)]
    remarks = [remark for test, matrix in reader.matrices for remark in _fill(test, matrix)]
    runs, copies = drop_copies(run for test in reader.tests for run in _runs(test, len(lines)))
    remarks += copies
    if any(reading.metric == "bytes_per_s" for run in runs for reading in run.readings):
        remarks.append(
            "MBPS is read as 1024 x 1024 bytes a second: what the documentation calls 1 MB is an I/O of 1024 KB"
        )
    return Log(format=FORMAT, runs=tuple(runs), not_understood=tuple(unread), remarks=tuple(dict.fromkeys(remarks)))


def _fill(test: _Test, matrix: _Matrix) -> Iterator[str]:
    """Assign the cells of a matrix to data points; yield a remark if the metric is unknown."""
    kind = matrix.kind or _kind(matrix)
    rows = [row for row in matrix.rows if row[2]]
    if rows and not kind:
        where = f"lines {rows[0][0]} to {rows[-1][0]}"
        yield f"the matrix in {where} is left out: it does not tell whether it is of MBPS or latency"
        return
    for line, large, cells in rows:
        for small, cell in zip(matrix.columns, cells, strict=False):
            value = number(cell)
            if value is None or (small, large) == (0, 0):
                continue
            point = (small, large)
            if kind == _IOPS:
                test.add(point, "throughput_per_s", value, line, f"{cell} IOPS")
            elif kind == _MBPS:
                test.add(point, "bytes_per_s", value * _MIB, line, f"{cell} MBPS", "large" if all(point) else "")
            else:
                unit = "us" if matrix.micro else "ms"
                test.add(point, "response_mean_s", value / _PER_SECOND[unit], line, f"{cell} {unit}")


def _kind(matrix: _Matrix) -> str:
    """Infer the metric of an untitled matrix: only MBPS has a column 0, and only IOPS are all whole numbers."""
    cells = [cell for _line, _large, row in matrix.rows for cell in row if cell]
    if matrix.columns[0] == 0:
        return _MBPS
    if cells and all("." not in cell for cell in cells):
        return _IOPS
    return _LATENCY if any(large == 0 and row for _line, large, row in matrix.rows) else ""


def _runs(test: _Test, lines: int) -> Iterator[LogRun]:
    for (small, large), point in sorted(test.points.items()):
        reading_lines = [reading.line for reading in point.readings]
        yield LogRun(
            tool="orion",
            version=test.version,
            workload=_workload(test.options.get("IO Types", test.options.get("IO Type", "")), small, large),
            load=small or large,
            options={**test.options, "small": str(small), "large": str(large)},
            readings=tuple(sorted(point.readings, key=lambda reading: reading.line)),
            histogram=tuple(point.buckets),
            lines=(min(reading_lines, default=1), max(reading_lines, default=lines)),
        )


def _workload(types: str, small: int, large: int) -> str:
    """Name the series of a point: small operations alone, large ones alone, or both."""
    kinds = [kind.strip() for kind in types.split(",") if kind.strip()]
    small_kind = next((kind for kind in kinds if kind.startswith("Small")), "small I/O")
    large_kind = next((kind for kind in kinds if kind.startswith("Large")), "large I/O")
    return large_kind if not small else f"{small_kind} beside {large} {large_kind}" if large else small_kind
