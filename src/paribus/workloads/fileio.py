"""File I/O with sysbench's modes: from parameters to the workload's part of an engine job."""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, Field, model_validator

from paribus.engine.protocol import Access, FileioJob, Interval, Result
from paribus.model import Measurement
from paribus.registry import DataSet, Tool, WorkloadSeries, workload_kinds
from paribus.workloads.files import LARGEST_BLOCK, FilesParameters, Share, Size, data_of, data_set, method_of, shape_of
from paribus.workloads.jobs import DataLocation
from paribus.workloads.measurements import operation_measurements

_LEAST_VERIFIED = 512  # bytes, of which a checksum and what a block says of itself are some


class FileioParameters(FilesParameters):
    """Plan keys of a `fileio` workload."""

    mode: Literal["seqwr", "seqrewr", "seqrd", "rndrd", "rndwr", "rndrw"] = Field(
        "rndrw", description="which operations, in which order, as in sysbench"
    )
    block_size: Size = Field(16384, gt=0, le=LARGEST_BLOCK, description="bytes of one operation")
    read_write_ratio: float = Field(1.5, ge=0.001, le=1000, description="reads for each write in rndrw")
    distribution: Literal["uniform", "zipf", "pareto", "hotspot"] = Field(
        "uniform", description="which blocks the random modes prefer"
    )
    zipf_exponent: float = Field(0.8, ge=0.01, le=10, description="of zipf: the larger, the more uneven")
    pareto_h: float = Field(
        0.2, ge=0.001, le=0.5, description="of pareto: at 0.2, four of five operations go to a fifth of the blocks"
    )
    hot_part: Share = Field(0.1, description="of hotspot: the share of the blocks that is hot")
    hot_share: Share = Field(0.9, description="of hotspot: the share of the operations that goes there")
    fsync_every: int = Field(100, ge=0, lt=2**31, description="fsync all files after so many operations; 0: never")
    fsync_call: Literal["fsync", "fdatasync"] = Field("fsync", description="what an fsync is done with")
    fsync_at_end: bool = Field(True, description="fsync all files at the end of a run")
    verify: bool = Field(
        False, description="each block carries a checksum and its place, and every block read is proven against them"
    )

    @model_validator(mode="after")
    def _fits(self) -> "FileioParameters":
        sequential = self.mode.startswith("seq")
        if self.total_size < self.block_size * self.files:
            raise ValueError("total_size is less than one block in each file")
        if self.direct and self.block_size % 512:
            raise ValueError("with direct, block_size must be a multiple of 512")
        if self.distribution != "uniform" and sequential:
            raise ValueError(f"{self.mode} takes every block in turn: distribution needs rndrd, rndwr or rndrw")
        if self.device and self.mode == "seqwr":
            raise ValueError("seqwr begins with empty files, which a device cannot be: use seqrewr")
        if self.verify and self.mode == "seqwr":
            raise ValueError("seqwr begins with empty files, in which there is nothing to verify: use seqrewr")
        if self.verify and self.engine == "null":
            raise ValueError("verify needs an engine that does I/O: sync or io_uring")
        if self.verify and self.block_size < _LEAST_VERIFIED:
            raise ValueError(f"with verify, block_size must be at least {_LEAST_VERIFIED}")
        return self


def _typed(parameters: BaseModel) -> FileioParameters:
    """The parameters with their static type; the plan's form guarantees it."""
    assert isinstance(parameters, FileioParameters)
    return parameters


class FileioKind:
    """The kind `fileio`."""

    name = "fileio"
    table: type[BaseModel] = FileioParameters
    parameters: type[BaseModel] = FileioParameters
    axes: frozenset[str] = frozenset()
    size_response = "bytes_per_s"
    on_database = False
    tool: Tool | None = None
    sizes_an_operation = frozenset({"block_size"})

    def series(self, table: Any) -> list[WorkloadSeries]:
        """The single series of a table."""
        return [WorkloadSeries(name="", parameters=table, threads=tuple(table.threads))]

    def data(self, parameters: BaseModel) -> DataSet:
        """The files; a device is used as it is if it is only read and not verified."""
        p = _typed(parameters)
        writes = p.mode not in ("seqrd", "rndrd")
        verified = f"-v{p.block_size}" if p.verify else ""
        return data_set(p, shape_of(p) + verified, made=writes or p.verify, written=writes)

    def job(self, parameters: BaseModel, location: DataLocation) -> FileioJob:
        """The workload's part of an engine job; its files are in the directory."""
        p = _typed(parameters)
        return FileioJob(
            data=data_of(p, location.directory, p.block_size if p.verify else None),
            io=method_of(p),
            access=Access(
                mode=p.mode,
                block_size_bytes=p.block_size,
                read_write_ratio=p.read_write_ratio,
                distribution=p.distribution,
                zipf_exponent=p.zipf_exponent,
                pareto_h=p.pareto_h,
                hot_part=p.hot_part,
                hot_share=p.hot_share,
                fsync_every=p.fsync_every,
                fsync_call=p.fsync_call,
                fsync_at_end=p.fsync_at_end,
            ),
        )

    def measurements(self, result: Result, intervals: Sequence[Interval]) -> tuple[Measurement, ...]:
        """Measurements of a window."""
        return operation_measurements(result, intervals)


workload_kinds.register("fileio", FileioKind())
