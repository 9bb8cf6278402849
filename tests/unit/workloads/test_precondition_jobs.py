"""The jobs that precondition: on the same data, by the same I/O, and nothing but writes."""

import pytest

from paribus.engine.protocol import Data, FileioJob, IomatrixJob, Job, Load, Method
from paribus.model import Workload
from paribus.workloads import jobs, precondition


def _job(**parameters: bool | int | str) -> Job:
    workload = Workload(
        name="w",
        kind="fileio",
        parameters=parameters,
        load_levels=(1,),
        response="throughput_per_s",
        data="keep",
        cache="cold",
    )
    return jobs.job(workload, {}, "/data", "run", seed=7)


def _access(job: Job) -> tuple[str, int, int]:
    assert isinstance(job.workload, FileioJob)
    access = job.workload.access
    return access.mode, access.block_size_bytes, access.fsync_every


def test_random_overwriting_is_the_workload_s_own_but_for_what_it_does() -> None:
    own = _job(total_size=2**20, mode="rndrd", direct=True, engine="io_uring", distribution="zipf", sync_writes="dsync")
    job = precondition.random_job(own, 32, 60.0)
    assert _access(job) == ("rndwr", 16384, 0)
    assert isinstance(job.workload, FileioJob)
    assert (job.workload.data, job.workload.io) == (own.workload.data, own.workload.io)
    assert job.workload.access.distribution == "uniform"
    assert (job.load, job.interval_s, job.measure_s, job.seed) == (Load(outstanding=32), 60.0, None, 7)


@pytest.mark.parametrize(
    ("files", "total", "own", "block", "whole"),
    [
        (4, 4 * 2**30, 16384, 2**20, 4 * 2**30),
        (4, 4 * 1536 * 1024, 16384, 768 * 1024, 4 * 1536 * 1024),  # 1.5 MiB each
        (3, 20 * 2**30, 16384, 2**20, 3 * 6826 * 2**20),  # a rest of two thirds of a MiB in 7 GB
        (1, 2**25, 4 * 2**20, 4 * 2**20, 2**25),  # larger blocks of its own
        (1, 2**20 + 1000, 16384, 2**20, 2**20),  # a rest that no operation reaches
        (8, 8 * 4096, 4096, 4096, 8 * 4096),
    ],
)
def test_overwriting_in_order_reaches_all_that_the_workload_does(
    files: int, total: int, own: int, block: int, whole: int
) -> None:
    job, pass_bytes = precondition.sequential_job(_job(files=files, total_size=total, block_size=own))
    assert (*_access(job), pass_bytes) == ("seqrewr", block, 0, whole)
    assert job.load.outstanding <= whole // block


def test_verified_blocks_stay_what_they_are() -> None:
    own = _job(total_size=2**22, block_size=8192, verify=True)
    job, pass_bytes = precondition.sequential_job(own)
    assert _access(job)[1] == 8192
    assert job.workload.data.verified_block_bytes == 8192
    assert pass_bytes == 2**22


def test_a_matrix_is_preconditioned_with_its_small_blocks() -> None:
    matrix = IomatrixJob(
        data=Data(directory="/d", total_size_bytes=2**24),
        io=Method(),
        small_block_size_bytes=4096,
        large_block_size_bytes=2**20,
        write_share=0.5,
        large_outstanding=2,
    )
    job = Job(phase="run", workload=matrix)
    assert _access(precondition.random_job(job, 8, 1.0)) == ("rndwr", 4096, 0)
    assert _access(precondition.sequential_job(job)[0]) == ("seqrewr", 2**20, 0)
