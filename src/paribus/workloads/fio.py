"""The user's own fio as a load: parameters in, its command lines out, its JSON read."""

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints, model_validator

from paribus.parsers.fio import fio_output
from paribus.parsers.report import ToolReport
from paribus.registry import Tool, workload_kinds
from paribus.workloads import fio_paths
from paribus.workloads.tool_paths import Read, WrittenPath
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
    "iodepth": "threads",
    "rate_iops": "rate",
    "rate_process": "arrivals",
    "runtime": "protocol.trial",
    "time_based": "protocol.trial",
    "ramp_time": "protocol.settle",
    "output": "Paribus, which reads what fio prints",
    "output-format": "Paribus, which reads JSON",
}
_ONE_AT_A_TIME = ("psync", "sync", "pvsync", "pvsync2", "vsync", "mmap")
_PROCESSES = {"poisson": "poisson", "constant": "linear"}


class FioParameters(ToolParameters):
    """What a `fio` workload can be told, beside its load levels, which are fio's iodepth."""

    job: Annotated[str, StringConstraints(pattern=r"^(/[^\x00]*)?$")] = Field(
        "", description="the full path of a job file on the target; its own times and depths hold where it sets them"
    )
    options: dict[str, OptionValue] = Field({}, description="in place of a job file, given as --name=value")

    @model_validator(mode="before")
    @classmethod
    def _has_a_depth(cls, given: Any) -> Any:
        if isinstance(given, dict) and isinstance(given.get("options"), dict) and max(given.get("threads") or [1]) > 1:
            engine = given["options"].get("ioengine", _ONE_AT_A_TIME[0])
            if engine in _ONE_AT_A_TIME:
                raise ValueError(f"{engine} has one operation outstanding, whatever threads says: set ioengine")
        return given

    @model_validator(mode="after")
    def _one_of_both(self) -> "FioParameters":
        if bool(self.job) == bool(self.options):
            raise ValueError('give either job = "/…/a.fio" or options = { rw = "randread", … }')
        refuse_options(self.options, _OURS)
        return self


def _own(parameters: BaseModel) -> FioParameters:
    """The parameters as those of this kind, which they are by the plan's form."""
    assert isinstance(parameters, FioParameters)
    return parameters


def _ms(seconds: float) -> str:
    return f"{round(seconds * 1000)}ms"


class FioKind(ToolKindBase):
    """The kind `fio`."""

    name = "fio"
    table: type[BaseModel] = FioParameters
    parameters: type[BaseModel] = FioParameters
    tool: Tool | None = Tool(program=lambda _parameters: "fio")

    def preparing(self, parameters: BaseModel, order: RunRequest) -> Argv:
        """Its files are laid out."""
        return self._call(parameters, order, ["--create_only=1"])

    def cleaning(self, parameters: BaseModel, order: RunRequest) -> Argv:  # noqa: ARG002  as of every kind
        """Nothing: its files are in the directory."""
        return []

    def written(self, parameters: BaseModel, order: RunRequest, read: Read) -> Iterable[WrittenPath]:
        """As its options or its job file say."""
        p = _own(parameters)
        if p.job:
            return fio_paths.of_job_file(p.job, order.directory, read)
        return fio_paths.of_options(p.options, order.directory)

    def runs(self, parameters: BaseModel, order: RunRequest) -> list[ToolExecution]:
        """One run; fio itself does not count what it did while it settled."""
        timed = [f"--runtime={_ms(order.measure_s)}", "--time_based=1", f"--iodepth={order.threads}"]
        if order.settle_s:
            timed.append(f"--ramp_time={_ms(order.settle_s)}")
        if order.rate:
            timed += [f"--rate_iops={order.rate}", f"--rate_process={_PROCESSES[order.arrivals]}"]
        told = ["--group_reporting=1", "--unified_rw_reporting=mixed", "--lat_percentiles=1"]
        argv = self._call(parameters, order, [*timed, *told])
        return [ToolExecution(argv=argv, settle_s=order.settle_s, measure_s=order.measure_s)]

    def read(self, parameters: BaseModel, order: RunRequest, text: str) -> ToolReport:  # noqa: ARG002  as of every kind
        """All of it."""
        return fio_output.parse(text)

    def _call(self, parameters: BaseModel, order: RunRequest, more: Argv) -> Argv:
        """What stands before a job is for all jobs; --eta would write into what is read."""
        p = _own(parameters)
        every = ["fio", "--output-format=json", "--eta=never", f"--directory={order.directory}", *more]
        return [*every, p.job] if p.job else [*every, "--name=paribus", *options(p.options, ("1", "0"))]


workload_kinds.register("fio", FioKind())
