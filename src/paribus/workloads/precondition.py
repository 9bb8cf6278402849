"""Preconditioning as jobs for the engine: a workload's data overwritten in order, then at random.

In: the workload's own job. Out: jobs on the same data by the same I/O, that go on until they are told to finish.
Called by the trial that preconditions.
"""

from typing import Literal

from paribus.engine.protocol import Access, FileioJob, IomatrixJob, Job, Load

_LARGE_BLOCK = 2**20
_LARGE_OUTSTANDING = 4  # keeps a device busy, and its writes in order
_LOOK_EVERY_S = 0.05  # what is written beyond the last pass is what is written in that time


def in_order(job: Job) -> tuple[Job, int]:
    """Overwriting from the first block to the last and again, in large blocks; and the bytes of one pass.

    A block is as many of the workload's own as leave a rest of less than a hundredth of a file, or one that none of
    its operations reaches either; verified blocks stay what they are.
    """
    data, own = _on_files(job).data, _block_bytes(job)
    file_bytes = data.total_size_bytes // data.files
    most = 1 if data.verified_block_bytes else max(1, _LARGE_BLOCK // own)
    small_rest = max(own, file_bytes / 100)
    block = next(n * own for n in range(most, 0, -1) if n == 1 or file_bytes % (n * own) < small_rest)
    blocks = data.files * (file_bytes // block)
    return _overwriting(job, "seqrewr", block, min(_LARGE_OUTSTANDING, blocks), _LOOK_EVERY_S), blocks * block


def at_random(job: Job, outstanding: int, round_s: float) -> Job:
    """Overwriting blocks of the workload's own size anywhere, all equally often; an interval is a round."""
    return _overwriting(job, "rndwr", _block_bytes(job), outstanding, round_s)


def _block_bytes(job: Job) -> int:
    """The size of the workload's operations, of the small ones where it has two."""
    workload = _on_files(job)
    return workload.access.block_size_bytes if isinstance(workload, FileioJob) else workload.small_block_size_bytes


def _on_files(job: Job) -> FileioJob | IomatrixJob:
    """Its workload, which a plan only has preconditioned where it is on files or a device."""
    assert isinstance(job.workload, FileioJob | IomatrixJob)
    return job.workload


def _overwriting(
    job: Job, mode: Literal["seqrewr", "rndwr"], block_bytes: int, outstanding: int, interval_s: float
) -> Job:
    """The job as one that only writes. It never fsyncs, since a flush would wear the device and slow the rounds."""
    access = Access(mode=mode, block_size_bytes=block_bytes, fsync_every=0)
    changes = {
        "workload": FileioJob(data=_on_files(job).data, io=_on_files(job).io, access=access),
        "load": Load(outstanding=outstanding),
        "cache": "warm",
        "settle_s": 0.0,
        "measure_s": None,
        "interval_s": interval_s,
    }
    return job.model_copy(update=changes)
