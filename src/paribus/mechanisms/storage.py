"""Mechanisms of the page cache and of block devices."""

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
    set_parameter,
    unsampled,
)
from paribus.units import parse_share, parse_size, show_size

_READS, _WRITES = "device_reads_per_s", "device_writes_per_s"
_DIRTY, _AVAILABLE, _WRITTEN = "memory_dirty_bytes", "memory_available_bytes", "device_written_bytes_per_s"
_DIRTIED = "memory_dirtied_bytes_per_s"
_SETTING = N_("{setting}")
_READ_ONLY_MODES, _WRITE_ONLY_MODES = ("seqrd", "rndrd"), ("seqwr", "seqrewr", "rndwr")
_LEAST_PIECE = 2**17  # bytes: no usual device splits operations into smaller requests
_DEEPEST_SHARE = 8  # a scheduler may give an operation of one sort this part of the queue
_LARGEST_SHARE = 1.0  # thresholds up to it are shares of available memory, others are bytes


def _no_io(case: Case) -> Obstacle | None:
    if case.on_files and case.parameters["engine"] == "null":
        fact = stored_message(_SETTING, setting=case.parameter_text("engine"))
        return Obstacle(fact, set_parameter(case, "engine", '"sync"'))
    return None


def _without_reads(case: Case) -> Obstacle | None:
    """The parameter for which the engine's load reads nothing."""
    return _one_sided(case, _WRITE_ONLY_MODES, 1.0, N_("add a smaller {key}"))


def _without_writes(case: Case) -> Obstacle | None:
    """The parameter for which the engine's load on files writes nothing."""
    return _one_sided(case, _READ_ONLY_MODES, 0.0, N_("add a larger {key}"))


def _one_sided(case: Case, modes: Sequence[str], write_share: float, remedy: str) -> Obstacle | None:
    """The parameter for which the engine's load only reads or only writes."""
    if not case.on_files:
        return None
    parameters = case.parameters
    if parameters.get("mode") in modes:
        fact = stored_message(_SETTING, setting=case.parameter_text("mode"))
        return Obstacle(fact, set_parameter(case, "mode", '"rndrw"'))
    if parameters.get("write_share") == write_share:
        fact = stored_message(_SETTING, setting=case.parameter_text("write_share"))
        return Obstacle(fact, stored_message(remedy, key=f"{case.workload.plan_name}.write_share"))
    return _no_io(case)


def _not_buffered_reads(case: Case) -> Obstacle | None:
    if case.on_files and case.parameters["direct"]:
        fact = stored_message(_SETTING, setting=case.parameter_text("direct"))
        return Obstacle(fact, set_parameter(case, "direct", "false"))
    if (without_reads := _without_reads(case)) is not None:
        return without_reads
    if case.workload.database == "mysql" and "DIRECT" in str(case.variable("innodb_flush_method")).upper():
        fact = stored_message("the server reads its data with O_DIRECT")
        return Obstacle(fact, stored_message("set {setting}", setting='innodb_flush_method = "fsync"'), certain=False)
    size_bytes = case.data.size_bytes
    if case.on_files and case.data.cached and case.workload.cache == "warm" and size_bytes < case.facts.memory_bytes:
        fact = stored_message("memory can hold the data of {size} in the page cache", size=show_size(size_bytes))
        remedy = stored_message("set {setting}", setting=f'{case.workload.plan_name}.cache = "cold"')
        return Obstacle(fact, remedy, certain=False)
    return None


def _not_buffered_writes(case: Case) -> Obstacle | None:
    """Direct writes to files still dirty inodes, so that they are no certain obstacle there."""
    if (without_writes := _without_writes(case)) is not None:
        return without_writes
    if case.on_files and case.parameters["direct"]:
        fact = stored_message(_SETTING, setting=case.parameter_text("direct"))
        return Obstacle(fact, set_parameter(case, "direct", "false"), certain=bool(case.parameters["device"]))
    return None


def _dirty_threshold(case: Case) -> float | None:
    """Half of the lowest level: below it no writer is throttled and no flusher woken.

    A control group with a memory limit has limits of dirty memory of its own, so that nothing is known there.
    """
    if any(key.startswith("cgroup.") and ".memory_" in key for key in case.settings):
        return None
    values = [str(level) for level in case.levels]
    return min(parse_share(value) if value.endswith("%") else float(parse_size(value)) for value in values) / 2


def _too_little_data(case: Case) -> Obstacle | None:
    """No proof: a control group may lower the limit, and other programs dirty memory too."""
    threshold = _dirty_threshold(case)
    if threshold is None or not case.on_files:
        return None
    in_bytes = _in_bytes(threshold, case)
    if case.data.size_bytes >= in_bytes:
        return None
    fact = stored_message(
        "{workload} has data of {size}", workload=case.workload.name, size=show_size(case.data.size_bytes)
    )
    return Obstacle(fact, stored_message("use data of more than {size}", size=show_size(in_bytes)), certain=False)


def _dirty_occurred(measured: Measured, threshold: float | None) -> Occurred:
    """Whether dirty memory can have reached the threshold between readings.

    What was dirtied between two readings is dirty at the second one, or was written to the device.
    """
    dirty, available, written = (measured.get(metric) for metric in (_DIRTY, _AVAILABLE, _WRITTEN))
    if dirty is None or available is None or written is None or threshold is None:
        return None
    limit = threshold * available.low if threshold <= _LARGEST_SHARE else threshold
    return 2 * dirty.high + written.high * interval_s(written) > limit


def _dirty_least(case: Case) -> Least | None:
    if (threshold := _dirty_threshold(case)) is None:
        return None
    return Least(case.knob.name, _in_bytes(threshold, case))


def _in_bytes(threshold: float, case: Case) -> float:
    return threshold * case.facts.memory_bytes if threshold <= _LARGEST_SHARE else threshold


def _never_concurrent(case: Case) -> Obstacle | None:
    is_alone = case.workload.load_levels == (1,) and case.workload.open_loop is None
    if not case.on_files or not is_alone or not case.parameters["direct"] or case.parameters.get("large"):
        return None
    fact = stored_message("{workload} has one operation outstanding", workload=case.workload.name)
    remedy = stored_message("add load levels, such as {setting}", setting="threads = [1, 16]")
    return Obstacle(fact, remedy, certain=False)


def _never_full(case: Case) -> Obstacle | None:
    """Buffered writes fill a queue at any load level; direct operations only by their number."""
    if not case.on_files or not case.parameters["direct"]:
        return None
    parameters, workload = case.parameters, case.workload
    sizes = [parameters[name] for name in ("block_size", "small_block", "large_block") if name in parameters]
    most = max(workload.load_levels) if workload.open_loop is None else workload.open_loop.outstanding
    requests = (most + parameters.get("large", 0)) * -(-max(sizes) // _LEAST_PIECE)
    fewest = min(int(level) for level in case.levels)
    if requests * _DEEPEST_SHARE > fewest:
        return None
    fact = stored_message("{workload} has at most {n} requests outstanding", workload=workload.name, n=requests)
    return Obstacle(fact, stored_message("add load levels above {n}", n=fewest))


def _free_blocks(case: Case) -> Least | None:
    """Return the space that is free after discard and preparation; if none is, the size of the data."""
    data_bytes = case.data.size_bytes
    free_bytes = case.disk_bytes - data_bytes
    return Least("over_provision", free_bytes if free_bytes > 0 else data_bytes) if case.disk_bytes else None


BUFFERED_READS = Mechanism(
    name=N_("buffered reads"),
    explanation="Reads through the page cache that reach the device. Direct I/O has none, and neither has data that "
    "the page cache holds.",
    counters=(_READS,),
    obstacle=_not_buffered_reads,
    occurred=above_zero([_READS]),
)
BUFFERED_WRITES = Mechanism(
    name=N_("buffered writes"),
    explanation="Writes that leave dirty memory behind. A load that only reads has none.",
    counters=(_DIRTY,),
    obstacle=_not_buffered_writes,
    occurred=above_zero([_DIRTY]),
)
DIRTY_LIMIT = Mechanism(
    name=N_("dirty memory near the limit"),
    explanation="Dirty memory of at least half of the lower level; below it no writer waits and no flusher is woken.",
    counters=(_DIRTY, _WRITTEN),
    obstacle=_too_little_data,
    occurred=_dirty_occurred,
    threshold=_dirty_threshold,
    least=_dirty_least,
    written=_DIRTIED,
)
DEVICE_REQUESTS = Mechanism(
    name=N_("device requests"),
    explanation="Reads or writes that reach the device under test.",
    counters=(_READS, _WRITES),
    obstacle=_no_io,
    occurred=above_zero([_READS, _WRITES]),
    leaves_state=False,
)
DEVICE_READS = Mechanism(
    name=N_("device reads"),
    explanation="Reads that reach the device under test.",
    counters=(_READS,),
    obstacle=_without_reads,
    occurred=above_zero([_READS]),
    leaves_state=False,
)
DEVICE_WRITES = Mechanism(
    name=N_("device writes"),
    explanation="Writes that reach the device under test, those of the file system's journal included.",
    counters=(_WRITES,),
    occurred=above_zero([_WRITES]),
)
CONCURRENT_REQUESTS = Mechanism(
    name=N_("concurrent requests"),
    explanation="More than one request outstanding on the device. With one, a scheduler has nothing to order and can "
    "only cost processor time, so that this is never a proof.",
    obstacle=_never_concurrent,
    occurred=unsampled,
    leaves_state=False,
)
FREE_BLOCKS = Mechanism(
    name=N_("writes beyond an SSD's free blocks"),
    explanation="More writes than the disks hold. A discarded SSD writes to free blocks first. Only when none is free "
    "does it move data to erase blocks, and only then does a reserve save work.",
    obstacle=_without_writes,
    occurred=unsampled,
    least=_free_blocks,
    written=_WRITTEN,
)
FULL_QUEUE = Mechanism(
    name=N_("a queue that fills"),
    explanation="As many requests outstanding as the queue holds. Direct I/O with few operations outstanding never "
    "fills it.",
    obstacle=_never_full,
    occurred=unsampled,
    leaves_state=False,
)
