"""The user's own fio as a load: from parameters to command lines, and from JSON to figures."""

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints, model_validator

from paribus.parsers.report import ToolReport
from paribus.parsers.tools.fio import fio_output
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

_RESERVED = {
    "iodepth": "threads",
    "rate_iops": "rate",
    "rate_process": "arrivals",
    "runtime": "protocol.trial",
    "time_based": "protocol.trial",
    "ramp_time": "protocol.settle",
    "output": "Paribus, which reads what fio prints",
    "output-format": "Paribus, which reads JSON",
}
_SYNCHRONOUS_ENGINES = ("psync", "sync", "pvsync", "pvsync2", "vsync", "mmap")
_PROCESSES = {"poisson": "poisson", "constant": "linear"}


class FioParameters(ToolParameters):
    """Plan keys of a `fio` workload, whose load levels are fio's iodepth."""

    job: Annotated[str, StringConstraints(pattern=r"^(/[^\x00]*)?$")] = Field(
        "", description="the full path of a job file on the target; its own times and depths hold where it sets them"
    )
    options: dict[str, OptionValue] = Field({}, description="in place of a job file, given as --name=value")

    @model_validator(mode="before")
    @classmethod
    def _has_a_depth(cls, table: Any) -> Any:
        if isinstance(table, dict) and isinstance(table.get("options"), dict) and max(table.get("threads") or [1]) > 1:
            engine = table["options"].get("ioengine", _SYNCHRONOUS_ENGINES[0])
            if engine in _SYNCHRONOUS_ENGINES:
                raise ValueError(
                    f"{engine} keeps one operation outstanding for any threads: set ioengine, such as libaio"
                )
        return table

    @model_validator(mode="after")
    def _one_of_both(self) -> "FioParameters":
        if bool(self.job) == bool(self.options):
            raise ValueError('give either job = "/…/a.fio" or options = { rw = "randread", … }')
        refuse_options(self.options, _RESERVED)
        return self


def _typed(parameters: BaseModel) -> FioParameters:
    """The parameters with their static type; the plan's form guarantees it."""
    assert isinstance(parameters, FioParameters)
    return parameters


def _ms(seconds: float) -> str:
    return f"{round(seconds * 1000)}ms"


class FioKind(ToolKindBase):
    """The kind `fio`."""

    name = "fio"
    table: type[BaseModel] = FioParameters
    parameters: type[BaseModel] = FioParameters
    tool: Tool | None = Tool(program=lambda _parameters: "fio", package="fio")

    def prepare_command(self, parameters: BaseModel, request: RunRequest) -> Argv:
        """A run that only creates the files."""
        return self._call(parameters, request, ["--create_only=1"])

    def cleanup_command(self, parameters: BaseModel, request: RunRequest) -> Argv:  # noqa: ARG002  as of every kind
        """None: all files are in the directory."""
        return []

    def written_paths(self, parameters: BaseModel, request: RunRequest, read: Read) -> Iterable[WrittenPath]:
        """Paths that the options or the job file name."""
        p = _typed(parameters)
        if p.job:
            return fio_paths.job_file_paths(p.job, request.directory, read)
        return fio_paths.option_paths(p.options, request.directory)

    def runs(self, parameters: BaseModel, request: RunRequest) -> list[ToolExecution]:
        """One run; fio itself excludes the ramp time."""
        timed = [f"--runtime={_ms(request.measure_s)}", "--time_based=1", f"--iodepth={request.threads}"]
        if request.settle_s:
            timed.append(f"--ramp_time={_ms(request.settle_s)}")
        if request.rate:
            timed += [f"--rate_iops={request.rate}", f"--rate_process={_PROCESSES[request.arrivals]}"]
        report_options = ["--group_reporting=1", "--unified_rw_reporting=mixed", "--lat_percentiles=1"]
        argv = self._call(parameters, request, [*timed, *report_options])
        return [ToolExecution(argv=argv, settle_s=request.settle_s, measure_s=request.measure_s)]

    def read(self, parameters: BaseModel, request: RunRequest, text: str) -> ToolReport:  # noqa: ARG002  as of every kind
        """The figures of fio's JSON output."""
        return fio_output.parse(text)

    def _call(self, parameters: BaseModel, request: RunRequest, extra_options: Argv) -> Argv:
        """The command line. Options before the job apply to all jobs; --eta would write into the parsed output."""
        p = _typed(parameters)
        common_arguments = [
            "fio",
            "--output-format=json",
            "--eta=never",
            f"--directory={request.directory}",
            *extra_options,
        ]
        return (
            [*common_arguments, p.job]
            if p.job
            else [*common_arguments, "--name=paribus", *options(p.options, ("1", "0"))]
        )


workload_kinds.register("fio", FioKind())
