"""Events of the engine: those of a load, a server and a query, and the union of all."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, JsonValue, TypeAdapter, field_validator

from paribus.engine.protocol.durability import CutOff, Flushed, PageCache
from paribus.engine.protocol.folder_event import DataFolderMade, DataFolders, Probe
from paribus.engine.protocol.message import Message
from paribus.engine.protocol.telemetry_event import Census, Counted, Sample
from paribus.model import ProcessState


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
    """Progress of preparing the data."""

    event: Literal["progress"]
    done_bytes: int
    total_bytes: int


class Statements(Message):
    """Statements of transactions by kind, and the failures and retries of transactions."""

    read_queries: int = 0
    write_queries: int = 0
    other_queries: int = 0
    rollbacks: int = 0
    conflicts: int = 0
    lock_timeouts: int = 0
    retries: int = 0
    reconnects: int = 0
    skipped: int = 0
    lost: int = 0


class Counts(Message):
    """Completed operations, bytes and statements, and errors."""

    operations: int
    reads: int
    writes: int
    fsyncs: int
    read_bytes: int
    written_bytes: int
    statements: Statements | None = None
    errors: dict[str, int]


class Stretch(Counts):
    """Completed work of an interval; response times are null where no operation completed."""

    window: str | None
    start_s: float
    duration_s: float


class Interval(Stretch):
    """One second of load; `offered` and `backlog` are those of an open loop.

    `histogram` is that of the response times, null where the job has no `histograms`.
    """

    event: Literal["interval"]
    mean_s: float | None
    p50_s: float | None
    p95_s: float | None
    p99_s: float | None
    max_s: float | None
    offered: int | None
    backlog: int | None
    histogram: str | None = None


class ClockReading(Message):
    """The engine's monotonic clock when it answered the question of this label."""

    event: Literal["clock"]
    label: str
    monotonic_s: float


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
    """Adherence of an open loop to its schedule; `late` is the engine's own imprecision."""

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


class TransactionKind(Message):
    """One kind of transaction of a load that has several; times are null where none was completed."""

    count: int
    per_s: float
    mean_s: float | None
    p90_s: float | None
    p95_s: float | None
    max_s: float | None
    histogram: str = ""


class Result(Stretch):
    """A whole window: response times run from the intended start, service times from the actual one."""

    event: Literal["result"]
    start_unix_s: float
    throughput_per_s: float
    bytes_per_s: float
    response: Times
    service: Times
    fairness: float | None
    pacing: Pacing | None
    parts: dict[str, Part] | None
    kinds: dict[str, TransactionKind] | None = None
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


class DataVerified(Message):
    """All verified data was read, and none of it is damaged; `written` blocks are of a load."""

    event: Literal["verified"]
    blocks: int
    written: int
    acknowledged: int


class Failure(Message):
    """Error that stopped the engine: a class for programs, a message and a hint for people."""

    model_config = ConfigDict(extra="allow", frozen=True, populate_by_name=True)

    event: Literal["error"]
    failure: str = Field(alias="class")
    message: str
    path: str | None = None
    hint: str | None = None


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
    """End of a server with all its processes. Signal 9 after a stop: it exceeded its time limit."""

    event: Literal["ended"]
    exit_code: int | None
    signal: int | None
    last_words: list[str]


class Rows(Message):
    """Result of a query, as text; null is None."""

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
    | ClockReading
    | Durable
    | Result
    | DataVerified
    | Failure
    | Sample
    | Census
    | Counted
    | DataFolderMade
    | DataFolders
    | Probe
    | Processes
    | CutOff
    | Flushed
    | PageCache
    | Started
    | Ended
    | Rows
    | Refused,
    Field(discriminator="event"),
]

event_adapter: TypeAdapter[Event] = TypeAdapter(Event)
