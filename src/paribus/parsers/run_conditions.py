"""Conditions of a run as far as its log shows them."""

import math
import re
from collections.abc import Iterator

from paribus.model.run_conditions import DURATION, IMPLIED, OTHERS, READ_SHARE, READS, WRITES
from paribus.parsers.log import LogRun
from paribus.parsers.redact import HIDDEN
from paribus.parsers.tables.columns import is_load, is_repetition

_ELSEWHERE = re.compile(  # the load level, the address and the account, paths, and what is printed
    r"threads|num-threads|clients?|connections?|iodepth|depth|numjobs|jobs|num-vu|vu|small|large|points|"
    r"(?:mysql|pgsql|maria|pg|db)-(?:host|port|user|socket|db|driver|ssl.*|debug|dbase|defaultdbase|superuser.*)|"
    r"database|db|server|host|port|user|username|dbname|socket|driver|test|total data points|terse-version|"
    r"report-.*|percentile|histogram|verbosity|debug|progress.*|log|aggregate-interval|sampling-rate|rand-seed|seed|"
    r"output.*|status-interval|eta.*|group-reporting|.*-log|log-.*|per-job-logs|title|table|file|filename.*|directory|name|"
    r"description|config-file|luajit-cmd|forced-shutdown"
)
_ALIASES = {
    "tables-count": "tables",
    "max-time": "time",
    "max-requests": "events",
    "tx-rate": "rate",
    "bs": "block size",
}
_ALIASES |= {"block-size": "block size", "blocksize": "block size", "file-block-size": "block size"}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)(?:([KMGT])i?B?|B)", re.IGNORECASE)
_NAMES = {"directio": "direct", "16384": "direct", "(none)": "none", "0": "none"}  # of sysbench's open flags
_NUMBER = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,9})?")
_BLOCK = re.compile(r"(?<![\w.])([0-9]{1,6}) ?-?([kM])i?B?\b", re.IGNORECASE)
_PER_TRANSACTION = {"read": READS, "write": WRITES, "other": OTHERS}
_MIXED = re.compile(r"randrw|rw|readwrite|fileio rndrw", re.IGNORECASE)
_FEWEST_OPERATIONS = 100  # a second, so that a printed rate is exact enough
_PRINTED = 0.01
_LATE_S = 0.15  # transactions that end after the time
_LEAST_S = 5.0


def conditions_of(run: LogRun) -> dict[str, str]:
    """Return the conditions of a run by name: options of the test, and figures that the test fixes."""
    conditions = dict(_implied(run))
    script = run.options.get("file", "") if run.tool == "pgbench" else ""
    for option, value in {**run.options, "script": script.rsplit("/", 1)[-1]}.items():
        name = option.lower().strip().replace("_", "-").removeprefix("oltp-")
        is_condition = not (_ELSEWHERE.fullmatch(name) or is_repetition(option) or is_load(option))
        if value and value != HIDDEN and is_condition and name not in IMPLIED:
            name = _ALIASES.get(name, name)
            sizes = set(map(_bytes, _SIZE.finditer(value))) if name == "block size" else set()
            plain = sizes.pop() if len(sizes) == 1 else _plain(value)
            conditions[name] = _NAMES.get(plain, plain) if name == "file-extra-flags" else plain
    return conditions


def _bytes(match: re.Match[str]) -> str:
    return f"{float(match[1]) * 1024 ** ' KMGT'.index((match[2] or ' ').upper()):.15g}"


def _plain(value: str) -> str:
    """A value in one notation: 16K, 16k and 16KiB are 16384."""
    if match := _SIZE.fullmatch(value.strip()):
        return _bytes(match)
    return f"{float(value):.15g}" if _NUMBER.fullmatch(value.strip()) else value.strip().strip("'\"").casefold()


def _implied(run: LogRun) -> Iterator[tuple[str, str]]:
    values = {reading.metric: reading.value for reading in run.readings if not reading.subject}
    sums = {series.metric: sum(series.values) for series in run.courses if not series.subject}
    for kind, name in _PER_TRANSACTION.items():
        for count, total in ((f"queries_{kind}", "operations"), (f"queries_{kind}_per_s", "throughput_per_s")):
            counts = values if count in values and total in values else sums
            if count in counts and counts.get(total):
                yield name, f"{counts[count] / counts[total]:.6g}"
                break
    reads, writes = values.get("reads_per_s", 0.0), values.get("writes_per_s", 0.0)
    if _MIXED.fullmatch(run.workload) and reads + writes > 0:
        yield READ_SHARE, f"{reads / (reads + writes):.4g}"
    if (duration_s := _duration_s(run.tool, values)) is not None:
        yield DURATION, f"{duration_s:g}"
    sizes = {
        (number, prefix.lower()) for number, prefix in _BLOCK.findall(f"{run.workload} {run.options.get('title', '')}")
    }
    if len(sizes) == 1:
        yield "block size", _plain("".join(sizes.pop()))
    elif run.tool == "fio" and (implied := _implied_block(values)):
        yield "block size", f"{implied:.15g}"


def _implied_block(values: dict[str, float]) -> int | None:
    """The block size that bytes and operations imply, where it is a power of two within a hundredth."""
    rate, bytes_per_s = values.get("throughput_per_s", 0.0), values.get("bytes_per_s", 0.0)
    if rate < _FEWEST_OPERATIONS or not bytes_per_s:
        return None
    exponent = round(math.log2(bytes_per_s / rate))
    return 2**exponent if abs(bytes_per_s / rate / 2**exponent - 1) < _PRINTED else None


def _duration_s(tool: str, values: dict[str, float]) -> float | None:
    """The requested duration; None where the number of operations may have ended the run."""
    duration_s = values.get("duration_s")
    if duration_s is None or tool in ("pgbench", "hammerdb"):
        return duration_s
    operations = values.get("operations", 0.0)
    by_count = operations >= 1000 and operations % 1000 == 0
    late_s = duration_s % 1
    return (
        duration_s // 1 if tool == "sysbench" and not by_count and duration_s >= _LEAST_S and late_s < _LATE_S else None
    )
