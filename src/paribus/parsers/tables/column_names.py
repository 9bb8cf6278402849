"""Column names of published tables: units and metrics, in English, Chinese and Japanese."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

_MANY = 4096  # cached names of one import

_BYTES: Mapping[str, float] = {
    **{f"{prefix}ib": 1024.0**power for power, prefix in enumerate(("", "k", "m", "g", "t")) if prefix},
    **{f"{prefix}b": 1000.0**power for power, prefix in enumerate(("", "k", "m", "g", "t")) if prefix},
    **{f"{word}byte": 1000.0**power for power, word in enumerate(("", "kilo", "mega", "giga", "tera"))},
    **{f"{word}byte": 1024.0**power for power, word in enumerate(("", "kibi", "mebi", "gibi", "tebi")) if word},
    "b": 1.0,
}
_TIMES: Mapping[str, float] = {
    "ns": 1e9, "nsec": 1e9, "nanosecond": 1e9,
    "us": 1e6, "µs": 1e6, "μs": 1e6, "usec": 1e6, "microsecond": 1e6, "微秒": 1e6,
    "ms": 1e3, "msec": 1e3, "millisec": 1e3, "millisecond": 1e3, "毫秒": 1e3,
    "s": 1.0, "sec": 1.0, "second": 1.0, "秒": 1.0, "min": 1 / 60, "minute": 1 / 60, "hour": 1 / 3600,
}  # fmt: skip
_RATES = {
    *("1/s", "/s", "tps", "qps", "iops", "次/s", "个/s"),
    *(f"{word}/s" for word in ("op", "operation", "io", "iop", "req", "request", "query", "querie", "event", "commit")),
    *(f"{word}/s" for word in ("tx", "txn", "trx", "transaction", "order", "row", "call")),
}
_PLURAL = re.compile(r"(?<=[a-z]{3})s$|(?<=[a-z]{2})s(?=/)")


@dataclass(frozen=True, slots=True)
class Unit:
    """A base unit with its conversion; `decimal` holds MB and the like, which some tools use for MiB."""

    base: str
    times: float = 1.0
    per: float = 1.0
    decimal: str = ""

    def of(self, value: float) -> float:
        """Convert a number to the base unit."""
        return value / self.per if self.per != 1.0 else value * self.times


@lru_cache(_MANY)
def unit_of(text: str) -> Unit | None:
    """Return the unit of a name; None if it is unknown."""
    text = re.sub(r"^\$*\\mu\$*(?=s\$*$)", "µ", text.strip()).rstrip("$")
    text = re.sub(r"(?<=[Bb])(?:/sec|ps|PS)$", "/s", text.strip())
    if re.fullmatch(r"[KMG]b(?:/s)?|[kmg]b/s", text):
        return None  # bits, or bytes in sysbench 0.4
    name = re.sub(" ?(?:/|\\bper\\b) ?(?:seconds?|secs?|s|秒)$", "/s", text.lower())
    if name in ("%", "percent", "pct"):
        return Unit("1", per=100.0)
    if name in ("count", "events", "queries", "transactions", "个", "次"):
        return Unit("count")
    if name in ("ratio", "load_average", "1"):
        return Unit("1")
    if name in _RATES or _PLURAL.sub("", name) in _RATES:
        return Unit("1/s")
    name = _PLURAL.sub("", name)
    if name in _TIMES:
        return Unit("s", per=_TIMES[name])
    size, _slash, second = name.partition("/")
    if size in _BYTES and second in ("", "s"):
        decimal = size.upper() if len(size) == 2 and size[1] == "b" else ""
        return Unit("B/s" if second else "B", times=_BYTES[size], decimal=decimal)
    return Unit("1/min") if name in ("tpmc", "tpm", "/min") else None


_SPELLINGS: Mapping[tuple[str, str], str] = {
    ("bytes_per_s", "B/s"): "throughput bandwidth bw read+written",
    ("read_bytes_per_s", "B/s"): "read read_throughput read_bandwidth read_bw",
    ("written_bytes_per_s", "B/s"): "write written write_throughput write_bandwidth write_bw",
    (
        "throughput_per_s",
        "1/s",
    ): "iops tps ops tpmc nopm notpm rps eps transaction_rate transactions_per_second requests_per_second "
    "new_order_transactions_per_minute events_per_second operations_per_second ops_per_second io_per_second",
    ("queries_per_s", "1/s"): "qps queries_per_second",
    ("queries_read_per_s", "1/s"): "read_qps qps_read",
    ("queries_write_per_s", "1/s"): "write_qps qps_write",
    ("queries_other_per_s", "1/s"): "other_qps qps_other",
    ("reads_per_s", "1/s"): "reads read_iops iops_read reads_per_second read_per_second r_per_second",
    ("writes_per_s", "1/s"): "writes write_iops iops_write writes_per_second write_per_second w_per_second",
    ("fsyncs_per_s", "1/s"): "fsyncs fsyncs_per_second",
    ("load_average", "1"): "load load_average load_avg loadavg",
    ("iowait_share", "1"): "iowait io_wait",
    ("cpu_share", "1"): "cpu cpu_usage cpu_utilization cpu_utilisation",
    ("device_utilisation", "1"): "util",
    ("normalised", "1"): "normalised normalized normalised_throughput normalized_throughput",
    ("operations", "count"): "events transactions total_events total_transactions number_of_events",
    ("duration_s", "s"): "total_time elapsed duration time_elapsed elapsed_time run_time runtime",
    ("queries", "count"): "queries queries_total total_queries",
    ("queries_read", "count"): "queries_read read_queries",
    ("queries_write", "count"): "queries_write write_queries",
    ("queries_other", "count"): "queries_other other_queries",
    ("errors", "count"): "errors ignored_errors",
    ("errors_per_s", "1/s"): "ignored_errors_rate errors_per_second",
    ("reconnects", "count"): "reconnects",
    ("response_sum_s", "s"): "event_execution_time_sum",
    ("thread_events_mean", "count"): "fairness_events_avg events_avg",
    ("thread_time_mean_s", "s"): "fairness_exec_time_avg execution_time_avg",
}
_NAMES = {word: metric for metric, spellings in _SPELLINGS.items() for word in spellings.split()}
_LOOSE = {"read", "write", "written", "reads", "writes", "load", "cpu", "util", "events", "transactions", "queries"}
_LOOSE |= {"errors", "elapsed", "duration", "ops"}
_NEW_ORDERS = ("tpmc", "nopm", "notpm", "new_order_transactions_per_minute")  # in one minute
_UNITS_IMPLIED = {"tps", "qps", "rps", "eps", "load", "load_average", "load_avg", "loadavg", *_NEW_ORDERS} | {
    name
    for name, (_metric, base) in _NAMES.items()
    if "per_second" in name
    or "iops" in name
    or name.startswith("normal")
    or (base == "count" and name not in ("transactions", "queries", "errors", "reconnects"))
}
_LATENCY = re.compile(r"(?:latency|lat|response(?:_time)?|rt|resp)")
_WHICH = re.compile(
    r"(?:p|pct|percentile)_?([0-9]{1,2}(?:\.[0-9]+)?)|"
    r"([0-9]{1,2}(?:\.[0-9]+)?)(?:(?:th|%)(?:_?(?:percentile|pct|perc))?|_?(?:percentile|pct))"
)
_PARTS = {
    **dict.fromkeys(("avg", "mean", "average"), "mean"),
    **dict.fromkeys(("min", "minimum", "shortest"), "min"),
    **dict.fromkeys(("max", "maximum", "longest"), "max"),
    **dict.fromkeys(("sum", "total"), "sum"),
    **dict.fromkeys(("stddev", "stdev"), "stddev"),
    "median": "p50",
}
_CHINESE = {
    "平均": " avg ", "最大": " max ", "最小": " min ",
    "响应时间": " latency ", "延迟": " latency ", "时延": " latency ", "总时间": " total time ",
    "吞吐量": " throughput ", "吞吐": " throughput ", "带宽": " bandwidth ",
    "每秒事务数": " tps ", "每秒查询数": " qps ",
    "スループット": " throughput ", "レイテンシ": " latency ", "スレッド数": " threads ",
    "线程数": " threads ", "并发数": " threads ", "并发": " threads ",
    "（": " (", "）": ") ", "：": ": ", "，": ", ",
}  # fmt: skip
"""English names of metrics in Chinese and Japanese tables; names of factors are not translated."""

_IN_CHINESE = re.compile("|".join(_CHINESE))


@dataclass(frozen=True, slots=True)
class ColumnMetric:
    """The metric of a column or row: a name of METRICS or its own; `expects` is its base unit.

    `spelling` is the normalised name in the table. `implied` is the unit that the name implies, if any.
    """

    name: str
    expects: str
    spelling: str
    implied: Unit | None

    @property
    def loose(self) -> bool:
        """Whether it is also an everyday word (`write policy`), so that adjacent words change its meaning."""
        return self.spelling in _LOOSE


def in_english(text: str) -> str:
    """Translate the metric names of a head to English."""
    return text if text.isascii() else " ".join(_IN_CHINESE.sub(lambda match: _CHINESE[match[0]], text).split())


@lru_cache(_MANY)
def metric_of(text: str) -> ColumnMetric | None:
    """Return the metric of a name in a table; None if it names no metric."""
    spelling = re.sub(r"[^\w+%.]+", "_", text.lower().replace("trx", "transactions")).strip("_")
    spelling = (
        re.sub(r"_(?:per_)?(?:sec|s)$", "_per_second", spelling)
        if spelling.startswith(
            ("transactions", "queries", "requests", "reads", "writes", "read_s", "write_s", "r_s", "w_s")
        )
        or spelling.startswith(("events", "ops", "operations", "fsyncs", "io_s", "errors"))
        else spelling
    )
    if spelling in _NAMES:
        name, base = _NAMES[spelling]
        implied = Unit("1/min") if spelling in _NEW_ORDERS else Unit(base) if spelling in _UNITS_IMPLIED else None
        return ColumnMetric(name, base, spelling, implied)
    if spelling.strip("%_") in ("iowait", "util", "cpu") and "%" in spelling:
        return ColumnMetric(_NAMES[spelling.strip("%_")][0], "1", spelling, Unit("1", per=100.0))
    if percentile := _WHICH.fullmatch(spelling):
        return ColumnMetric(f"response_p{percentile[1] or percentile[2]}_s".replace(".", ""), "s", spelling, None)
    if _LATENCY.search(spelling):
        remainder = _LATENCY.sub("", spelling).strip("_")
        percentile = _WHICH.fullmatch(remainder)
        part = (
            f"p{(percentile[1] or percentile[2])}".replace(".", "") if percentile else _PARTS.get(remainder or "mean")
        )
        return ColumnMetric(f"response_{part}_s", "s", spelling, None) if part else None
    return None
