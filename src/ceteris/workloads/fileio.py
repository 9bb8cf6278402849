"""File I/O with sysbench's modes: parameters in, the workload's part of an engine job out."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from ceteris.engine.protocol import Access, Data, FileioJob, Interval, Method, Result
from ceteris.model import Measurement
from ceteris.registry import workload_kinds
from ceteris.units import parse_size
from ceteris.workloads.measured import of_operations

Size = Annotated[
    int,
    BeforeValidator(parse_size),
    WithJsonSchema({"type": ["string", "integer"], "examples": ["16KiB", "20GiB"]}),
]


class FileioParameters(BaseModel):
    """What a `fileio` workload can be told, beside its load levels."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    mode: Literal["seqwr", "seqrewr", "seqrd", "rndrd", "rndwr", "rndrw"] = Field(
        "rndrw", description="which operations, in which order, as in sysbench"
    )
    engine: Literal["sync", "io_uring", "null"] = Field(
        "sync",
        description="sync: a thread for each outstanding operation; io_uring: few threads, deep queues; null: no I/O",
    )
    block_size: Size = Field(16384, gt=0, le=2**30, description="bytes of one operation")
    files: int = Field(4, gt=0, le=100_000, description="number of files")
    total_size: Size = Field(2**31, gt=0, description="bytes of all files together")
    direct: bool = Field(False, description="O_DIRECT: past the page cache")
    read_write_ratio: float = Field(1.5, ge=0.001, le=1000, description="reads for each write in rndrw")
    fsync_every: int = Field(100, ge=0, lt=2**31, description="fsync all files after so many operations; 0: never")
    fsync_at_end: bool = Field(True, description="fsync all files at the end of a run")

    @model_validator(mode="after")
    def _blocks_fit(self) -> "FileioParameters":
        if self.total_size < self.block_size * self.files:
            raise ValueError("total_size is less than one block in each file")
        if self.direct and self.block_size % 512:
            raise ValueError("with direct, block_size must be a multiple of 512")
        return self


def _own(parameters: BaseModel) -> FileioParameters:
    """The parameters as those of this kind, which they are by the plan's form."""
    assert isinstance(parameters, FileioParameters)
    return parameters


class Fileio:
    """The kind `fileio`."""

    name = "fileio"
    parameters: type[BaseModel] = FileioParameters
    sizes_an_operation = frozenset({"block_size"})

    def writes(self, parameters: BaseModel) -> bool:
        """Whether the mode changes its files."""
        return _own(parameters).mode not in ("seqrd", "rndrd")

    def data_bytes(self, parameters: BaseModel) -> int:
        """What the files take."""
        return _own(parameters).total_size

    def data_name(self, parameters: BaseModel) -> str:
        """Number and size of the files."""
        p = _own(parameters)
        return f"{p.files}x{p.total_size // p.files}"

    def job(self, parameters: BaseModel, directory: str) -> FileioJob:
        """The workload's part of an engine job; its files are in `directory`."""
        p = _own(parameters)
        return FileioJob(
            data=Data(directory=directory, files=p.files, total_size_bytes=p.total_size),
            io=Method(engine=p.engine, direct=p.direct),
            access=Access(
                mode=p.mode,
                block_size_bytes=p.block_size,
                read_write_ratio=p.read_write_ratio,
                fsync_every=p.fsync_every,
                fsync_at_end=p.fsync_at_end,
            ),
        )

    def measurements(self, result: Result, intervals: Sequence[Interval]) -> tuple[Measurement, ...]:
        """What a window measured: its operations."""
        return of_operations(result, intervals)


workload_kinds.register("fileio", Fileio())
