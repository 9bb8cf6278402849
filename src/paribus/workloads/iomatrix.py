"""Small random I/O together with large sequential I/O, at every combination of loads, as Oracle Orion does.

A plan gives the values of three axes: small operations outstanding (its load levels), large operations outstanding, and
the share of writes. Every pair of the last two is a series, a workload of its own over the load levels.
"""

import itertools
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, Field, model_validator

from paribus.engine.protocol import Interval, IomatrixJob, Part, Result
from paribus.model import Measurement
from paribus.registry import DataSet, Tool, WorkloadSeries, workload_kinds
from paribus.workloads.files import LARGEST_BLOCK, FilesParameters, Share, Size, data_of, data_set, method_of, shape_of
from paribus.workloads.jobs import DataLocation
from paribus.workloads.measurements import Metrics, operation_measurements

Outstanding = Annotated[int, Field(ge=0, le=1024)]


class _Blocks(FilesParameters):
    """Plan keys that all series of a matrix share."""

    small_block: Size = Field(8192, gt=0, le=LARGEST_BLOCK, description="bytes of a small, random operation")
    large_block: Size = Field(2**20, gt=0, le=LARGEST_BLOCK, description="bytes of a large, sequential operation")

    @model_validator(mode="after")
    def _fits(self) -> "_Blocks":
        for key in ("small_block", "large_block"):
            if self.total_size < getattr(self, key) * self.files:
                raise ValueError(f"total_size is less than one {key} in each file")
            if self.direct and getattr(self, key) % 512:
                raise ValueError(f"with direct, {key} must be a multiple of 512")
        return self


class IomatrixParameters(_Blocks):
    """Parameters of one series of a matrix, beside its load levels."""

    large: Outstanding = 0
    write_share: Share = 0.0


class IomatrixTable(_Blocks):
    """Plan keys of an `iomatrix` workload."""

    threads: list[Outstanding] = Field(
        [0, 1, 2, 4, 8, 16, 32, 64],
        min_length=1,
        description="small operations outstanding, one after the other; with 0, large ones alone",
    )
    large: list[Outstanding] = Field(
        [0], min_length=1, description="large operations outstanding, each a sequential stream of its own"
    )
    write_share: list[Share] = Field([0.0], min_length=1, description="share of all operations that write")

    @model_validator(mode="before")
    @classmethod
    def _closed_loop(cls, table: Any) -> Any:
        if isinstance(table, dict) and table.get("rate") is not None:
            raise ValueError("a matrix varies outstanding operations: remove rate")
        return table

    @model_validator(mode="after")
    def _something_outstanding(self) -> "IomatrixTable":
        if not any(self.threads) and not any(self.large):
            raise ValueError("threads and large have only zeros: add a number above 0 to one of them")
        return self


def _typed(parameters: BaseModel) -> IomatrixParameters:
    """The parameters with their static type; the plan's form guarantees it."""
    assert isinstance(parameters, IomatrixParameters)
    return parameters


class IomatrixKind:
    """The kind `iomatrix`."""

    name = "iomatrix"
    table: type[BaseModel] = IomatrixTable
    parameters: type[BaseModel] = IomatrixParameters
    axes = frozenset({"large", "write_share"})
    size_response = "bytes_per_s"
    on_database = False
    tool: Tool | None = None
    sizes_an_operation = frozenset({"small_block", "large_block"})

    def series(self, table: Any) -> list[WorkloadSeries]:
        """A series for each write share and number of large operations; points without any load are left out."""
        shared = table.model_dump(include=set(_Blocks.model_fields))
        pairs = itertools.product(sorted(set(table.write_share)), sorted(set(table.large)))
        all_series = [
            WorkloadSeries(
                name=f"w{share * 100:g}-large{large}",
                parameters=IomatrixParameters.model_validate({**shared, "write_share": share, "large": large}),
                threads=tuple(outstanding for outstanding in table.threads if outstanding or large),
            )
            for share, large in pairs
        ]
        return [series for series in all_series if series.threads]

    def data(self, parameters: BaseModel) -> DataSet:
        """The files, the same for every series; a device is used as it is."""
        p = _typed(parameters)
        return data_set(p, shape_of(p), made=p.write_share > 0, written=p.write_share > 0)

    def job(self, parameters: BaseModel, location: DataLocation) -> IomatrixJob:
        """The workload's part of an engine job; its files are in the directory."""
        p = _typed(parameters)
        return IomatrixJob(
            data=data_of(p, location.directory),
            io=method_of(p),
            small_block_size_bytes=p.small_block,
            large_block_size_bytes=p.large_block,
            write_share=p.write_share,
            large_outstanding=p.large,
        )

    def measurements(self, result: Result, intervals: Sequence[Interval]) -> tuple[Measurement, ...]:
        """Measurements of a window: all operations, then small and large ones separately."""
        parts = result.parts or {}
        part_metrics = [metric for name in ("small", "large") for metric in _part_metrics(name, parts.get(name))]
        return operation_measurements(result, intervals, part_metrics)


def _part_metrics(name: str, part: Part | None) -> Metrics:
    """Metrics of the small or the large operations; empty if none was outstanding."""
    if part is None:
        return []
    times = part.response
    return [
        (f"{name}_per_s", "1/s", part.throughput_per_s),
        (f"{name}_bytes_per_s", "B/s", part.bytes_per_s),
        (f"{name}_response_mean_s", "s", times.mean_s),
        (f"{name}_response_p95_s", "s", times.p95_s),
        (f"{name}_response_p99_s", "s", times.p99_s),
        (f"{name}_response_max_s", "s", times.max_s),
    ]


workload_kinds.register("iomatrix", IomatrixKind())
