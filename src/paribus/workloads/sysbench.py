"""The user's own sysbench as a load: from parameters to command lines, and from its report to figures."""

import dataclasses
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, Field, StringConstraints, model_validator

from paribus.engine.protocol import DatabaseServer, ToolLogin
from paribus.i18n import stored_message
from paribus.parsers.report import ToolReport, within
from paribus.parsers.tools.sysbench import sysbench_output
from paribus.registry import DataSet, Tool, workload_kinds
from paribus.workloads import server_login
from paribus.workloads.oltp import ROW_BYTES
from paribus.workloads.tools import (
    Argv,
    OptionValue,
    RunRequest,
    ToolExecution,
    ToolKindBase,
    ToolParameters,
    options,
    placeholders_of,
    refuse_options,
    whole,
)

_RESERVED = {
    "threads": "threads",
    "rate": "rate",
    "time": "protocol.trial",
    "report-interval": "Paribus, which reads each second",
    "events": "protocol.trial, since a run ends by time",
}
_OLTP_TESTS = ("oltp_", "select_random_")
_WITHOUT_DATABASE = ("fileio", "cpu", "memory", "threads", "mutex")
_ADDRESS_OPTIONS = ("db-driver", "mysql-", "pgsql-", "config-file")
_NOTE = stored_message(
    "sysbench runs for settle plus trial in whole seconds, plus one second. Its per-second "
    "lines after settle count; percentiles are means over these seconds, and there is only "
    "one (options.percentile)"
)


class SysbenchParameters(ToolParameters):
    """Plan keys of a `sysbench` workload."""

    filled: ClassVar[tuple[str, ...]] = ("options",)

    test: Annotated[str, StringConstraints(pattern=r"^(/[^\x00]*|[A-Za-z0-9_][^/\x00]*)$")] = Field(
        description="fileio, cpu, memory, oltp_read_write and so on, or the full path of a .lua script"
    )
    options: dict[str, OptionValue] = Field(
        {},
        description="given as --name=value; {socket}, {host}, {port}, {user}, {database} and {password_file} of the "
        "plan's server and {directory} are filled in. In a plan with a server, the driver and the address are added to "
        "tests of databases whose options name none",
    )
    prepare: bool = Field(
        False,
        description="sysbench … prepare before the first trial, cleanup at the end; true for its own OLTP tests on the "
        "plan's server, where options name no address",
    )

    @model_validator(mode="before")
    @classmethod
    def _arrivals(cls, table: Any) -> Any:
        if isinstance(table, dict) and table.get("arrivals") == "constant":
            raise ValueError("sysbench supports only poisson arrivals: remove arrivals")
        return table

    @model_validator(mode="after")
    def _options_are_free(self) -> "SysbenchParameters":
        refuse_options(self.options, _RESERVED, '; write it into a file, and name that in options: config-file = "/…"')
        return self


def _addressed(table: Mapping[str, Any], family: str, has_socket: bool) -> Mapping[str, Any]:
    """Return a plan's table with the options that reach its server, and with sysbench's tables made.

    A table that names a driver or an address, or a test without a database, stays as it is.
    """
    test, named = table.get("test"), table.get("options", {})
    prefix = {"mysql": "mysql", "postgres": "pgsql"}.get(family)
    if prefix is None or not isinstance(test, str) or not isinstance(named, Mapping) or test in _WITHOUT_DATABASE:
        return table
    if any(str(option).startswith(_ADDRESS_OPTIONS) for option in named):
        return table
    by_socket = family == "mysql" and has_socket
    server = {"mysql-socket": "{socket}"} if by_socket else {f"{prefix}-host": "{host}", f"{prefix}-port": "{port}"}
    address = {"db-driver": prefix, **server, f"{prefix}-user": "{user}", f"{prefix}-db": "{database}"}
    return {"prepare": test.startswith(_OLTP_TESTS), **table, "options": {**address, **named}}


def _typed(parameters: BaseModel) -> SysbenchParameters:
    """The parameters with their static type; the plan's form guarantees it."""
    assert isinstance(parameters, SysbenchParameters)
    return parameters


def _needs_database(parameters: SysbenchParameters) -> bool:
    """Return whether a test of sysbench's own works on a database, and no option says which."""
    named = any(option.startswith(_ADDRESS_OPTIONS) for option in parameters.options)
    return parameters.test.startswith(_OLTP_TESTS) and not named


class SysbenchKind(ToolKindBase):
    """The kind `sysbench`."""

    name = "sysbench"
    table: type[BaseModel] = SysbenchParameters
    parameters: type[BaseModel] = SysbenchParameters
    tool: Tool | None = Tool(
        program=lambda _parameters: "sysbench",
        note=_NOTE,
        placeholders=placeholders_of,
        package="sysbench",
        addressed=_addressed,
        needs_database=lambda parameters: _needs_database(_typed(parameters)),
    )

    def prepare_command(self, parameters: BaseModel, request: RunRequest) -> Argv:
        """`sysbench … prepare`."""
        return [*self._call(parameters, request), "prepare"] if _typed(parameters).prepare else []

    def cleanup_command(self, parameters: BaseModel, request: RunRequest) -> Argv:
        """`sysbench … cleanup`; none on the plan's server, whose database is dropped."""
        needs_cleanup = _typed(parameters).prepare and not placeholders_of(parameters)
        return [*self._call(parameters, request), "cleanup"] if needs_cleanup else []

    def login(self, server: DatabaseServer, password_file: str) -> ToolLogin:
        """Sysbench reads MySQL's password from its options only, and these from a file."""
        return server_login.login(server, password_file, form="sysbench" if server.driver == "mysql" else "")

    def runs(self, parameters: BaseModel, request: RunRequest) -> list[ToolExecution]:
        """One run, one second longer, since the last interval line is often missing."""
        settle_s, measure_s = whole(request.settle_s), whole(request.measure_s)
        timed = [f"--time={settle_s + measure_s + 1}", "--report-interval=1"]
        rate = [f"--rate={request.rate}"] if request.rate else []
        argv = [*self._call(parameters, request), *timed, *rate, "run"]
        return [ToolExecution(argv=argv, settle_s=settle_s, measure_s=measure_s)]

    def read(self, parameters: BaseModel, request: RunRequest, text: str) -> ToolReport:  # noqa: ARG002  as of every kind
        """The figures of the seconds after settling."""
        settle_s, measure_s = whole(request.settle_s), whole(request.measure_s)
        return within(sysbench_output.parse(text), settle_s, settle_s + measure_s)

    def data(self, parameters: BaseModel) -> DataSet:
        """A folder, and for sysbench's own OLTP tests on the plan's server the size of their tables."""
        p, data_set = _typed(parameters), super().data(parameters)
        sizes = [str(p.options.get(name, default)) for name, default in (("tables", "1"), ("table-size", "10000"))]
        is_known = p.test.startswith(_OLTP_TESTS) and all(size.isdecimal() for size in sizes)
        if not (is_known and p.prepare and placeholders_of(parameters)):
            return data_set
        rows = int(sizes[0]) * int(sizes[1])
        return dataclasses.replace(data_set, size_bytes=rows * ROW_BYTES, rows=rows)

    def _call(self, parameters: BaseModel, request: RunRequest) -> Argv:
        p = _typed(parameters)
        values = {"directory": request.directory, **request.address}
        own_options = [server_login.filled(option, values) for option in options(p.options, ("on", "off"))]
        server = request.server
        if server and server.driver == "mysql" and not server.is_open and "config-file" not in p.options:
            own_options.append(f"--config-file={request.password_file}")
        return ["sysbench", p.test, *own_options, f"--threads={request.threads}"]


workload_kinds.register("sysbench", SysbenchKind())
