"""What the kinds have in common whose load is a program of the user's: how it is called, and what it then measured.

In: parameters, the load level, times. Out: argument lists, and measurements from the text that it printed.
Called by trials.
"""

import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Protocol, cast

from pydantic import BaseModel, ConfigDict, StringConstraints, model_validator

from paribus.model import Measurement, Workload
from paribus.parsers.report import ToolReport
from paribus.registry import DataSet, WorkloadKind, WorkloadSeries, workload_kinds
from paribus.units import LoadLevel
from paribus.workloads.tool_paths import Read, WrittenPath

Argument = Annotated[str, StringConstraints(max_length=100_000, pattern=r"^[^\x00]*$")]
OptionValue = bool | int | float | Argument
Argv = list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """What a run is asked for: in which directory, with how many threads, at which rate and arrivals, how long."""

    directory: str
    threads: int
    rate: int | None = None
    arrivals: str = ""
    settle_s: float = 0.0
    measure_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolExecution:
    """One start of the program: of its time, the first `settle_s` do not count; 0 measured: none of it does."""

    argv: Argv
    settle_s: float
    measure_s: float


class ToolKind(WorkloadKind, Protocol):
    """What a trial needs of a kind whose load is a program of the user's, beside what a plan does."""

    def preparing(self, parameters: BaseModel, order: RunRequest) -> Argv:
        """What makes its data; empty where nothing does."""
        ...

    def cleaning(self, parameters: BaseModel, order: RunRequest) -> Argv:
        """What it takes to remove what lies outside of its directory."""
        ...

    def runs(self, parameters: BaseModel, order: RunRequest) -> Sequence[ToolExecution]:
        """The runs of one trial; the last one is measured."""
        ...

    def written(self, parameters: BaseModel, order: RunRequest, read: Read) -> Iterable[WrittenPath]:
        """The paths that it would write to by its options. Raises PathRefused where that cannot be known."""
        ...

    def read(self, parameters: BaseModel, order: RunRequest, text: str) -> ToolReport:
        """What the measured part of the last run did. Raises NotUnderstood."""
        ...


class ToolParameters(BaseModel):
    """Parameters of a tool; what Paribus cannot do for somebody else's program is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _is_possible(cls, given: Any) -> Any:
        if isinstance(given, dict) and given.get("cache") == "cold":
            raise ValueError("what a tool works on is not known, so its cache stays warm")
        if isinstance(given, dict) and given.get("precondition") is not None:
            raise ValueError("what a tool works on is not known, so it cannot be preconditioned")
        return given


class ToolKindBase:
    """What all of them answer alike."""

    parameters: type[BaseModel]
    axes: frozenset[str] = frozenset()
    sizes_an_operation: frozenset[str] = frozenset()
    size_response = "bytes_per_s"
    on_database = False

    def series(self, table: Any) -> list[WorkloadSeries]:
        """The one workload of a table."""
        return [WorkloadSeries(name="", parameters=table, threads=tuple(table.threads))]

    def written(self, parameters: BaseModel, order: RunRequest, read: Read) -> Iterable[WrittenPath]:  # noqa: ARG002
        """None but those below its directory."""
        return ()

    def data(self, parameters: BaseModel) -> DataSet:
        """A folder of its own for each way in which it is called; what will be in it is not known."""
        shape = f"{zlib.crc32(parameters.model_dump_json(include=set(self.parameters.model_fields)).encode()):08x}"
        return DataSet(device="", shape=shape, size_bytes=0, made=True, written=False, cached=False)


def tool_of(workload: Workload) -> ToolKind | None:
    """The workload's kind, where its load is a program of the user's."""
    kind = workload_kinds.get(workload.kind)
    return cast("ToolKind", kind) if kind.tool else None  # each that says so has both halves


def request_of(
    workload: Workload, directory: str, load: LoadLevel | None = None, settle_s: float = 0.0, measure_s: float = 0.0
) -> RunRequest:
    """What a run at a load level is asked for; preparing and cleaning have none."""
    loop, n = workload.open_loop, load.n if load else 1
    return RunRequest(
        directory=directory,
        threads=loop.outstanding if loop else n,
        rate=n if loop and load else None,
        arrivals=loop.arrivals if loop else "",
        settle_s=settle_s,
        measure_s=measure_s,
    )


def options(given: Mapping[str, OptionValue], truth: tuple[str, str]) -> Argv:
    """`--name=value`, truth values in the tool's own words."""
    shown = {
        name: truth[0] if value is True else truth[1] if value is False else value for name, value in given.items()
    }
    return [f"--{name}={value}" for name, value in shown.items()]


def refuse_options(given: Mapping[str, OptionValue], ours: Mapping[str, str], secrets: str = "") -> None:
    """Raise ValueError for options that come from elsewhere in a plan, devices, and words that everybody could read."""
    for name, value in given.items():
        if name.startswith("-") or not name or any(character in name for character in "= \t\n"):
            raise ValueError(f"{name!r} is no name of an option: write it without -- and =")
        if name in ours:
            raise ValueError(f"the option {name} is set by {ours[name]}: take it out")
        if "password" in name:
            raise ValueError(f"{name} would be seen by everybody on the machine{secrets}")
        if isinstance(value, str) and "/dev/" in value:
            raise ValueError(f"{name}: a tool on a device cannot be guarded; use a fileio workload with device")


def measurements(report: ToolReport, window_s: float) -> tuple[Measurement, ...]:
    """What a run measured, with its course where interval lines tell it."""
    whole: list[tuple[str, str, float | None]] = [
        ("throughput_per_s", "1/s", report.operations_per_s),
        ("bytes_per_s", "B/s", report.bytes_per_s),
        ("queries_per_s", "1/s", report.queries_per_s),
        ("ignored_errors_per_s", "1/s", report.ignored_per_s),
        *((f"response_{name}_s", "s", value) for name, value in report.responses_s.items()),
    ]
    courses = {"throughput_per_s": tuple(one.operations_per_s for one in report.seconds)}
    for name in report.responses_s:
        points = tuple(one.responses_s[name] for one in report.seconds if name in one.responses_s)
        courses[f"response_{name}_s"] = points if len(points) == len(report.seconds) else ()
    step_s = window_s / len(report.seconds) if report.seconds else None
    return tuple(
        Measurement(
            phase="measure",
            metric=metric,
            unit=unit,
            source="tool",
            n=len(points) or 1,
            mean=value,
            low=min(points, default=value),
            high=max(points, default=value),
            total=value if unit == "s" else value * window_s,
            start_s=0.0 if points else None,
            step_s=step_s if points else None,
            points=points,
        )
        for metric, unit, value in whole
        if value is not None and math.isfinite(value)
        for points in [courses.get(metric, ())]
    )
