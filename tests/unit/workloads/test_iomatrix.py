"""A point of a matrix: its job, and what it measured, small and large apart."""

import pytest
from test_measurements import _result, _times

from paribus.engine.protocol import IomatrixJob, Part
from paribus.model import Workload
from paribus.units import LoadLevel
from paribus.workloads import jobs


def _workload(large: int) -> Workload:
    return Workload(
        name=f"m-w20-large{large}",
        kind="iomatrix",
        parameters={"total_size": 2**30, "files": 1, "large": large, "write_share": 0.2},
        load_levels=(0, 4),
        response="throughput_per_s",
        data="keep",
        cache="warm",
        part_of="m",
    )


def test_a_point_becomes_a_job_with_the_small_ones_as_its_load() -> None:
    made = jobs.job(_workload(2), {"m.engine": "io_uring"}, "/data", "run", load=LoadLevel(0))
    assert isinstance(made.workload, IomatrixJob)
    assert (made.load.outstanding, made.workload.large_outstanding, made.workload.write_share) == (0, 2, 0.2)
    assert made.workload.io.engine == "io_uring"
    assert made.workload.data.directory == "/data/m-1x1073741824", "one folder for all series"


def _part(operations: float) -> Part:
    return Part(
        operations=100,
        reads=100,
        writes=0,
        fsyncs=0,
        read_bytes=0,
        written_bytes=0,
        errors={},
        throughput_per_s=operations,
        bytes_per_s=operations * 8192,
        response=_times(0.25),
    )


@pytest.mark.parametrize("name", ["small", "large"])
def test_absent_operations_have_no_figures(name: str) -> None:
    result = _result(None).model_copy(update={"parts": {name: _part(7.0)}})
    found = {one.metric: one.mean for one in jobs.kind_of("iomatrix").measurements(result, [])}
    other = "large" if name == "small" else "small"
    assert (found[f"{name}_per_s"], found[f"{name}_response_p95_s"]) == (7.0, 0.5)
    assert not [metric for metric in found if metric.startswith(other)]
    assert found["throughput_per_s"] == result.throughput_per_s
