"""Any program as a load: its argument list with the load level filled in, its figures by regular expressions."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, model_validator

from paribus.parsers import pattern
from paribus.parsers.report import ToolReport
from paribus.registry import Tool, workload_kinds
from paribus.workloads.tools import Argument, Argv, RunRequest, ToolExecution, ToolKindBase, ToolParameters

_SCALES = {"s": 1.0, "ms": 1e-3, "us": 1e-6}


def _expression(written: str) -> str:
    if why := pattern.refusal(written):
        raise ValueError(why)
    return written


def _program(argv: list[str]) -> list[str]:
    if argv and (not argv[0] or "{" in argv[0] or ("/" in argv[0] and not argv[0].startswith("/"))):
        raise ValueError(f"{argv[0]!r} must be a name on PATH or a full path, since it runs in a folder of its own")
    return argv


Pattern = Annotated[Argument, AfterValidator(_expression)]
Arguments = Annotated[list[Argument], AfterValidator(_program)]


class CommandParameters(ToolParameters):
    """What a `command` workload can be told, beside its load levels."""

    run: Annotated[Arguments, Field(min_length=1)] = Field(
        description="the program and its arguments; no shell reads them. {threads}, {rate}, {seconds}, {settle} and "
        "{directory}, a folder of its own below target.path in which it is started, are filled in"
    )
    prepare: Arguments = Field([], description="the same, before the first trial")
    cleanup: Arguments = Field([], description="the same, at the end; the folder goes anyway")
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
    def _level_is_told(cls, given: Any) -> Any:
        """A load level that the command is not told would be compared with itself."""
        if not isinstance(given, dict) or not isinstance(given.get("run"), list):
            return given
        words = " ".join(str(word) for word in given["run"])
        if given.get("rate") is not None and "{rate}" not in words:
            raise ValueError("rate is given, and run does not tell it to the command: use {rate}")
        if given.get("rate") is None and "{rate}" in words:
            raise ValueError("run uses {rate}: add for example rate = [1000]")
        if len(given.get("threads") or []) > 1 and "{threads}" not in words:
            raise ValueError("there are several threads, and run does not tell them to the command: use {threads}")
        if given.get("settle_in_command") and "{settle}" not in words:
            raise ValueError("settle_in_command is set, and run does not tell it: use {settle}")
        return given


def _own(parameters: BaseModel) -> CommandParameters:
    """The parameters as those of this kind, which they are by the plan's form."""
    assert isinstance(parameters, CommandParameters)
    return parameters


def _filled(argv: list[str], order: RunRequest, seconds: float) -> Argv:
    """The arguments with all that is in braces and known filled in; other braces are the command's own."""
    words = {
        "threads": order.threads,
        "rate": order.rate if order.rate is not None else "",
        "seconds": f"{seconds:g}",
        "settle": f"{order.settle_s:g}",
        "directory": order.directory,
    }
    found = []
    for argument in argv:
        for name, value in words.items():
            argument = argument.replace(f"{{{name}}}", str(value))  # noqa: PLW2901
        found.append(argument)
    return found


class CommandKind(ToolKindBase):
    """The kind `command`."""

    name = "command"
    table: type[BaseModel] = CommandParameters
    parameters: type[BaseModel] = CommandParameters
    tool: Tool | None = Tool(program=lambda parameters: _own(parameters).run[0])

    def preparing(self, parameters: BaseModel, order: RunRequest) -> Argv:
        """As the plan says."""
        return _filled(_own(parameters).prepare, order, order.measure_s)

    def cleaning(self, parameters: BaseModel, order: RunRequest) -> Argv:
        """As the plan says."""
        return _filled(_own(parameters).cleanup, order, order.measure_s)

    def runs(self, parameters: BaseModel, order: RunRequest) -> list[ToolExecution]:
        """The command once; before that, where it does not settle itself, once for nothing but settling."""
        p = _own(parameters)
        own_settle_s = order.settle_s if p.settle_in_command else 0.0
        last = ToolExecution(
            argv=_filled(p.run, order, order.measure_s), settle_s=own_settle_s, measure_s=order.measure_s
        )
        if p.settle_in_command or not order.settle_s:
            return [last]
        return [ToolExecution(argv=_filled(p.run, order, order.settle_s), settle_s=order.settle_s, measure_s=0.0), last]

    def read(self, parameters: BaseModel, order: RunRequest, text: str) -> ToolReport:  # noqa: ARG002  as of every kind
        """What the patterns find."""
        p = _own(parameters)
        responses = {"p95": p.response_p95, "p99": p.response_p99}
        scale = _SCALES[p.response_unit]
        return ToolReport(
            operations_per_s=pattern.value(p.throughput, text),
            responses_s={name: pattern.value(one, text) * scale for name, one in responses.items() if one},
        )


workload_kinds.register("command", CommandKind())
