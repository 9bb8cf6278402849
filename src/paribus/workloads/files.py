"""Parameters of all workloads on files or a device: the data, and the I/O method.

They are flat in a plan; the engine's job has them in two parts, data and method.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from paribus.engine.protocol import Data, Method
from paribus.registry import DataSet
from paribus.units import parse_share, parse_size

Size = Annotated[
    int,
    BeforeValidator(parse_size),
    WithJsonSchema({"type": ["string", "integer"], "examples": ["16KiB", "20GiB"]}),
]
Share = Annotated[
    float,
    BeforeValidator(parse_share),
    Field(ge=0, le=1),
    WithJsonSchema({"type": ["string", "number"], "examples": ["10%"]}),
]
LARGEST_BLOCK = 2**26


class FilesParameters(BaseModel):
    """Data and method, the same for every kind."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    engine: Literal["sync", "io_uring", "null"] = Field(
        "sync",
        description="sync: a thread for each outstanding operation; io_uring: few threads, deep queues; null: no I/O",
    )
    direct: bool = Field(False, description="O_DIRECT: past the page cache")
    sync_writes: Literal["none", "dsync", "sync"] = Field(
        "none", description="O_DSYNC or O_SYNC: each write returns only when it is on the device"
    )
    huge_pages: bool = Field(
        False, description="buffers in huge pages, as a database with large pages has them: fewer pieces for the device"
    )
    files: int = Field(4, gt=0, le=100_000, description="number of files; of a device, 1")
    total_size: Size = Field(2**31, gt=0, description="bytes of all files together, or of the device from its start")
    device: str = Field(
        "",
        pattern=r"^(/dev/[^\x00-\x1f\x7f]+)?$",
        description="a block device in place of files; what writes to it needs target.may_destroy",
    )
    compressible: Share = Field(0.0, description="share of all data written that compresses away")

    @model_validator(mode="before")
    @classmethod
    def _one_device(cls, table: Any) -> Any:
        """Set `files` to 1 for a device."""
        if isinstance(table, dict) and table.get("device") and "files" not in table:
            return {**table, "files": 1}
        return table

    @model_validator(mode="after")
    def _device_is_one_file(self) -> "FilesParameters":
        if self.device and self.files != 1:
            raise ValueError("a device counts as one file: set files = 1, or remove files")
        return self


def shape_of(p: FilesParameters) -> str:
    """Text that identifies the shape of the data, as part of a folder's name."""
    share = f"-c{p.compressible:g}" if p.compressible else ""
    return f"{p.files}x{p.total_size // p.files}{share}"


def data_set(p: FilesParameters, shape: str, *, made: bool, written: bool) -> DataSet:
    """The data set of a workload. Files are always created; `made` applies to a device only."""
    return DataSet(
        device=p.device,
        shape=shape,
        size_bytes=p.total_size,
        made=made or not p.device,
        written=written,
        cached=not p.direct and p.engine != "null",
    )


def data_of(p: FilesParameters, directory: str, verified_block_bytes: int | None = None) -> Data:
    """The data in the form of an engine job."""
    return Data(
        directory=None if p.device else directory,
        device=p.device or None,
        files=p.files,
        total_size_bytes=p.total_size,
        compressible=p.compressible,
        verified_block_bytes=verified_block_bytes,
    )


def method_of(p: FilesParameters) -> Method:
    """The I/O method in the form of an engine job."""
    return Method(engine=p.engine, direct=p.direct, sync_writes=p.sync_writes, huge_pages=p.huge_pages)
