"""Cells of published tables: numbers in the style of the whole table, units, and what columns are called."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from ceteris.parsers.numbers import number

_EMPTY = {"", "-", "–", "—", "--", "n/a", "na", "nan", "none", "null", "?", "/", "×", "x", "..", "…"}
_GROUPS = r"[0-9]{1,3}(?:%s[0-9]{3})+"
_POINT_GROUPED = re.compile(rf"{_GROUPS % ','}(?:\.[0-9]+)?")
_COMMA_GROUPED = re.compile(rf"{_GROUPS % '[.]'}(?:,[0-9]+)?")
_SPACED = re.compile(r"(?P<groups>[0-9]{1,3}(?:[ '\u2019\u00a0\u2009\u202f][0-9]{3})+)(?P<rest>[.,][0-9]+)?")
_COMMA = re.compile(r"[0-9]+,[0-9]+")
_POINT = re.compile(r"[0-9]+\.[0-9]+")
_FORM = re.compile(
    r"(?P<ratio>[x×X] ?(?=[0-9.]))?(?P<sign>[+\u2212-] ?)?"
    r"(?P<digits>[0-9](?:[0-9.,'\u2019\u00a0\u2009\u202f ]*[0-9])?(?:[eE][+-]?[0-9]{1,3})?)"
    r" ?(?P<unit>[A-Za-z%µμ×][A-Za-z/%µμ]*)?"
)


_LONGEST = 60


class Style(Enum):
    """How a table writes its numbers."""

    POINT = "1,234.5"
    COMMA = "1.234,5"
    UNSURE = "1,234"  # thousands, or a decimal comma


def style_of(cells: Iterable[str], *, semicolons: bool) -> Style:
    """What the whole table shows; semicolons between cells are what a locale with decimal commas writes."""
    words = [found["digits"].replace(" ", "") for cell in cells if (found := _FORM.fullmatch(cell[:_LONGEST].strip()))]
    commas = [word for word in words if "," in word]
    if not commas:
        grouped = [word for word in words if word.count(".") > 1]
        return Style.COMMA if grouped else Style.POINT
    point = sum(bool(_POINT_GROUPED.fullmatch(word)) and ("." in word or word.count(",") > 1) for word in commas)
    comma = sum(
        bool(_COMMA_GROUPED.fullmatch(word))
        or (bool(_COMMA.fullmatch(word)) and not _POINT_GROUPED.fullmatch(word))
        or word.startswith("0,")
        for word in commas
    )
    if point or comma:
        return Style.UNSURE if point and comma else Style.POINT if point else Style.COMMA
    if semicolons or len(commas) != sum(bool(_POINT_GROUPED.fullmatch(word)) for word in commas):
        return Style.UNSURE
    plain = [value for word in words if "," not in word and (value := number(word)) is not None]
    points = sum(bool(_POINT.fullmatch(word)) for word in words)
    small = sum(value < 1000 and value == int(value) and value >= 100 for value in plain)
    large = sum(value >= 1000 for value in plain)
    # Numbers with a decimal point beside them, or whole ones just under a thousand and none above that lacks a comma.
    return Style.POINT if (points or small) and not large else Style.UNSURE


@dataclass(frozen=True, slots=True)
class Cell:
    """A number as written: `kind` is ratio (x 1.2), change (+12 %) or empty for what the column is of."""

    value: float
    unit: str = ""
    kind: str = ""


def cell_of(text: str, style: Style) -> Cell | None:
    """The number in a cell; None where there is none that is certain. Ask `empty` first."""
    text = _bare(text)
    found = _FORM.fullmatch(text) if len(text) < _LONGEST else None
    if found is None:
        return None
    value = _value(found["digits"], style)
    if value is None:
        return None
    unit = found["unit"] or ""
    signed = (found["sign"] or "").strip()
    if signed in ("-", "\u2212"):
        value = -value
    if found["ratio"] or unit in ("x", "×", "X"):
        return Cell(value, "", "ratio") if not signed else None
    if signed and unit == "%":
        return Cell(value / 100, "", "change")
    return Cell(value, unit)


def empty(text: str) -> bool:
    """Whether a cell says that there is nothing."""
    return _bare(text).lower() in _EMPTY


def _bare(text: str) -> str:
    return text.strip().strip("*`_").strip()


def _value(digits: str, style: Style) -> float | None:
    """The digits of a number in the style of its table."""
    if found := _SPACED.fullmatch(digits):
        rest = (found["rest"] or "").replace(",", ".")
        return number(re.sub(r"[^0-9]", "", found["groups"]) + rest)
    if "," not in digits and (style is not Style.COMMA or "." not in digits):
        return number(digits)
    if style is Style.POINT and _POINT_GROUPED.fullmatch(digits):
        return number(digits.replace(",", ""))
    if style is Style.COMMA:
        if _COMMA_GROUPED.fullmatch(digits):
            return number(digits.replace(".", "").replace(",", "."))
        return number(digits.replace(",", ".")) if _COMMA.fullmatch(digits) else None
    if style is Style.UNSURE and (_POINT_GROUPED.fullmatch(digits) and "." in digits):
        return number(digits.replace(",", ""))
    return None


_BYTES: Mapping[str, float] = {
    **{f"{prefix}ib": 1024.0**power for power, prefix in enumerate(("", "k", "m", "g", "t")) if prefix},
    **{f"{prefix}b": 1000.0**power for power, prefix in enumerate(("", "k", "m", "g", "t")) if prefix},
    "b": 1.0,
    "byte": 1.0,
    "bytes": 1.0,
}
_TIMES: Mapping[str, float] = {
    "ns": 1e9, "us": 1e6, "µs": 1e6, "μs": 1e6, "usec": 1e6, "ms": 1e3, "msec": 1e3,
    "s": 1.0, "sec": 1.0, "secs": 1.0, "seconds": 1.0, "min": 1 / 60,
}  # fmt: skip
_RATES = {
    "1/s",
    "/s",
    "ops/s",
    "io/s",
    "tps",
    "qps",
    "iops",
    "tx/s",
    "trx/s",
    "per second",
    "per sec",
    "req/s",
    "queries/s",
    "ops/sec",
}


@dataclass(frozen=True, slots=True)
class Unit:
    """A base unit, and how a number becomes one of it; `decimal` is of MB and such, which some tools mean as MiB."""

    base: str
    times: float = 1.0
    per: float = 1.0
    decimal: str = ""

    def of(self, value: float) -> float:
        """The number in the base unit."""
        return value / self.per if self.per != 1.0 else value * self.times


def unit_of(text: str) -> Unit | None:
    """The unit that words name; None where they name none that is known."""
    text = re.sub(r"(?<=[Bb])(?:/sec|ps|PS)$", "/s", text.strip())
    if re.fullmatch(r"[KMG]b(?:/s)?|[kmg]b/s", text):
        return None  # bits, or bytes as sysbench 0.4 has them
    words = text.lower().replace("/sec", "/s")
    if words in ("%", "percent", "pct"):
        return Unit("1", per=100.0)
    if words in ("count", "events", "queries"):
        return Unit("count")
    if words in ("ratio", "load_average", "1"):
        return Unit("1")
    if words in _RATES:
        return Unit("1/s")
    if words in _TIMES:
        return Unit("s", per=_TIMES[words])
    size, _slash, second = words.partition("/")
    if size in _BYTES and second in ("", "s"):
        decimal = size.upper() if len(size) == 2 and size[1] == "b" else ""
        return Unit("B/s" if second else "B", times=_BYTES[size], decimal=decimal)
    return Unit("1/min") if words in ("tpmc", "tpm", "/min") else None


_SAID: Mapping[tuple[str, str], str] = {
    ("bytes_per_s", "B/s"): "throughput bandwidth read+written",
    ("read_bytes_per_s", "B/s"): "read read_throughput read_bandwidth",
    ("written_bytes_per_s", "B/s"): "write written write_throughput write_bandwidth",
    ("throughput_per_s", "1/s"): "iops tps ops tpmc transaction_rate transactions_per_second requests_per_second",
    ("queries_per_s", "1/s"): "qps queries_per_second",
    ("reads_per_s", "1/s"): "reads read_iops iops_read",
    ("writes_per_s", "1/s"): "writes write_iops iops_write",
    ("fsyncs_per_s", "1/s"): "fsyncs",
    ("load_average", "1"): "load load_average load_avg loadavg",
    ("iowait_share", "1"): "iowait io_wait",
    ("cpu_share", "1"): "cpu cpu_usage",
    ("device_utilisation", "1"): "util",
    ("normalised", "1"): "normalised normalized normalised_throughput normalized_throughput",
    ("operations", "count"): "events transactions",
    ("duration_s", "s"): "total_time elapsed duration",
    ("queries", "count"): "queries queries_total",
    ("queries_read", "count"): "queries_read",
    ("queries_write", "count"): "queries_write",
    ("queries_other", "count"): "queries_other",
    ("errors", "count"): "errors ignored_errors",
    ("errors_per_s", "1/s"): "ignored_errors_rate",
    ("reconnects", "count"): "reconnects",
    ("response_sum_s", "s"): "event_execution_time_sum",
}
_NAMES = {word: metric for metric, words in _SAID.items() for word in words.split()}
_UNITS_IMPLIED = {"tps", "qps", "load", "load_average", "load_avg", "loadavg", "tpmc"} | {
    name for name in _NAMES if "per_second" in name or "iops" in name or name.startswith(("normal", "queries_"))
}
_LATENCY = re.compile(r"(?:latency|lat|response(?:_time)?|rt|resp)")
_WHICH = re.compile(
    r"(?:p|pct|percentile)_?([0-9]{1,2}(?:\.[0-9]+)?)|([0-9]{1,2}(?:\.[0-9]+)?)(?:th|%|_?percentile|pct)"
)
_PARTS = {
    "avg": "mean",
    "mean": "mean",
    "average": "mean",
    "min": "min",
    "max": "max",
    "sum": "sum",
    "stddev": "stddev",
    "total": "sum",
}


@dataclass(frozen=True, slots=True)
class Metric:
    """What a column or a row is of: the name among METRICS, else its own words; `expects` is its base unit."""

    name: str
    expects: str
    said: str
    implied: Unit | None


def metric_of(words: str) -> Metric | None:
    """What a name in a table stands for, in this program's words; None where it is no name of a measure."""
    said = re.sub(r"[^a-z0-9+%.]+", "_", words.lower().replace("trx", "transactions")).strip("_")
    said = (
        re.sub(r"_?(?:per_sec|_s)$", "_per_second", said)
        if said.startswith(("transactions", "queries", "requests"))
        else said
    )
    if said in _NAMES:
        name, base = _NAMES[said]
        implied = Unit("1/min") if said == "tpmc" else Unit(base) if said in _UNITS_IMPLIED else None
        return Metric(name, base, said, implied)
    if said.strip("%_") in ("iowait", "util", "cpu") and "%" in said:
        return Metric(_NAMES[said.strip("%_")][0], "1", said, Unit("1", per=100.0))
    if which := _WHICH.fullmatch(said):
        return Metric(f"response_p{which[1] or which[2]}_s".replace(".", ""), "s", said, None)
    if _LATENCY.search(said):
        rest = _LATENCY.sub("", said).strip("_")
        which = _WHICH.fullmatch(rest)
        part = f"p{(which[1] or which[2])}".replace(".", "") if which else _PARTS.get(rest or "mean")
        return Metric(f"response_{part}_s", "s", said, None) if part else None
    return None
