"""Workload kinds whose load is a program of the user: command lines and measurements.

Input: parameters, the load level, times. Output: argument lists, and measurements from the program's output. Called by
trials.
"""

import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Annotated, Any, ClassVar, Protocol, cast

from pydantic import BaseModel, ConfigDict, StringConstraints, model_validator

from paribus.engine.protocol import DatabaseServer, ToolLogin
from paribus.model import Measurement, Workload
from paribus.parsers.report import ToolReport
from paribus.registry import DataSet, Tool, WorkloadKind, WorkloadSeries, workload_kinds
from paribus.units import LoadLevel
from paribus.workloads import server_login
from paribus.workloads.tool_paths import Read, WrittenPath

Argument = Annotated[str, StringConstraints(max_length=100_000, pattern=r"^[^\x00]*$")]
OptionValue = bool | int | float | Argument
Argv = list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """Parameters of a run: directory, threads, rate, arrivals and durations; `server`: where its load goes, if to one.

    `server_kind` is the kind of that server in the plan.

    Without a server, the placeholders of its address are kept, as in the preview of a plan.
    """

    directory: str
    threads: int
    rate: int | None = None
    arrivals: str = ""
    settle_s: float = 0.0
    measure_s: float = 0.0
    server: DatabaseServer | None = None
    server_kind: str = ""

    @property
    def password_file(self) -> str:
        """The path of the file with the server's password, for this user alone."""
        return f"{PurePosixPath(self.directory).parent}/password"

    @property
    def address(self) -> dict[str, str]:
        """The values of the server's placeholders; empty without a server."""
        return server_login.address_values(self.server, self.password_file) if self.server else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolExecution:
    """One execution of the program; its first `settle_s` do not count, and none of it with `measure_s` 0."""

    argv: Argv
    settle_s: float
    measure_s: float


class ToolKind(WorkloadKind, Protocol):
    """Contract of a tool's workload kind with trials, in addition to that with plans."""

    def prepare_command(self, parameters: BaseModel, request: RunRequest) -> Argv:
        """Command that creates the data; empty if there is none."""
        ...

    def cleanup_command(self, parameters: BaseModel, request: RunRequest) -> Argv:
        """Command that removes files outside the working directory; empty if there is none."""
        ...

    def runs(self, parameters: BaseModel, request: RunRequest) -> Sequence[ToolExecution]:
        """The runs of one trial; the last one is measured."""
        ...

    def written_paths(self, parameters: BaseModel, request: RunRequest, read: Read) -> Iterable[WrittenPath]:
        """Paths to which the tool would write by its options. Raises PathRefused if they cannot be known."""
        ...

    def command_line(self, argv: Argv) -> Argv:
        """The tool's own command line for people, where an argument list does more than start it."""
        ...

    def login(self, server: DatabaseServer, password_file: str) -> ToolLogin:
        """Return the login of the tool on a server, with the form of its password file."""
        ...

    def read(self, parameters: BaseModel, request: RunRequest, text: str) -> ToolReport:
        """Figures of the measured part of the last run. Raises NotUnderstood."""
        ...


class ToolParameters(BaseModel):
    """Parameters of a tool; what Paribus cannot do for somebody else's program is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
    filled: ClassVar[tuple[str, ...]] = ()  # the keys in which the placeholders of a server are filled in
    on_server: ClassVar[bool] = False  # whether all workloads of the kind are on the plan's server

    @classmethod
    def placeholders(cls, table: Mapping[str, Any]) -> list[str]:
        """The placeholders of a server in a table of a plan."""
        return server_login.placeholders([table.get(key) for key in cls.filled])

    @model_validator(mode="before")
    @classmethod
    def _is_possible(cls, table: Any) -> Any:
        on_files = isinstance(table, dict) and not cls.on_server and not cls.placeholders(table)
        if on_files and table.get("cache") == "cold":
            raise ValueError('the files of a tool are unknown, so their cache cannot be cleared: remove cache = "cold"')
        if isinstance(table, dict) and table.get("precondition") is not None:
            raise ValueError("the files of a tool are unknown, so they cannot be preconditioned: remove precondition")
        return table


class ToolKindBase:
    """Defaults of the tools' workload kinds."""

    parameters: type[BaseModel]
    tool: Tool | None
    axes: frozenset[str] = frozenset()
    sizes_an_operation: frozenset[str] = frozenset()
    size_response = "bytes_per_s"
    on_database = False

    def series(self, table: Any) -> list[WorkloadSeries]:
        """The single series of a table."""
        return [WorkloadSeries(name="", parameters=table, threads=tuple(table.threads))]

    def written_paths(self, parameters: BaseModel, request: RunRequest, read: Read) -> Iterable[WrittenPath]:  # noqa: ARG002
        """No paths outside the working directory."""
        return ()

    def data(self, parameters: BaseModel) -> DataSet:
        """A folder for each set of parameters; the size of its contents is unknown."""
        shape = f"{zlib.crc32(parameters.model_dump_json(include=set(self.parameters.model_fields)).encode()):08x}"
        on_server = self.on_database or bool(self.tool and self.tool.placeholders(parameters))
        return DataSet(device="", shape=shape, size_bytes=0, made=True, written=on_server, cached=False)

    def command_line(self, argv: Argv) -> Argv:
        """The argument list itself."""
        return argv

    def login(self, server: DatabaseServer, password_file: str) -> ToolLogin:
        """The usual password file of the server's own clients."""
        return server_login.login(server, password_file)


def tool_of(workload: Workload) -> ToolKind | None:
    """The workload's kind if its load is a program of the user, else None."""
    kind = workload_kinds.get(workload.kind)
    return cast("ToolKind", kind) if kind.tool else None  # each that says so has both halves


def placeholders_of(parameters: BaseModel) -> Sequence[str]:
    """The placeholders of a server in the parameters of a tool."""
    assert isinstance(parameters, ToolParameters)
    return parameters.placeholders(parameters.model_dump(include=set(parameters.filled)))


def request_of(
    workload: Workload,
    directory: str,
    load: LoadLevel | None = None,
    settle_s: float = 0.0,
    measure_s: float = 0.0,
    server: DatabaseServer | None = None,
    server_kind: str = "",
) -> RunRequest:
    """The parameters of a run at a load level; prepare and cleanup commands have none."""
    loop, n = workload.open_loop, load.n if load else 1
    return RunRequest(
        directory=directory,
        threads=loop.outstanding if loop else n,
        rate=n if loop and load else None,
        arrivals=loop.arrivals if loop else "",
        settle_s=settle_s,
        measure_s=measure_s,
        server=server,
        server_kind=server_kind,
    )


def options(values: Mapping[str, OptionValue], boolean_texts: tuple[str, str]) -> Argv:
    """Options as `--name=value`, with `boolean_texts` for true and false."""
    texts = {
        name: boolean_texts[0] if value is True else boolean_texts[1] if value is False else value
        for name, value in values.items()
    }
    return [f"--{name}={value}" for name, value in texts.items()]


def whole(seconds: float, unit_s: int = 1) -> int:
    """Return a time in whole units, rounded up, for tools that take no fractions."""
    return math.ceil(round(seconds / unit_s, 6))


def refuse_options(values: Mapping[str, OptionValue], reserved: Mapping[str, str], secrets: str = "") -> None:
    """Raise ValueError for options that the plan sets elsewhere, for devices and for passwords."""
    for name, value in values.items():
        if name.startswith("-") or not name or any(character in name for character in "= \t\n"):
            raise ValueError(f"{name!r} is not the name of an option: write it without -- and =")
        if name in reserved:
            raise ValueError(f"the option {name} is set by {reserved[name]}: remove it")
        if "password" in name:
            raise ValueError(f"all users of the machine could read the value of {name}{secrets}")
        if isinstance(value, str) and "/dev/" in value:
            raise ValueError(f"{name}: Paribus cannot guard a device against a tool: use a fileio workload with device")


def measurements(report: ToolReport, window_s: float) -> tuple[Measurement, ...]:
    """Measurements of a run, over time where the report has interval lines."""
    window_metrics: list[tuple[str, str, float | None]] = [
        ("throughput_per_s", "1/s", report.operations_per_s),
        ("bytes_per_s", "B/s", report.bytes_per_s),
        ("queries_per_s", "1/s", report.queries_per_s),
        ("transactions_per_s", "1/s", report.transactions_per_s),
        ("ignored_errors_per_s", "1/s", report.ignored_per_s),
        *((f"response_{name}_s", "s", value) for name, value in report.responses_s.items()),
    ]
    time_series = {"throughput_per_s": tuple(second.operations_per_s for second in report.seconds)}
    for name in report.responses_s:
        points = tuple(second.responses_s[name] for second in report.seconds if name in second.responses_s)
        time_series[f"response_{name}_s"] = points if len(points) == len(report.seconds) else ()
    step_s = window_s / len(report.seconds) if report.seconds else None
    return tuple(
        Measurement.of_series(
            metric,
            unit,
            time_series.get(metric, ()),
            "measure",
            "tool",
            mean=value,
            total=value if unit == "s" else value * window_s,
            start_s=0.0,
            step_s=step_s,
        )
        for metric, unit, value in window_metrics
        if value is not None and math.isfinite(value)
    )
