"""What the sampler saw during a window, as measurements."""

from collections.abc import Callable, Mapping, Sequence

from ceteris.databases import counters
from ceteris.engine.protocol import Census, DeviceLoad, Sample
from ceteris.model import Measurement

_OF_THE_MACHINE: tuple[tuple[str, str, Callable[[Sample], float | None]], ...] = (
    ("cpu_user_share", "", lambda s: s.cpu.user),
    ("cpu_system_share", "", lambda s: s.cpu.system),
    ("cpu_iowait_share", "", lambda s: s.cpu.iowait),
    ("cpu_steal_share", "", lambda s: s.cpu.steal),
    ("load_1m", "", lambda s: s.load_1m),
    ("memory_available_bytes", "B", lambda s: s.memory.available_bytes),
    ("memory_dirty_bytes", "B", lambda s: s.memory.dirty_bytes),
    ("context_switches_per_s", "1/s", lambda s: s.context_switches_per_s),
    ("cpu_clock_hz", "Hz", lambda s: s.clock_hz),
    ("cpu_throttled", "", lambda s: s.throttled),
    ("device_errors", "", lambda s: s.device_errors),
    ("io_pressure_share", "", lambda s: s.pressure.io_some),
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


def within(samples: Sequence[Sample], start_s: float, end_s: float) -> list[Sample]:
    """The samples more than half of whose time lies in the window."""
    return [s for s in samples if start_s <= s.monotonic_s - s.duration_s / 2 <= end_s]


def measurements(samples: Sequence[Sample], start_s: float, device: str | None) -> tuple[Measurement, ...]:
    """Each counter over the window; `device` is the disk under test, without /dev/."""
    found = [
        _measurement(metric, unit, [(s, value(s)) for s in samples], start_s) for metric, unit, value in _OF_THE_MACHINE
    ]
    if device is not None:
        with_device = [(s, s.devices[device]) for s in samples if device in s.devices]
        found += [
            _measurement(metric, unit, [(s, value(d)) for s, d in with_device], start_s)
            for metric, unit, value in _OF_A_DEVICE
        ]
    return tuple(measurement for measurement in found if measurement is not None)


def of_a_server(
    family: str, before: Mapping[str, float], after: Mapping[str, float], census: Census, duration_s: float
) -> tuple[Measurement, ...]:
    """What a server under test counted over the window, and the processor time it took."""
    used = ("server_cpu_cores", "", census.own_cpu_s / (census.duration_s or duration_s))
    return tuple(
        Measurement(
            phase="measure",
            metric=metric,
            unit=unit,
            source="server",
            n=1,
            mean=value,
            low=value,
            high=value,
            total=value,
        )
        for metric, unit, value in [used, *counters.metrics(family, before, after, duration_s)]
    )


def _measurement(
    metric: str, unit: str, points: Sequence[tuple[Sample, float | None]], start_s: float
) -> Measurement | None:
    """One counter's course; None where the machine does not have it."""
    known = [(sample, value) for sample, value in points if value is not None]
    if not known:
        return None
    values = [float(value) for _, value in known]
    first = known[0][0]
    return Measurement(
        phase="measure",
        metric=metric,
        unit=unit,
        source="sample",
        n=len(values),
        mean=sum(values) / len(values),
        low=min(values),
        high=max(values),
        total=sum(value * sample.duration_s for (sample, _), value in zip(known, values, strict=True)),
        start_s=first.monotonic_s - first.duration_s - start_s,
        step_s=first.duration_s,
        points=tuple(values),
    )
