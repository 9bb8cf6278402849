"""File I/O with sysbench's modes: parameters in, engine jobs out, engine results back as measurements."""

import base64
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from ceteris.engine.protocol import Access, Data, FileioJob, Interval, Job, Load, Method, Result
from ceteris.model import Measurement, Settings, Workload
from ceteris.registry import workload_kinds
from ceteris.units import parse_size

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


class Fileio:
    """The kind `fileio`."""

    name = "fileio"
    parameters: type[BaseModel] = FileioParameters
    sizes_an_operation = frozenset({"block_size"})

    def writes(self, parameters: BaseModel) -> bool:
        """Whether the mode changes its files."""
        return getattr(parameters, "mode", "") not in ("seqrd", "rndrd")

    def data_bytes(self, parameters: BaseModel) -> int:
        """What the files take."""
        return int(getattr(parameters, "total_size", 0))


workload_kinds.register("fileio", Fileio())


def parameters_of(workload: Workload, settings: Settings) -> FileioParameters:
    """The workload's parameters with a trial's settings in place; those of other owners are passed over."""
    own = dict(workload.parameters)
    for key, value in settings.items():
        owner, _, parameter = key.partition(".")
        if owner in (workload.kind, workload.name):
            own[parameter] = value
    return FileioParameters(**own)  # type: ignore[arg-type]  # checked with the plan


def job(
    workload: Workload,
    settings: Settings,
    folder: str,
    phase: Literal["prepare", "run", "cleanup"],
    *,
    load: int = 1,
    settle_s: float = 0.0,
    measure_s: float | None = None,
    seed: int = 1,
) -> Job:
    """The engine's job for one phase; each workload, and each shape of its data, has a folder below `folder`."""
    p = parameters_of(workload, settings)
    directory = PurePosixPath(folder) / f"{workload.name}-{p.files}x{p.total_size // p.files}"
    return Job(
        phase=phase,
        workload=FileioJob(
            data=Data(directory=str(directory), files=p.files, total_size_bytes=p.total_size),
            io=Method(engine=p.engine, direct=p.direct),
            access=Access(
                mode=p.mode,
                block_size_bytes=p.block_size,
                read_write_ratio=p.read_write_ratio,
                fsync_every=p.fsync_every,
                fsync_at_end=p.fsync_at_end,
            ),
        ),
        load=Load(outstanding=load),
        cache="cold" if workload.cache == "cold" else "warm",
        settle_s=settle_s,
        measure_s=measure_s,
        interval_s=min(1.0, measure_s or 1.0),
        seed=seed,
    )


def measurements(result: Result, intervals: Sequence[Interval]) -> tuple[Measurement, ...]:
    """What a window measured: each metric over the whole window, with its course where intervals tell it."""
    duration = result.duration_s
    times = result.response
    whole: list[tuple[str, str, float | None]] = [
        ("throughput_per_s", "1/s", result.throughput_per_s),
        ("bytes_per_s", "B/s", result.bytes_per_s),
        ("reads_per_s", "1/s", result.reads / duration),
        ("writes_per_s", "1/s", result.writes / duration),
        ("fsyncs_per_s", "1/s", result.fsyncs / duration),
        ("errors_per_s", "1/s", sum(result.errors.values()) / duration),
        ("response_mean_s", "s", times.mean_s),
        ("response_p50_s", "s", times.p50_s),
        ("response_p95_s", "s", times.p95_s),
        ("response_p99_s", "s", times.p99_s),
        ("response_p999_s", "s", times.p999_s),
        ("response_max_s", "s", times.max_s),
        ("engine_user_cpu_s", "s", result.cpu.user_s),
        ("engine_system_cpu_s", "s", result.cpu.system_s),
    ]
    courses = {
        "throughput_per_s": [(i.reads + i.writes) / i.duration_s for i in intervals],
        "response_p95_s": [i.p95_s for i in intervals if i.p95_s is not None],
    }
    start, step = (intervals[0].start_s - result.start_s, intervals[0].duration_s) if intervals else (None, None)
    found = []
    for metric, unit, value in whole:
        if value is None:
            continue
        points = courses.get(metric) or []
        summary = (len(points) or 1, min(points, default=value), max(points, default=value), value * duration)
        if metric == "response_mean_s":  # of operations, not of intervals
            summary = (times.count, times.min_s or value, times.max_s or value, times.sum_s)
        elif unit == "s":
            summary = (*summary[:3], value)  # times of one window do not add up over it
        found.append(
            Measurement(
                phase="measure",
                metric=metric,
                unit=unit,
                source="engine",
                n=summary[0],
                mean=value,
                low=summary[1],
                high=summary[2],
                total=summary[3],
                start_s=start if points else None,
                step_s=step if points else None,
                points=tuple(points),
                histogram=base64.b64decode(times.histogram) if metric == "response_mean_s" else b"",
            )
        )
    return tuple(found)
