"""Jobs: one line in."""

from typing import Annotated, Literal

from pydantic import Field, SecretStr, field_serializer

from ceteris.engine.protocol.message import VERSION, Message


class Data(Message):
    """Where the data is: the files of a directory, or a block device; exactly one of the two."""

    directory: str | None = None
    device: str | None = None
    files: int = 1
    total_size_bytes: int
    compressible: float = 0.0
    verified_block_bytes: int | None = None

    def place(self) -> str:
        """The directory or the device."""
        return self.device or self.directory or ""


class Method(Message):
    """How I/O is done."""

    engine: Literal["sync", "io_uring", "null"] = "sync"
    direct: bool = False
    sync_writes: Literal["none", "dsync", "sync"] = "none"
    huge_pages: bool = False


class Access(Message):
    """Which operations, where, in which order; `mode` has sysbench's meaning."""

    mode: Literal["seqwr", "seqrewr", "seqrd", "rndrd", "rndwr", "rndrw"]
    block_size_bytes: int
    read_write_ratio: float = 1.5
    distribution: Literal["uniform", "zipf", "pareto", "hotspot"] = "uniform"
    zipf_exponent: float = 0.8
    pareto_h: float = 0.2
    hot_part: float = 0.1
    hot_share: float = 0.9
    fsync_every: int = 100
    fsync_call: Literal["fsync", "fdatasync"] = "fsync"
    fsync_at_end: bool = True


class FileioJob(Message):
    """File I/O in one of sysbench's modes."""

    kind: Literal["fileio"] = "fileio"
    data: Data
    io: Method
    access: Access


class IomatrixJob(Message):
    """One point of Orion's matrix: small random I/O, as much as the load level, beside large sequential I/O."""

    kind: Literal["iomatrix"] = "iomatrix"
    data: Data
    io: Method
    small_block_size_bytes: int
    large_block_size_bytes: int
    write_share: float
    large_outstanding: int


class Load(Message):
    """How much load: operations outstanding at once, or with a rate an open loop of at most so many."""

    outstanding: int
    rate_per_s: float | None = None
    arrivals: Literal["constant", "poisson"] = "constant"


class Job(Message):
    """One line on the engine's stdin. `measure_s` null: windows are opened and closed by command."""

    protocol: int = VERSION
    phase: Literal["prepare", "run", "verify", "cleanup"]
    workload: Annotated[FileioJob | IomatrixJob, Field(discriminator="kind")]
    load: Load = Load(outstanding=1)
    cache: Literal["warm", "cold"] = "warm"
    settle_s: float = 0.0
    measure_s: float | None = None
    interval_s: float = 1.0
    seed: int = 1
    durable: list[int] | None = None


class SampleJob(Message):
    """One line on the sampler's stdin."""

    protocol: int = VERSION
    devices: list[str]
    interval_s: float = 1.0


class TendJob(Message):
    """One line on the stdin of a server's keeper. `user` null: whoever runs it; `environment` is all it has."""

    protocol: int = VERSION
    argv: list[str]
    user: str | None = None
    directory: str
    environment: dict[str, str]
    stop_signal: Literal["TERM", "INT", "QUIT"] = "TERM"
    patience_s: float = 60.0
    log: str


class Server(Message):
    """Which server, and who connects to it: by `socket`, else by host and port."""

    socket: str | None = None
    host: str | None = None
    port: int | None = None
    user: str
    password: SecretStr | None = None
    database: str
    tls: Literal["off", "required", "verified"] = "off"
    tls_ca: str | None = None
    timeout_s: float = 60.0

    @field_serializer("password", when_used="json")
    def _reveal(self, password: SecretStr | None) -> str | None:
        """As it goes over the wire, and nowhere else."""
        return password.get_secret_value() if password else None


class SqlJob(Message):
    """One line on the stdin of a SQL client: a server, or of sqlite a file."""

    protocol: int = VERSION
    driver: Literal["mysql", "postgres", "sqlite"]
    server: Server | None = None
    path: str | None = None
