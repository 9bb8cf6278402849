"""Jobs: one line in."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from paribus.engine.protocol.database import Database, DatabaseServer, SqliteFile
from paribus.engine.protocol.message import VERSION, Message
from paribus.engine.protocol.mix import Filling, MixTransaction


class Data(Message):
    """Place of the data: the files of a directory, or a block device; exactly one of the two.

    `device_identity`: the device that the name must lead to, as the engine reported it; None: any.
    """

    directory: str | None = None
    device: str | None = None
    device_identity: dict[str, Any] | None = None
    files: int = 1
    total_size_bytes: int
    compressible: float = 0.0
    verified_block_bytes: int | None = None

    def place(self) -> str:
        """The directory or the device."""
        return self.device or self.directory or ""


class Method(Message):
    """Method of I/O: system calls, caching, durability and memory."""

    engine: Literal["sync", "io_uring", "null"] = "sync"
    direct: bool = False
    sync_writes: Literal["none", "dsync", "sync"] = "none"
    huge_pages: bool = False


class Access(Message):
    """Pattern of access: operations, their places and their order; `mode` has sysbench's meaning."""

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


class InDatabase(Message):
    """The data of a load on a database."""

    path: str

    @property
    def device(self) -> None:
        """No device: the data is no block device's whole content."""
        return

    def place(self) -> str:
        """The database."""
        return self.path


class Tables(InDatabase):
    """sysbench's tables."""

    tables: int
    table_size: int
    secondary: bool


class OltpJob(Message):
    """sysbench's OLTP: its tables, its statements, its mixes."""

    kind: Literal["oltp"] = "oltp"
    database: Database
    mix: Literal[
        "point_select", "read_only", "write_only", "read_write", "insert", "update_index", "update_non_index", "delete"
    ]
    tables: int = 1
    table_size: int = 10_000
    range_size: int = 100
    point_selects: int = 10
    simple_ranges: int = 1
    sum_ranges: int = 1
    order_ranges: int = 1
    distinct_ranges: int = 1
    index_updates: int = 1
    non_index_updates: int = 1
    delete_inserts: int = 1
    skip_trx: bool = False
    secondary: bool = False
    distribution: Literal["uniform", "special", "pareto", "zipf"] = "special"
    zipf_exponent: float = 0.8
    pareto_h: float = 0.2
    prepared: bool = True

    @property
    def data(self) -> Tables:
        """Tables that the job reads and writes."""
        return Tables(path=self.database.path, tables=self.tables, table_size=self.table_size, secondary=self.secondary)


class MadeTables(InDatabase):
    """A user's own tables."""

    made_by: list[str]
    rows: list[Filling]


class SqlMixJob(Message):
    """A user's own transactions on tables that are made by the statements of `schema`."""

    model_config = ConfigDict(serialize_by_alias=True)

    kind: Literal["sqlmix"] = "sqlmix"
    database: Database
    schema_: list[str] = Field([], alias="schema")
    rows: list[Filling] = Field([])
    transactions: list[MixTransaction]
    prepared: bool = True

    @property
    def data(self) -> MadeTables:
        """Tables that the job's own schema makes."""
        return MadeTables(path=self.database.path, made_by=self.schema_, rows=self.rows)


class TpccTables(InDatabase):
    """The tables of TPC-C."""

    warehouses: int
    foreign_keys: bool
    partitions: int


class TpccJob(Message):
    """The five transactions of TPC-C; `mix` has the cards of each in the deck that they are dealt from."""

    kind: Literal["tpcc"] = "tpcc"
    database: Database
    warehouses: int = 10
    foreign_keys: bool = False
    partitions: int = 0
    mix: list[int]
    home: Literal["random", "fixed"] = "random"
    think: bool = False
    prepared: bool = True

    @property
    def data(self) -> TpccTables:
        """Tables of TPC-C that the job reads and writes."""
        return TpccTables(
            path=self.database.path,
            warehouses=self.warehouses,
            foreign_keys=self.foreign_keys,
            partitions=self.partitions,
        )


class Load(Message):
    """Amount of load: operations outstanding at once, or with a rate an open loop of at most so many.

    `first_connection`: the connections that other load hosts have before these; each number draws other transactions.
    """

    outstanding: int
    rate_per_s: float | None = None
    arrivals: Literal["constant", "poisson"] = "constant"
    first_connection: int = 0


_OnDatabase = OltpJob | SqlMixJob | TpccJob
WorkloadJob = FileioJob | IomatrixJob | _OnDatabase


class Job(Message):
    """One line on the engine's stdin. `measure_s` null: windows are opened and closed by command.

    `histograms`: each interval has that of its response times.
    """

    protocol: int = VERSION
    phase: Literal["prepare", "warm", "run", "verify", "cleanup"]
    workload: Annotated[WorkloadJob, Field(discriminator="kind")]
    load: Load = Load(outstanding=1)
    cache: Literal["warm", "cold"] = "warm"
    settle_s: float = 0.0
    measure_s: float | None = None
    interval_s: float = 1.0
    histograms: bool = False
    seed: int = 1
    durable: list[int] | None = None

    @property
    def connects(self) -> bool:
        """Whether the engine finds the password of a server in the environment."""
        return isinstance(self.workload, _OnDatabase) and self.workload.database.connects

    @property
    def measures_engine_cpu(self) -> bool:
        """Whether the engine's own processor time is measured: without I/O, or with the database inside the engine."""
        if isinstance(self.workload, _OnDatabase):
            return isinstance(self.workload.database, SqliteFile)
        return self.workload.io.engine == "null"


class SampleJob(Message):
    """One line on the sampler's stdin."""

    protocol: int = VERSION
    devices: list[str]
    interval_s: float = 1.0


class Counting(Message):
    """A server whose counters the sampler reads from now on, by a statement that returns names and numbers."""

    database: Database
    opening: str
    statement: str


class ToolLogin(Message):
    """The server that a tool logs in to, and the file in which the tool finds the password.

    The engine writes the file, and removes it when the tool ends. `variable` of the environment gets the password too.
    """

    database: DatabaseServer = Field(discriminator="driver")
    path: str
    form: Literal["option_file", "pass_file", "sysbench", "plain"]
    variable: str | None = None


class SuperviseJob(Message):
    """One line on the stdin of a server's keeper. `user` null: whoever runs it; `environment` is all it has."""

    protocol: int = VERSION
    argv: list[str]
    user: str | None = None
    directory: str
    environment: dict[str, str]
    login: ToolLogin | None = None
    stop_signal: Literal["TERM", "INT", "QUIT"] = "TERM"
    patience_s: float = 60.0
    log: str

    @property
    def connects(self) -> bool:
        """Whether the engine finds the password of a server in the environment."""
        return self.login is not None and self.login.database.connects


class SqlJob(Message):
    """One line on the stdin of a SQL client."""

    protocol: int = VERSION
    database: Database

    @property
    def connects(self) -> bool:
        """Whether the engine finds the password of a server in the environment."""
        return self.database.connects
