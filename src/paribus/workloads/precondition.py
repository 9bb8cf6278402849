"""Engine jobs of preconditioning: the data is overwritten sequentially, then at random.

Input: the workload's own job. Output: jobs on the same data by the same I/O method, that run until they are told to
finish. Called by the trial that preconditions.
"""

from typing import Literal

from paribus.engine.protocol import Access, FileioJob, IomatrixJob, Job, Load

_LARGE_BLOCK = 2**20
_LARGE_OUTSTANDING = 4  # keeps a device busy, and its writes in order
_INTERVAL_S = 0.05  # what is written beyond the last pass is what is written in that time


def sequential_job(job: Job) -> tuple[Job, int]:
    """A job that overwrites the data sequentially and repeatedly in large blocks; and the bytes of one pass.

    A large block is a multiple of the workload's block. The rest of a file is less than a hundredth of it, or no
    operation of the workload reaches it. Verified blocks keep their size.
    """
    data, own_block_bytes = _files_job(job).data, _block_bytes(job)
    file_bytes = data.total_size_bytes // data.files
    most_merged = 1 if data.verified_block_bytes else max(1, _LARGE_BLOCK // own_block_bytes)
    allowed_rest = max(own_block_bytes, file_bytes / 100)
    block_bytes = next(
        n * own_block_bytes
        for n in range(most_merged, 0, -1)
        if n == 1 or file_bytes % (n * own_block_bytes) < allowed_rest
    )
    blocks = data.files * (file_bytes // block_bytes)
    return _overwrite_job(
        job, "seqrewr", block_bytes, min(_LARGE_OUTSTANDING, blocks), _INTERVAL_S
    ), blocks * block_bytes


def random_job(job: Job, outstanding: int, round_s: float) -> Job:
    """A job that overwrites blocks of the workload's own size uniformly at random; an interval is a round."""
    return _overwrite_job(job, "rndwr", _block_bytes(job), outstanding, round_s)


def _block_bytes(job: Job) -> int:
    """Size of the workload's operations, of the small ones if it has two sizes."""
    workload = _files_job(job)
    return workload.access.block_size_bytes if isinstance(workload, FileioJob) else workload.small_block_size_bytes


def _files_job(job: Job) -> FileioJob | IomatrixJob:
    """The workload's part of the job; only workloads on files or a device can be preconditioned."""
    assert isinstance(job.workload, FileioJob | IomatrixJob)
    return job.workload


def _overwrite_job(
    job: Job, mode: Literal["seqrewr", "rndwr"], block_bytes: int, outstanding: int, interval_s: float
) -> Job:
    """The job as one that only writes. It never fsyncs, since flushes would wear the device and slow the rounds."""
    access = Access(mode=mode, block_size_bytes=block_bytes, fsync_every=0)
    changes = {
        "workload": FileioJob(data=_files_job(job).data, io=_files_job(job).io, access=access),
        "load": Load(outstanding=outstanding),
        "cache": "warm",
        "settle_s": 0.0,
        "measure_s": None,
        "interval_s": interval_s,
    }
    return job.model_copy(update=changes)
