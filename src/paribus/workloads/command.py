"""Any program as a load: its arguments with the load level filled in, its figures by regular expressions."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, Field, model_validator

from paribus.engine.protocol import DatabaseServer, ToolLogin
from paribus.parsers import pattern
from paribus.parsers.report import ToolReport
from paribus.registry import Tool, workload_kinds
from paribus.workloads import server_login
from paribus.workloads.tools import (
    Argument,
    Argv,
    RunRequest,
    ToolExecution,
    ToolKindBase,
    ToolParameters,
    placeholders_of,
    whole,
)

_SCALES = {"s": 1.0, "ms": 1e-3, "us": 1e-6}


def _expression(expression: str) -> str:
    if reason := pattern.refusal(expression):
        raise ValueError(reason)
    return expression


def _program(argv: list[str]) -> list[str]:
    if argv and (not argv[0] or "{" in argv[0] or ("/" in argv[0] and not argv[0].startswith("/"))):
        raise ValueError(f"{argv[0]!r} must be a name on PATH or a full path, since it runs in a folder of its own")
    return argv


Pattern = Annotated[Argument, AfterValidator(_expression)]
Arguments = Annotated[list[Argument], AfterValidator(_program)]


class CommandParameters(ToolParameters):
    """Plan keys of a `command` workload."""

    filled: ClassVar[tuple[str, ...]] = ("run", "prepare")

    run: Annotated[Arguments, Field(min_length=1)] = Field(
        description="the program and its arguments; no shell reads them. {threads}, {rate}, {seconds}, {settle} and "
        "{directory}, a folder of its own below target.path in which it is started, are filled in; so are {socket}, "
        "{host}, {port}, {user}, {database} and {password_file} of the plan's server"
    )
    prepare: Arguments = Field([], description="the same, before the first trial")
    cleanup: Arguments = Field(
        [], description="the same, at the end, without a server: the folder and the database go anyway"
    )
    settle_in_command: bool = Field(
        False, description="it is told {settle} and counts what comes after; else it is run for so long before"
    )
    throughput: Pattern = Field(
        description="regular expression with a group (?P<value>…): operations per second, in the last match of what "
        "it prints"
    )
    response_p95: Pattern | None = Field(None, description="the same, of the 95th percentile of response times")
    response_p99: Pattern | None = Field(None, description="the same, of the 99th percentile")
    response_unit: Literal["s", "ms", "us"] = Field("ms", description="of response times")

    @model_validator(mode="before")
    @classmethod
    def _level_is_told(cls, table: Any) -> Any:
        """Refuse a load level that the command is not told: it would be compared with itself."""
        if not isinstance(table, dict) or not isinstance(table.get("run"), list):
            return table
        command_line = " ".join(str(argument) for argument in table["run"])
        if table.get("rate") is not None and "{rate}" not in command_line:
            raise ValueError("rate is set, but run does not pass it to the command: add {rate} to run")
        if table.get("rate") is None and "{rate}" in command_line:
            raise ValueError("run uses {rate}: add for example rate = [1000]")
        threads = table.get("threads")
        if isinstance(threads, list) and len(threads) > 1 and "{threads}" not in command_line:
            raise ValueError("threads is set, but run does not pass it to the command: add {threads} to run")
        if named := server_login.placeholders(table.get("cleanup")):
            raise ValueError(
                f"cleanup uses {{{named[0]}}}, and the database is dropped before: remove what works on it from cleanup"
            )
        if table.get("settle_in_command") and "{settle}" not in command_line:
            raise ValueError(
                "settle_in_command is set, but run does not pass the time to the command: add {settle} to run"
            )
        return table


def _typed(parameters: BaseModel) -> CommandParameters:
    """The parameters with their static type; the plan's form guarantees it."""
    assert isinstance(parameters, CommandParameters)
    return parameters


def _argument_s(seconds: float) -> float:
    """A time as an argument: from a second on in whole seconds, rounded up, since many tools take no fractions."""
    return whole(seconds) if seconds >= 1 else seconds


def _filled(argv: list[str], request: RunRequest, seconds: float) -> Argv:
    """The arguments with known names in braces replaced; other braces are kept."""
    values = {
        "threads": request.threads,
        "rate": request.rate if request.rate is not None else "",
        "seconds": f"{_argument_s(seconds):g}",
        "settle": f"{_argument_s(request.settle_s):g}",
        "directory": request.directory,
        **request.address,
    }
    return [server_login.filled(argument, values) for argument in argv]


class CommandKind(ToolKindBase):
    """The kind `command`."""

    name = "command"
    table: type[BaseModel] = CommandParameters
    parameters: type[BaseModel] = CommandParameters
    tool: Tool | None = Tool(program=lambda parameters: _typed(parameters).run[0], placeholders=placeholders_of)

    def login(self, server: DatabaseServer, password_file: str) -> ToolLogin:
        """The password file of the server's clients; for MySQL's the variable too, which any of its clients reads."""
        return server_login.login(server, password_file, variable="MYSQL_PWD" if server.driver == "mysql" else None)

    def prepare_command(self, parameters: BaseModel, request: RunRequest) -> Argv:
        """The `prepare` command of the plan."""
        return _filled(_typed(parameters).prepare, request, request.measure_s)

    def cleanup_command(self, parameters: BaseModel, request: RunRequest) -> Argv:
        """The `cleanup` command of the plan."""
        return _filled(_typed(parameters).cleanup, request, request.measure_s)

    def runs(self, parameters: BaseModel, request: RunRequest) -> list[ToolExecution]:
        """One run; if the command does not settle itself, a run for settling precedes it."""
        p = _typed(parameters)
        settle_s, measure_s = _argument_s(request.settle_s), _argument_s(request.measure_s)
        own_settle_s = settle_s if p.settle_in_command else 0.0
        measured_run = ToolExecution(
            argv=_filled(p.run, request, measure_s), settle_s=own_settle_s, measure_s=measure_s
        )
        if p.settle_in_command or not request.settle_s:
            return [measured_run]
        return [
            ToolExecution(argv=_filled(p.run, request, settle_s), settle_s=settle_s, measure_s=0.0),
            measured_run,
        ]

    def read(self, parameters: BaseModel, request: RunRequest, text: str) -> ToolReport:  # noqa: ARG002  as of every kind
        """The figures that the patterns match."""
        p = _typed(parameters)
        responses = {"p95": p.response_p95, "p99": p.response_p99}
        scale = _SCALES[p.response_unit]
        return ToolReport(
            operations_per_s=pattern.value(p.throughput, text),
            responses_s={
                name: pattern.value(expression, text) * scale for name, expression in responses.items() if expression
            },
        )


workload_kinds.register("command", CommandKind())
