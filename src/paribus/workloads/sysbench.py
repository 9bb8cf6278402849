"""The user's own sysbench as a load: parameters in, its command lines out, its report read."""

import math
from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints, model_validator

from paribus.i18n import stored_message
from paribus.parsers.report import ToolReport
from paribus.parsers.sysbench import sysbench_output
from paribus.registry import Tool, workload_kinds
from paribus.workloads.tools import (
    Argv,
    OptionValue,
    RunRequest,
    ToolExecution,
    ToolKindBase,
    ToolParameters,
    options,
    refuse_options,
)

_OURS = {
    "threads": "threads",
    "rate": "rate",
    "time": "protocol.trial",
    "report-interval": "Paribus, which reads each second",
    "events": "protocol.trial, since a run ends by time",
}
_NOTE = stored_message(
    "sysbench runs for settle plus trial in whole seconds, plus one second. Its per-second "
    "lines after settle count; percentiles are means over these seconds, and there is only "
    "one (options.percentile)"
)


class SysbenchParameters(ToolParameters):
    """What a `sysbench` workload can be told, beside its load levels."""

    test: Annotated[str, StringConstraints(pattern=r"^(/[^\x00]*|[A-Za-z0-9_][^/\x00]*)$")] = Field(
        description="fileio, cpu, memory, oltp_read_write and so on, or the full path of a .lua script"
    )
    options: dict[str, OptionValue] = Field({}, description="given as --name=value")
    prepare: bool = Field(False, description="sysbench … prepare before the first trial, cleanup at the end")

    @model_validator(mode="before")
    @classmethod
    def _arrivals(cls, given: Any) -> Any:
        if isinstance(given, dict) and given.get("arrivals") == "constant":
            raise ValueError("sysbench knows poisson arrivals alone")
        return given

    @model_validator(mode="after")
    def _options_are_free(self) -> "SysbenchParameters":
        refuse_options(self.options, _OURS, '; write it into a file, and name that in options: config-file = "/…"')
        return self


def _own(parameters: BaseModel) -> SysbenchParameters:
    """The parameters as those of this kind, which they are by the plan's form."""
    assert isinstance(parameters, SysbenchParameters)
    return parameters


def _whole(seconds: float) -> int:
    return math.ceil(round(seconds, 6))


class SysbenchKind(ToolKindBase):
    """The kind `sysbench`."""

    name = "sysbench"
    table: type[BaseModel] = SysbenchParameters
    parameters: type[BaseModel] = SysbenchParameters
    tool: Tool | None = Tool(program=lambda _parameters: "sysbench", note=_NOTE)

    def preparing(self, parameters: BaseModel, order: RunRequest) -> Argv:
        """`sysbench … prepare`."""
        return [*self._call(parameters, order), "prepare"] if _own(parameters).prepare else []

    def cleaning(self, parameters: BaseModel, order: RunRequest) -> Argv:
        """`sysbench … cleanup`."""
        return [*self._call(parameters, order), "cleanup"] if _own(parameters).prepare else []

    def runs(self, parameters: BaseModel, order: RunRequest) -> list[ToolExecution]:
        """One run; the last of its lines is often missing, hence a second more."""
        settle_s, measure_s = _whole(order.settle_s), _whole(order.measure_s)
        timed = [f"--time={settle_s + measure_s + 1}", "--report-interval=1"]
        rate = [f"--rate={order.rate}"] if order.rate else []
        argv = [*self._call(parameters, order), *timed, *rate, "run"]
        return [ToolExecution(argv=argv, settle_s=settle_s, measure_s=measure_s)]

    def read(self, parameters: BaseModel, order: RunRequest, text: str) -> ToolReport:  # noqa: ARG002  as of every kind
        """The seconds after settling."""
        settle_s, measure_s = _whole(order.settle_s), _whole(order.measure_s)
        return sysbench_output.within(sysbench_output.parse(text), settle_s, settle_s + measure_s)

    def _call(self, parameters: BaseModel, order: RunRequest) -> Argv:
        p = _own(parameters)
        return ["sysbench", p.test, *options(p.options, ("on", "off")), f"--threads={order.threads}"]


workload_kinds.register("sysbench", SysbenchKind())
