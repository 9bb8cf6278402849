"""Events: a stream out."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, JsonValue, TypeAdapter, field_validator

from paribus.engine.protocol.message import Message
from paribus.model import ProcessState

_YEAR_10000_S = 253402300800


class Hello(Message):
    """The first event: who speaks, and the parameters as the engine took them."""

    event: Literal["hello"]
    protocol: int
    version: str
    pid: int
    capabilities: list[str]
    effective: dict[str, JsonValue]


class Phase(Message):
    """A phase begins; `window` where it is one's opening or closing."""

    event: Literal["phase"]
    name: str
    window: str | None = None
    monotonic_s: float
    unix_s: float


class Progress(Message):
    """How far preparing is."""

    event: Literal["progress"]
    done_bytes: int
    total_bytes: int


class Statements(Message):
    """What transactions were made of, and what happened to them."""

    read_queries: int = 0
    write_queries: int = 0
    other_queries: int = 0
    rollbacks: int = 0
    conflicts: int = 0
    lock_timeouts: int = 0
    retries: int = 0
    reconnects: int = 0


class Counts(Message):
    """What was completed."""

    operations: int
    reads: int
    writes: int
    fsyncs: int
    read_bytes: int
    written_bytes: int
    statements: Statements | None = None
    errors: dict[str, int]


class Stretch(Counts):
    """What was completed in a stretch of time; response times are null where nothing was."""

    window: str | None
    start_s: float
    duration_s: float


class Interval(Stretch):
    """One second of load; `offered` and `backlog` are those of an open loop."""

    event: Literal["interval"]
    mean_s: float | None
    p50_s: float | None
    p95_s: float | None
    p99_s: float | None
    max_s: float | None
    offered: int | None
    backlog: int | None


class Durable(Message):
    """By lane of a load on verified data, the sequence up to which all its writes survive a crash."""

    event: Literal["durable"]
    sequences: list[int]


class Times(Message):
    """A distribution of times: a summary, and an HDR histogram (V2, deflated, base64, nanoseconds)."""

    count: int
    mean_s: float | None
    min_s: float | None
    p50_s: float | None
    p95_s: float | None
    p99_s: float | None
    p999_s: float | None
    max_s: float | None
    sum_s: float
    histogram: str


class Cpu(Message):
    """Processor time of the engine itself over the window."""

    user_s: float
    system_s: float


class Pacing(Message):
    """How an open loop kept to its schedule; `late` is the engine's own imprecision."""

    offered: int
    started: int
    backlog_at_start: int
    backlog_at_end: int
    lag_s: float
    late_mean_s: float | None
    late_max_s: float | None


class Part(Counts):
    """One stream of a load that has several."""

    throughput_per_s: float
    bytes_per_s: float
    response: Times


class Result(Stretch):
    """A whole window: response times run from the intended start, service times from the actual one."""

    event: Literal["result"]
    start_unix_s: float
    throughput_per_s: float
    bytes_per_s: float
    response: Times
    service: Times
    pacing: Pacing | None
    parts: dict[str, Part] | None
    cpu: Cpu
    cores_usable: int
    workers: int
    registered_buffers: bool

    @field_validator("duration_s")
    @classmethod
    def _lasts(cls, duration_s: float) -> float:
        if duration_s <= 0:
            raise ValueError("a window lasts")
        return duration_s


class Failure(Message):
    """Why the engine stopped: a class for programs, a message and a hint for people."""

    model_config = ConfigDict(extra="allow", frozen=True, populate_by_name=True)

    event: Literal["error"]
    failure: str = Field(alias="class")
    message: str
    path: str | None = None
    hint: str | None = None


class CpuShares(Message):
    """Where the processors' time went, as shares of all cores."""

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
    """What a disk did."""

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
    device_errors: int | None
    devices: dict[str, DeviceLoad]


class ProcessUse(Message):
    """What one process used since the census before; bytes are null where they may not be seen."""

    pid: int
    command: str
    cpu_s: float
    read_bytes: int | None
    written_bytes: int | None


class Census(Message):
    """Who used the machine since the census before, the largest first; of our own server, sums alone."""

    event: Literal["census"]
    label: str
    monotonic_s: float
    duration_s: float | None
    own_cpu_s: float = 0.0
    own_user_s: float = 0.0
    processes: list[ProcessUse]


class Counted(Message):
    """What a server has counted since it started, and by how much since the reading before, of which there may be none.

    `failed` says why nothing is read from it any more.
    """

    event: Literal["counted"]
    monotonic_s: float
    duration_s: float | None
    took_s: float
    counters: dict[str, float]
    grown: dict[str, float]
    failed: str | None


class Directory(Message):
    """A folder and the file system under it; null for `writable` means yes, for `untrusted` that others cannot change
    it."""

    path: str
    free_bytes: int
    total_bytes: int
    filesystem: str
    device: str
    major_minor: str
    writable: str | None
    exists: bool
    untrusted: str | None


class Probe(Message):
    """What the machine allows; null means allowed, text says why not."""

    event: Literal["probe"]
    protocol: int
    version: str
    kernel: str
    hostname: str
    cores: int
    memory_bytes: int
    boot_id: str
    uid: int
    io_uring: str | None
    direct: str | None
    directory: Directory


class DataFolderMade(Message):
    """The folder of an experiment is there."""

    event: Literal["data-folder"]
    path: str


class Manifest(Message):
    """What a folder says of itself: whose data is in it. `about`: what the controller wrote into it."""

    experiment: str
    made_unix_s: Annotated[float, Field(ge=0, lt=_YEAR_10000_S, allow_inf_nan=False)]
    about: dict[str, str]


class DataFolder(Message):
    """A folder of data; without a manifest it was not made by an experiment. `in_use`: a program in it runs."""

    path: str
    manifest: Manifest | None
    size_bytes: int
    in_use: bool


class DataFolders(Message):
    """The folders of data below a place."""

    event: Literal["data-folders"]
    folders: list[DataFolder]


class ProcessConditions(Message):
    """The conditions of a running process, as the kernel shows them; see `ProcessState`."""

    pid: int
    name: str
    cpus: tuple[str, ...]
    groups: tuple[str, ...]
    nofile: str | None
    memlock: str | None
    numa: str | None

    def state(self) -> ProcessState:
        """The same as a record."""
        return ProcessState(**self.model_dump())


class Processes(Message):
    """A process and its descendants; empty where it has ended."""

    event: Literal["processes"]
    processes: list[ProcessConditions]


class Started(Message):
    """A server process runs."""

    event: Literal["started"]
    pid: int


class Ended(Message):
    """Nothing of a server runs any more; signal 9 after a stop: it did not end in time."""

    event: Literal["ended"]
    exit_code: int | None
    signal: int | None
    last_words: list[str]


class Rows(Message):
    """What a query returned, as text; null is None."""

    event: Literal["rows"]
    columns: list[str]
    rows: list[list[str | None]]


class Refused(Message):
    """The server said no to a query."""

    event: Literal["refused"]
    kind: str
    code: str
    message: str


Event = Annotated[
    Hello
    | Phase
    | Progress
    | Interval
    | Durable
    | Result
    | Failure
    | Sample
    | Census
    | Counted
    | DataFolderMade
    | DataFolders
    | Probe
    | Processes
    | Started
    | Ended
    | Rows
    | Refused,
    Field(discriminator="event"),
]

event_adapter: TypeAdapter[Event] = TypeAdapter(Event)
