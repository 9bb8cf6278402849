"""What the columns of published tables are called: units and measures, in English, Chinese and Japanese."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

_MANY = 4096  # names of one import

_BYTES: Mapping[str, float] = {
    **{f"{prefix}ib": 1024.0**power for power, prefix in enumerate(("", "k", "m", "g", "t")) if prefix},
    **{f"{prefix}b": 1000.0**power for power, prefix in enumerate(("", "k", "m", "g", "t")) if prefix},
    "b": 1.0,
    "byte": 1.0,
    "bytes": 1.0,
}
_TIMES: Mapping[str, float] = {
    "ns": 1e9, "nsec": 1e9, "us": 1e6, "µs": 1e6, "μs": 1e6, "usec": 1e6, "usecs": 1e6, "微秒": 1e6,
    "ms": 1e3, "msec": 1e3, "msecs": 1e3, "毫秒": 1e3,
    "s": 1.0, "sec": 1.0, "secs": 1.0, "second": 1.0, "seconds": 1.0, "秒": 1.0, "min": 1 / 60,
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
    "reqs/s",
    "requests/s",
    "queries/s",
    "transactions/s",
    "events/s",
    "次/s",
    "个/s",
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


@lru_cache(_MANY)
def unit_of(text: str) -> Unit | None:
    """The unit that words name; None where they name none that is known."""
    text = re.sub(r"^\$*\\mu\$*(?=s\$*$)", "µ", text.strip()).rstrip("$")
    text = re.sub(r"(?<=[Bb])(?:/sec|ps|PS)$", "/s", text.strip())
    if re.fullmatch(r"[KMG]b(?:/s)?|[kmg]b/s", text):
        return None  # bits, or bytes as sysbench 0.4 has them
    words = re.sub("/(?:second|sec|秒)$", "/s", text.lower())
    if words in ("%", "percent", "pct"):
        return Unit("1", per=100.0)
    if words in ("count", "events", "queries", "transactions", "个", "次"):
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
    ("bytes_per_s", "B/s"): "throughput bandwidth bw read+written",
    ("read_bytes_per_s", "B/s"): "read read_throughput read_bandwidth read_bw",
    ("written_bytes_per_s", "B/s"): "write written write_throughput write_bandwidth write_bw",
    (
        "throughput_per_s",
        "1/s",
    ): "iops tps ops tpmc rps eps transaction_rate transactions_per_second requests_per_second "
    "events_per_second operations_per_second ops_per_second io_per_second",
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
_NAMES = {word: metric for metric, words in _SAID.items() for word in words.split()}
_LOOSE = {"read", "write", "written", "reads", "writes", "load", "cpu", "util", "events", "transactions", "queries"}
_LOOSE |= {"errors", "elapsed", "duration", "ops"}
_UNITS_IMPLIED = {"tps", "qps", "rps", "eps", "load", "load_average", "load_avg", "loadavg", "tpmc"} | {
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
"""What Chinese and Japanese tables say in words that are taken for measures; what varies is left as it is called."""

_IN_CHINESE = re.compile("|".join(_CHINESE))


@dataclass(frozen=True, slots=True)
class ColumnMetric:
    """What a column or a row is of: the name among METRICS, else its own words; `expects` is its base unit."""

    name: str
    expects: str
    said: str
    implied: Unit | None

    @property
    def loose(self) -> bool:
        """Whether it is a word of everyday speech too (`write policy`): words beside it change what it means."""
        return self.said in _LOOSE


def in_english(text: str) -> str:
    """A head with the words for measures in English."""
    return text if text.isascii() else " ".join(_IN_CHINESE.sub(lambda match: _CHINESE[match[0]], text).split())


@lru_cache(_MANY)
def metric_of(words: str) -> ColumnMetric | None:
    """What a name in a table stands for, in this program's words; None where it is no name of a measure."""
    said = re.sub(r"[^\w+%.]+", "_", words.lower().replace("trx", "transactions")).strip("_")
    said = (
        re.sub(r"_(?:per_)?(?:sec|s)$", "_per_second", said)
        if said.startswith(
            ("transactions", "queries", "requests", "reads", "writes", "read_s", "write_s", "r_s", "w_s")
        )
        or said.startswith(("events", "ops", "operations", "fsyncs", "io_s", "errors"))
        else said
    )
    if said in _NAMES:
        name, base = _NAMES[said]
        implied = Unit("1/min") if said == "tpmc" else Unit(base) if said in _UNITS_IMPLIED else None
        return ColumnMetric(name, base, said, implied)
    if said.strip("%_") in ("iowait", "util", "cpu") and "%" in said:
        return ColumnMetric(_NAMES[said.strip("%_")][0], "1", said, Unit("1", per=100.0))
    if which := _WHICH.fullmatch(said):
        return ColumnMetric(f"response_p{which[1] or which[2]}_s".replace(".", ""), "s", said, None)
    if _LATENCY.search(said):
        rest = _LATENCY.sub("", said).strip("_")
        which = _WHICH.fullmatch(rest)
        part = f"p{(which[1] or which[2])}".replace(".", "") if which else _PARTS.get(rest or "mean")
        return ColumnMetric(f"response_{part}_s", "s", said, None) if part else None
    return None
