"""Oracle Orion: its summary, and its matrices of IOPS, MBPS and latency, as CSV or printed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from paribus.parsers.log import Log, LogReading, LogRun
from paribus.parsers.numbers import number
from paribus.parsers.plain import ends_of, plain_lines, unended
from paribus.parsers.repeats import once

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
    """One data point: so many small and large operations outstanding."""

    readings: list[LogReading] = field(default_factory=list)
    buckets: list[tuple[float, int]] = field(default_factory=list)


@dataclass(slots=True)
class _Test:
    """What one report or file tells, before the next begins."""

    version: str = ""
    options: dict[str, str] = field(default_factory=dict)
    points: dict[tuple[int, int], _Point] = field(default_factory=dict)

    def add(self, at: tuple[int, int], metric: str, value: float, line: int, stated: str, subject: str = "") -> None:
        """A number at a data point; one that is stated again is kept where it differs."""
        unit = "B/s" if metric == "bytes_per_s" else "1/s" if metric.endswith("_per_s") else "s"
        one = LogReading(metric=metric, value=value, unit=unit, line=line, stated=stated, subject=subject)
        found = self.points.setdefault(at, _Point()).readings
        if all((metric, value, subject) != (other.metric, other.value, other.subject) for other in found):
            found.append(one)


@dataclass(slots=True)
class _Matrix:
    """A matrix that is being read: cells by line."""

    kind: str
    micro: bool
    columns: list[int]
    width: int
    rows: list[tuple[int, int, list[str]]] = field(default_factory=list)


@dataclass(slots=True)
class _Reader:
    """A line after the other."""

    tests: list[_Test] = field(default_factory=lambda: [_Test()])
    matrices: list[tuple[_Test, _Matrix]] = field(default_factory=list)
    title: str = ""
    micro: bool = False
    matrix: _Matrix | None = None
    histogram: tuple[int, int] | None = None

    def line(self, number_: int, line: str, unended: bool) -> bool:
        """Whether the line is one of Orion's; the last of a text may be cut off within a number."""
        if not line.strip():
            return True
        if _CORNER.match(line):
            return not unended and self._corner(line)
        if self.matrix is not None and not (unended and _last(line) != self.matrix.width) and self._row(number_, line):
            return True
        if unended and line[-1].isdecimal():
            return False
        self.matrix = None
        return self._said(number_, " ".join(line.split()))

    def _said(self, line: int, words: str) -> bool:
        now = self.tests[-1]
        if match := _VERSION.fullmatch(words):
            if now.points or now.version:
                now = _Test()
                self.tests.append(now)
            now.version = match["version"]
            return True
        if match := _BEST.fullmatch(words):
            return self._best(now, line, match)
        if match := _SPREAD.fullmatch(words):
            at = (int(match["small"]), int(match["large"]))
            subject = " ".join([*([match["what"].lower()] if all(at) else []), match["side"].lower()])
            for part in ("min", "mean", "max", "stddev"):
                value = number(match[part])
                if value is not None:
                    now.add(at, f"response_{part}_s", value / 1e6, line, f"{match[part]} us", subject)
            return True
        if match := _HISTOGRAM.fullmatch(words):
            self.histogram = (int(match["small"]), int(match["large"]))
            now.points.setdefault(self.histogram, _Point()).buckets = []
            return True
        if self.histogram and (match := _BUCKET.fullmatch(words)):
            counts = int(match["read"]) + int(match["write"])
            now.points[self.histogram].buckets.append((int(match["to"]) / _PER_SECOND[match["unit"]], counts))
            return True
        for kind, title in _TITLES:
            if title.search(words):
                self.title, self.micro = kind, self.micro or "microsec" in words
                return True
        if match := _SETTING.fullmatch(words):
            now.options.setdefault(match["name"], match["value"].strip())
            return True
        return bool(_KNOWN.match(words))

    def _best(self, now: _Test, line: int, match: re.Match[str]) -> bool:
        value = number(match["value"])
        if value is None:
            return False
        at = (int(match["small"]), int(match["large"]))
        if "MBPS" in match["what"]:
            now.add(at, "bytes_per_s", value * _MIB, line, f"{match['value']} MBPS", "large" if all(at) else "")
        elif "IOPS" in match["what"]:
            now.add(at, "throughput_per_s", value, line, f"{match['value']} IOPS")
        else:
            # 10.2 and 11.1 print no unit and mean ms: 0.26 stands where 5 are outstanding at 19019 IOPS.
            unit = match["unit"] or "ms"
            now.add(at, "response_mean_s", value / _PER_SECOND[unit], line, f"{match['value']} {unit}")
        return True

    def _corner(self, line: str) -> bool:
        columns = _cells(_CORNER.sub("", line))
        if not columns or not all(one.isascii() and one.isdecimal() and len(one) < 7 for one in columns):
            return False
        self.matrix = _Matrix(
            kind=self.title, micro=self.micro, columns=[int(one) for one in columns], width=_last(line)
        )
        self.matrices.append((self.tests[-1], self.matrix))
        self.title, self.micro = "", False
        return True

    def _row(self, line: int, text: str) -> bool:
        assert self.matrix is not None
        cells = _cells(text)
        if not cells or not (cells[0].isascii() and cells[0].isdecimal() and len(cells[0]) < 7):
            return False
        if len(cells) - 1 > len(self.matrix.columns) or any(one and number(one) is None for one in cells[1:]):
            return False
        if (
            "," not in text
            and "|" not in text
            and 1 < len(cells) <= len(self.matrix.columns)
            and self.matrix.columns != [0]
        ):
            return False  # which cells are empty cannot be seen
        self.matrix.rows.append((line, int(cells[0]), cells[1:]))
        return True


def _cells(text: str) -> list[str]:
    """The cells of a line between commas, bars or blanks."""
    text = text.strip().strip("|").strip()
    separator = "," if "," in text else "|" if "|" in text else None
    cells = [one.strip() for one in text.split(separator)]
    if separator == "," and not cells[0]:
        cells = cells[1:]
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _last(line: str) -> int:
    """How wide the last cell is."""
    return len(line) - line.rfind(",")


def recognises(text: str) -> float:
    """By its name, the words of its summary, or the corner of its matrices."""
    ends = ends_of(text)
    if "Maximum Small IOPS=" in ends or "Maximum Large MBPS=" in ends or "ORION VERSION" in ends:
        return 0.95
    return 0.95 if re.search(r"Large ?/ ?Small\b", ends, re.IGNORECASE) else 0.3 if "ORacle IO Numbers" in ends else 0.0


def read(text: str) -> Log:
    """Each data point, by how many small and large operations were outstanding."""
    reader = _Reader()
    lines = plain_lines(text)
    cut = unended(text, lines)
    rest = [(line, words) for line, words in enumerate(lines, 1) if not reader.line(line, words, line == cut)]
    remarks = [remark for test, matrix in reader.matrices for remark in _fill(test, matrix)]
    runs, copies = once(run for test in reader.tests for run in _runs(test, len(lines)))
    remarks += copies
    if any(one.metric == "bytes_per_s" for run in runs for one in run.readings):
        remarks.append(
            "MBPS is read as 1024 x 1024 bytes a second: what the documentation calls 1 MB is an I/O of 1024 KB"
        )
    return Log(format=FORMAT, runs=tuple(runs), not_understood=tuple(rest), remarks=tuple(dict.fromkeys(remarks)))


def _fill(test: _Test, matrix: _Matrix) -> Iterator[str]:
    """Put the cells to their data points; where it cannot be known what they are, say so."""
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
            at = (small, large)
            if kind == _IOPS:
                test.add(at, "throughput_per_s", value, line, f"{cell} IOPS")
            elif kind == _MBPS:
                test.add(at, "bytes_per_s", value * _MIB, line, f"{cell} MBPS", "large" if all(at) else "")
            else:
                unit = "us" if matrix.micro else "ms"
                test.add(at, "response_mean_s", value / _PER_SECOND[unit], line, f"{cell} {unit}")


def _kind(matrix: _Matrix) -> str:
    """What an untitled matrix is of: only MBPS has a column without small operations, only IOPS are whole numbers."""
    cells = [cell for _line, _large, row in matrix.rows for cell in row if cell]
    if matrix.columns[0] == 0:
        return _MBPS
    if cells and all("." not in cell for cell in cells):
        return _IOPS
    return _LATENCY if any(large == 0 and row for _line, large, row in matrix.rows) else ""


def _runs(test: _Test, lines: int) -> Iterator[LogRun]:
    for (small, large), point in sorted(test.points.items()):
        of = [one.line for one in point.readings]
        yield LogRun(
            tool="orion",
            version=test.version,
            workload=_workload(test.options.get("IO Types", test.options.get("IO Type", "")), small, large),
            load=small or large,
            options={**test.options, "small": str(small), "large": str(large)},
            readings=tuple(sorted(point.readings, key=lambda one: one.line)),
            histogram=tuple(point.buckets),
            lines=(min(of, default=1), max(of, default=lines)),
        )


def _workload(types: str, small: int, large: int) -> str:
    """A point's series: small operations alone, large ones alone, or small ones beside so many large ones."""
    kinds = [one.strip() for one in types.split(",") if one.strip()]
    few = next((one for one in kinds if one.startswith("Small")), "small I/O")
    many = next((one for one in kinds if one.startswith("Large")), "large I/O")
    return many if not small else f"{few} beside {large} {many}" if large else few
