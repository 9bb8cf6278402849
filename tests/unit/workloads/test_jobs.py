"""Workloads as jobs for the engine, and a kind that plugs in by registering."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from paribus.engine.protocol import FileioJob, Interval, IomatrixJob, Load, OltpJob, Result
from paribus.model import Measurement, OpenLoop, Workload
from paribus.plan.form.file import plan_form
from paribus.plan.form.parse import parse
from paribus.registry import DataSet, Tool, WorkloadSeries, workload_kinds
from paribus.units import LoadLevel, LoadUnit
from paribus.workloads import jobs
from paribus.workloads.fileio import FileioParameters


class _DepthParameters(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
    depth: int = 1


class _Depth:
    """A kind that is told one number."""

    name = "depth"
    table: type[BaseModel] = _DepthParameters
    parameters: type[BaseModel] = _DepthParameters
    axes: frozenset[str] = frozenset()
    sizes_an_operation: frozenset[str] = frozenset()
    size_response = "bytes_per_s"
    on_database = False
    tool: Tool | None = None

    def series(self, table: Any) -> list[WorkloadSeries]:
        return [WorkloadSeries(name="", parameters=table, threads=tuple(table.threads))]

    def data(self, parameters: BaseModel) -> DataSet:
        shape = str(parameters.model_dump()["depth"])
        return DataSet(device="", shape=shape, size_bytes=0, made=True, written=False, cached=False)

    def job(self, parameters: BaseModel, location: jobs.DataLocation) -> FileioJob | IomatrixJob | OltpJob:
        return jobs.kind_of("fileio").job(FileioParameters(), location)

    def measurements(self, result: Result, intervals: Sequence[Interval]) -> tuple[Measurement, ...]:
        return ()


@pytest.fixture
def _second_kind(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(workload_kinds, "_entries", {**workload_kinds._entries})
    workload_kinds.register("depth", _Depth())
    plan_form.cache_clear()
    yield
    plan_form.cache_clear()


def _workload(kind: str = "fileio", **parameters: int | str) -> Workload:
    return Workload(
        name="w",
        kind=kind,
        parameters=parameters,
        load_levels=(1,),
        response="throughput_per_s",
        data="keep",
        cache="warm",
    )


def test_settings_of_the_workload_and_of_its_kind_reach_its_job_and_no_others() -> None:
    settings = {"w.block_size": 4096, "fileio.files": 2, "other.direct": True, "vm.swappiness": 1}
    made = jobs.job(_workload(total_size=2**20), settings, "/data", "run", load=LoadLevel(3))
    assert isinstance(made.workload, FileioJob)
    assert (made.workload.access.block_size_bytes, made.workload.data.files, made.workload.io.direct) == (
        4096,
        2,
        False,
    )
    assert made.load.outstanding == 3


def test_data_of_another_shape_has_a_folder_of_its_own() -> None:
    one, other = (jobs.job(_workload(total_size=2**20, files=n), {}, "/data/", "prepare") for n in (1, 2))
    assert one.workload.data.directory == "/data/w-1x1048576"
    assert other.workload.data.directory == "/data/w-2x524288"


@pytest.mark.usefixtures("_second_kind")
def test_a_registered_kind_makes_jobs() -> None:
    assert jobs.job(_workload("depth", depth=7), {}, "/data", "prepare").workload.data.directory == "/data/w-7"


@pytest.mark.usefixtures("_second_kind")
@pytest.mark.parametrize(
    ("table", "problem"),
    [
        (
            'kind = "depht"',
            "line 3, workload[0].kind: 'depht' is not one of command, ",
        ),
        ("threads = [1]", "workload[0].kind: is missing"),
        ('kind = "depth"\ndepth = "x"', "line 4, workload[0].depth: should be a valid integer"),
        ('kind = "depth"\nblock_size = 1', "line 4, workload[0].block_size: unknown key; known: name, threads"),
        ('kind = "fileio"\nblock_sise = 1', "line 4, workload[0].block_sise: unknown key; did you mean 'block_size'?"),
    ],
)
def test_of_several_kinds_a_mistake_is_told_at_its_place(table: str, problem: str) -> None:
    found = parse("plan.toml", f'name = "n"\n[[workload]]\n{table}', {}).problems
    assert [problem in str(one) for one in found] == [True]


@pytest.mark.usefixtures("_second_kind")
def test_a_plan_may_mix_kinds() -> None:
    text = 'name = "n"\n[[workload]]\nkind = "depth"\ndepth = 2\n[[workload]]\nkind = "fileio"'
    read = parse("plan.toml", text, {})
    assert not read.problems
    assert [table.kind for table in read.table.workload] == ["depth", "fileio"]


def test_an_open_loop_is_told_as_rate_arrivals_and_cap() -> None:
    loop = dataclasses.replace(_workload(), open_loop=OpenLoop(arrivals="poisson", outstanding=32))
    made = jobs.job(loop, {}, "/data", "run", load=LoadLevel(2000, LoadUnit.RATE_PER_S))
    assert made.load == Load(outstanding=32, rate_per_s=2000, arrivals="poisson")
    assert jobs.job(loop, {}, "/data", "prepare").load.rate_per_s is None
