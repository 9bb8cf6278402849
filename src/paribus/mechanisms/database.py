"""Mechanisms of database servers."""

from collections.abc import Sequence

from paribus.i18n import N_, stored_message
from paribus.mechanisms.mechanism import (
    Case,
    Least,
    Measured,
    Mechanism,
    Obstacle,
    Occurred,
    above_zero,
    interval_s,
    unsampled,
)
from paribus.units import parse_duration, parse_size, show_size

_BINLOG, _AGE, _LOGGED = "server_binlog_transactions_per_s", "server_checkpoint_age_bytes", (
    "server_log_written_bytes_per_s"
)  # fmt: skip
_LOG_WRITES = ("server_log_writes_per_s", _LOGGED)
_FLUSHED = (
    "server_flushed_pages_per_s",
    "server_checkpoint_pages_per_s",
    "server_cleaned_pages_per_s",
    "server_backend_pages_per_s",
)
_CHECKPOINTED = ("server_checkpoint_pages_per_s",)
_MISSES = ("server_buffer_misses_per_s",)
_POOLS = {"mysql": "innodb_buffer_pool_size", "postgres": "shared_buffers"}
_LOW_WATER = 0.08  # of the redo log: adaptive flushing begins at 10 % of a capacity that is somewhat below the size
_ONLY_READS = N_("{workload} only reads")


def _read_only(case: Case, *, certain: bool) -> Obstacle | None:
    if case.is_tool or not case.workload.database or case.data.written:
        return None
    fact = stored_message(_ONLY_READS, workload=case.workload.name)
    return Obstacle(fact, stored_message("choose a workload that writes"), certain=certain)


def _no_commits(case: Case) -> Obstacle | None:
    is_shared = case.facts.database is not None and case.facts.database.running is not None
    return _read_only(case, certain=not is_shared)


def _hardly_written(case: Case) -> Obstacle | None:
    """A load that reads still has background writes: purge, hint bits, pages left dirty by the creation of data."""
    return _read_only(case, certain=False)


def _no_binary_log(case: Case) -> Obstacle | None:
    if str(case.variable("log_bin")).upper() not in ("OFF", "0", "FALSE"):
        return None
    remedy = stored_message("set {setting} under [database.settings]", setting='log_bin = "ON"')
    return Obstacle(stored_message("log_bin is OFF"), remedy)


def _in_pool(case: Case) -> Obstacle | None:
    pool = _POOLS.get(case.workload.database)
    pool_bytes = _bytes_of(case.variable(pool)) if pool else None
    is_known = not case.is_tool and case.data.size_bytes > 0  # of an existing database nothing is known
    if pool is None or pool_bytes is None or not is_known or case.data.size_bytes >= pool_bytes:
        return None
    message = N_("{variable} of {pool} holds the data of {size}")
    sizes = {"pool": show_size(pool_bytes), "size": show_size(case.data.size_bytes)}
    fact = stored_message(message, variable=pool, **sizes)
    return Obstacle(fact, stored_message("make more data, or lower {variable}", variable=pool), certain=False)


_POSTGRES_UNITS = {"kB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40, "B": 1}


def _bytes_of(value: object) -> int | None:
    """The bytes of a variable's value: 128M, 128MB, or a number."""
    text = str(value).strip()
    for unit, factor in _POSTGRES_UNITS.items():
        number = text.removesuffix(unit)
        if number != text and number.isdecimal():
            return int(number) * factor
    if text[-1:].upper() in "KMGT" and text[:-1].isdecimal():
        return int(text[:-1]) << (10 * ("KMGT".index(text[-1].upper()) + 1))
    try:
        return parse_size(int(text) if text.isdecimal() else text)
    except ValueError:
        return None


def _smallest(case: Case) -> int | None:
    sizes = [_bytes_of(level) for level in case.levels]
    return min((size for size in sizes if size is not None), default=None) if None not in sizes else None


def _low_water(case: Case) -> float | None:
    size = _smallest(case)
    return None if size is None else size * _LOW_WATER


def _redo_occurred(measured: Measured, threshold: float | None) -> Occurred:
    """Whether the age of the checkpoint can have reached the threshold between readings."""
    age, logged = measured.get(_AGE), measured.get(_LOGGED)
    if age is None or logged is None or threshold is None:
        return None
    return age.high + logged.high * interval_s(logged) > threshold


def _redo_least(case: Case) -> Least | None:
    threshold = _low_water(case)
    return None if threshold is None else Least(case.knob.name, threshold)


def _checkpoint_least(case: Case) -> Least | None:
    """Return the least that begins a checkpoint of PostgreSQL.

    It has written max_wal_size / (1 + checkpoint_completion_target) of log, or checkpoint_timeout has passed. Each of
    these two settings acts through its own condition alone.
    """
    name = case.knob.name.partition(".")[2]
    if name == "checkpoint_timeout":
        timeouts = [_seconds_of(level) for level in case.levels]
        durations_s = [timeout for timeout in timeouts if timeout is not None]
        return Least(case.knob.name, duration_s=min(durations_s)) if len(durations_s) == len(timeouts) > 0 else None
    size = _smallest(case) if name == "max_wal_size" else _bytes_of(case.variable("max_wal_size"))
    if size is None:
        return None
    share = 1 + float(case.variable("checkpoint_completion_target") or 0.9)
    timeout = None if name == "max_wal_size" else _seconds_of(case.variable("checkpoint_timeout"))
    return Least("postgres.max_wal_size", size / share, timeout or 0.0)


def _seconds_of(value: object) -> float | None:
    """The seconds of a duration as PostgreSQL writes it: 300, 300s, 5min."""
    try:
        return float(parse_duration(f"{value}s" if str(value).isdecimal() else str(value).strip()))
    except ValueError:
        return None


def _mechanism(name: str, explanation: str, counters: Sequence[str]) -> Mechanism:
    return Mechanism(
        name=name,
        explanation=explanation,
        counters=tuple(counters),
        obstacle=_hardly_written,
        occurred=above_zero(counters),
    )


COMMITS = Mechanism(
    name=N_("commits"),
    explanation="Transactions that change data and commit. A load that only reads has none.",
    obstacle=_no_commits,
    occurred=unsampled,
)
BINARY_LOG = Mechanism(
    name=N_("binary log writes"),
    explanation="Transactions that are written to the binary log, which must be on (`log_bin`).",
    counters=(_BINLOG,),
    obstacle=_no_binary_log,
    occurred=above_zero([_BINLOG]),
)
LOG_WRITES = _mechanism(N_("log writes"), "The server writes to its redo log or write-ahead log.", _LOG_WRITES)
PAGE_FLUSHING = _mechanism(
    N_("page flushing"), "The server writes dirty pages of its buffer pool to the data files.", _FLUSHED
)
BUFFER_MISSES = Mechanism(
    name=N_("buffer misses"),
    explanation="The server reads pages that its buffer pool does not hold.",
    counters=_MISSES,
    obstacle=_in_pool,
    occurred=above_zero(_MISSES),
)
POOL_SIZE = Mechanism(
    name=N_("data that exceed the pool"),
    explanation="The data are larger than the smallest buffer pool, so that sizes hold different shares of them.",
    obstacle=_in_pool,
    occurred=unsampled,
)
REDO_LOG = Mechanism(
    name=N_("redo log past its low-water mark"),
    explanation="The redo log holds at least 8 % of the smaller size: from there on flushing depends on the size.",
    counters=(_AGE, _LOGGED),
    obstacle=_hardly_written,
    occurred=_redo_occurred,
    threshold=_low_water,
    least=_redo_least,
    written=_LOGGED,
)
CHECKPOINTS = Mechanism(
    name=N_("checkpoints"),
    explanation="PostgreSQL writes pages for a checkpoint.",
    counters=_CHECKPOINTED,
    obstacle=_hardly_written,
    occurred=above_zero(_CHECKPOINTED),
    least=_checkpoint_least,
    written=_LOGGED,
)
