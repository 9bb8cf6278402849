"""Events of the sampler: the machine over an interval, its processes, and the counters of a server."""

from typing import Literal

from paribus.engine.protocol.message import Message


class CpuShares(Message):
    """Processor time by use, as shares of all cores."""

    user: float
    system: float
    iowait: float
    irq: float
    steal: float
    idle: float


class Memory(Message):
    """Memory at the end of the interval."""

    total_bytes: int
    available_bytes: int
    dirty_bytes: int
    writeback_bytes: int
    cached_bytes: int


class Pressure(Message):
    """Stalls as shares of the interval; null where the kernel does not count them."""

    io_some: float | None
    io_full: float | None
    cpu_some: float | None
    memory_some: float | None


class DeviceLoad(Message):
    """Load of a disk: rates, response times, queue length and utilisation."""

    reads_per_s: float
    writes_per_s: float
    read_bytes_per_s: float
    written_bytes_per_s: float
    read_await_s: float | None
    write_await_s: float | None
    queue: float
    utilisation: float


class Sample(Message):
    """The machine over one interval."""

    event: Literal["sample"]
    monotonic_s: float
    unix_s: float
    duration_s: float
    cpu: CpuShares
    cores: int
    run_queue: int
    memory: Memory
    context_switches_per_s: float
    pressure: Pressure
    clock_hz: float | None
    throttled: int | None
    scanned_pages: int | None = None
    dirtied_bytes: int | None = None
    device_errors: int | None
    devices: dict[str, DeviceLoad]


class ProcessUse(Message):
    """Resources that a process used since the previous census; bytes are null where they may not be seen."""

    pid: int
    command: str
    cpu_s: float
    read_bytes: int | None
    written_bytes: int | None


class Census(Message):
    """Use of the machine by processes since the previous census, the largest first; of our own server, sums alone."""

    event: Literal["census"]
    label: str
    monotonic_s: float
    duration_s: float | None
    own_cpu_s: float = 0.0
    own_user_s: float = 0.0
    processes: list[ProcessUse]


class Counted(Message):
    """Counters of a server since its start, and their growth since the previous reading, if there was one.

    `failed` says why nothing is read from it any more.
    """

    event: Literal["counted"]
    monotonic_s: float
    duration_s: float | None
    took_s: float
    counters: dict[str, float]
    grown: dict[str, float]
    failed: str | None
