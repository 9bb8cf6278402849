"""The sampler's observations during a window, as measurements."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from paribus.databases.server import counters
from paribus.engine.protocol import Census, Counted, DeviceLoad, Sample
from paribus.model import Measurement


def _dirtied_bytes_per_s(sample: Sample) -> float | None:
    if sample.dirtied_bytes is None or not sample.duration_s:
        return None
    return sample.dirtied_bytes / sample.duration_s


_OF_THE_MACHINE: tuple[tuple[str, str, Callable[[Sample], float | None]], ...] = (
    ("cpu_user_share", "", lambda s: s.cpu.user),
    ("cpu_system_share", "", lambda s: s.cpu.system),
    ("cpu_iowait_share", "", lambda s: s.cpu.iowait),
    ("cpu_steal_share", "", lambda s: s.cpu.steal),
    ("run_queue", "", lambda s: s.run_queue),
    ("memory_available_bytes", "B", lambda s: s.memory.available_bytes),
    ("memory_dirty_bytes", "B", lambda s: s.memory.dirty_bytes),
    ("context_switches_per_s", "1/s", lambda s: s.context_switches_per_s),
    ("cpu_clock_hz", "Hz", lambda s: s.clock_hz),
    ("cpu_throttled", "", lambda s: s.throttled),
    ("device_errors", "", lambda s: s.device_errors),
    ("io_pressure_share", "", lambda s: s.pressure.io_some),
    ("reclaim_scanned_pages", "", lambda s: s.scanned_pages),
    ("memory_dirtied_bytes_per_s", "B/s", _dirtied_bytes_per_s),
)

_OF_A_DEVICE: tuple[tuple[str, str, Callable[[DeviceLoad], float | None]], ...] = (
    ("device_reads_per_s", "1/s", lambda d: d.reads_per_s),
    ("device_writes_per_s", "1/s", lambda d: d.writes_per_s),
    ("device_read_bytes_per_s", "B/s", lambda d: d.read_bytes_per_s),
    ("device_written_bytes_per_s", "B/s", lambda d: d.written_bytes_per_s),
    ("device_read_await_s", "s", lambda d: d.read_await_s),
    ("device_write_await_s", "s", lambda d: d.write_await_s),
    ("device_queue", "", lambda d: d.queue),
    ("device_utilisation", "", lambda d: d.utilisation),
)


class _Reading(Protocol):
    """Counters up to a moment; the first reading of its kind has no duration."""

    @property
    def monotonic_s(self) -> float: ...
    @property
    def duration_s(self) -> float | None: ...


_R = TypeVar("_R", bound=_Reading)


def within(readings: Sequence[_R], start_s: float, end_s: float) -> list[_R]:
    """The readings more than half of whose time lies in the window."""
    return [r for r in readings if r.duration_s and start_s <= r.monotonic_s - r.duration_s / 2 <= end_s]


def measurements(samples: Sequence[Sample], start_s: float, disks: Sequence[str]) -> tuple[Measurement, ...]:
    """Each counter over the window; `disks` are those under test, without /dev/, counted together."""
    measured = [
        _measurement(metric, unit, [(s, value(s)) for s in samples], start_s) for metric, unit, value in _OF_THE_MACHINE
    ]
    if disks:
        complete = [sample for sample in samples if all(disk in sample.devices for disk in disks)]
        with_device = [(s, _together([s.devices[disk] for disk in disks])) for s in complete]
        measured += [
            _measurement(metric, unit, [(s, value(d)) for s, d in with_device], start_s)
            for metric, unit, value in _OF_A_DEVICE
        ]
    return tuple(measurement for measurement in measured if measurement is not None)


def _together(disks: Sequence[DeviceLoad]) -> DeviceLoad:
    """Return the load of several disks: sums, response times over all operations, the utilisation of the busiest."""
    if len(disks) == 1:
        return disks[0]
    return DeviceLoad(
        reads_per_s=sum(disk.reads_per_s for disk in disks),
        writes_per_s=sum(disk.writes_per_s for disk in disks),
        read_bytes_per_s=sum(disk.read_bytes_per_s for disk in disks),
        written_bytes_per_s=sum(disk.written_bytes_per_s for disk in disks),
        read_await_s=_weighted([(disk.read_await_s, disk.reads_per_s) for disk in disks]),
        write_await_s=_weighted([(disk.write_await_s, disk.writes_per_s) for disk in disks]),
        queue=sum(disk.queue for disk in disks),
        utilisation=max(disk.utilisation for disk in disks),
    )


def _weighted(pairs: Sequence[tuple[float | None, float]]) -> float | None:
    """The mean of values by their weights; None where nothing has both."""
    present = [(value, weight) for value, weight in pairs if value is not None and weight]
    total = sum(weight for _, weight in present)
    return sum(value * weight for value, weight in present) / total if total else None


def busy_share(samples: Sequence[Sample]) -> float | None:
    """The share of all processors that was neither idle nor waiting for a disk; None without a sample."""
    seconds = sum(sample.duration_s or 0.0 for sample in samples)
    if not seconds:
        return None
    free = sum((s.cpu.idle + s.cpu.iowait) * (s.duration_s or 0.0) for s in samples)
    return 1.0 - free / seconds


def of_a_server(
    family: str, counted: Sequence[Counted], census: Census, start_s: float, duration_s: float
) -> tuple[Measurement, ...]:
    """A server's counters over the window, and its processor time."""
    cores = census.own_cpu_s / (census.duration_s or duration_s)
    measured = [Measurement.of_value("server_cpu_cores", "", cores, "measure", "server")]
    read = [
        (reading, counters.metrics(family, reading.counters, reading.grown, reading.duration_s or duration_s))
        for reading in counted
    ]
    units = {metric: unit for _, metrics in read for metric, (unit, _) in metrics.items()}
    for metric, unit in units.items():
        points = [(reading, metrics[metric][1]) for reading, metrics in read if metric in metrics]
        measured += filter(None, [_measurement(metric, unit, points, start_s, "server")])
    return tuple(measured)


def _measurement(
    metric: str, unit: str, points: Sequence[tuple[_Reading, float | None]], start_s: float, source: str = "sample"
) -> Measurement | None:
    """One counter as a time series; None where the machine does not have it."""
    present = [(reading, reading.duration_s, value) for reading, value in points if value is not None]
    if not present:
        return None
    values = [float(value) for _, _, value in present]
    first, first_s = present[0][0], present[0][1] or 0.0
    total = sum(value * (duration_s or 0.0) for _, duration_s, value in present)
    begin_s = first.monotonic_s - first_s - start_s
    return Measurement.of_series(metric, unit, values, "measure", source, total=total, start_s=begin_s, step_s=first_s)
