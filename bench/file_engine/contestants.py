"""One load, carried out by our engine, by fio or by sysbench, and what each made of it in the same figures.

In: the data, a load. Out: `Figures`. Called by `bench/file_engine/run.py` and by the tests of agreement.

Processor time and memory are taken alike of all three: what the kernel accounts to the whole process when it is
waited for (wait4), start-up included. What a tool says of itself is used for nothing but operations and their times.
"""

import contextlib
import json
import os
import re
import subprocess
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from paribus.engine.find import binary
from paribus.engine.protocol import Access, FileioJob, Job, Method, SampleJob
from paribus.engine.protocol import Data as Files
from paribus.engine.protocol import Load as Outstanding

ENGINE = Path(__file__).parent.parent.parent / "engine"
BLOCK_BYTES = 16384
_RESERVED = Path("/proc/sys/vm/nr_hugepages")
REGISTERED = ("--fixedbufs", "--registerfiles")
BATCHED = (
    *REGISTERED,
    "--iodepth_batch_submit=16",
    "--iodepth_batch_complete_min=1",
    "--iodepth_batch_complete_max=32",
)
_OF_FIO = {"rndrd": "randread", "rndwr": "randwrite", "rndrw": "randrw", "seqrd": "read", "seqrewr": "write"}


@dataclass(frozen=True)
class Data:
    """Files made by our engine, which the other tools know by names of their own."""

    directory: Path
    files: int
    size_bytes: int

    def paths(self) -> list[Path]:
        """Our names of the files."""
        return [self.directory / f"paribus.{number}" for number in range(self.files)]

    def prepare(self) -> None:
        """Make the files, past the page cache, and a second name for sysbench of each."""
        _paribus_events(self, "prepare", Load("rndrd", "sync", 1, 0.0))
        for number, path in enumerate(self.paths()):
            link = self.directory / f"test_file.{number}"
            link.unlink(missing_ok=True)
            link.hardlink_to(path)

    def remove(self) -> None:
        """Remove the files and their second names."""
        for number in range(self.files):
            (self.directory / f"test_file.{number}").unlink(missing_ok=True)
        _paribus_events(self, "cleanup", Load("rndrd", "sync", 1, 0.0))


@dataclass(frozen=True)
class Load:
    """Load of all contestants, for so many seconds, in blocks of 16 KiB and with O_DIRECT."""

    mode: Literal["seqrewr", "seqrd", "rndrd", "rndwr", "rndrw"]
    engine: Literal["sync", "io_uring", "null"]
    outstanding: int
    seconds: float
    fsync_every: int = 0


@dataclass(frozen=True)
class Usage:
    """Resources that a process has used, as the kernel reports them."""

    cpu_s: float
    peak_rss_bytes: int


@dataclass(frozen=True)
class Figures:
    """Results of a tool. `mean_s` and `p95_s` are over all operations, fsyncs too, as `iops` is not."""

    reads: int
    writes: int
    fsyncs: int
    iops: float
    mean_s: float
    p95_s: float
    usage: Usage

    @property
    def cpu_s_per_io(self) -> float:
        """Seconds of processor time for each read or write."""
        return self.usage.cpu_s / max(self.reads + self.writes, 1)


def measured(
    arguments: Sequence[str], job: str = "", folder: Path | None = None, open_s: float | None = None
) -> tuple[str, Usage]:
    """Return the output of a command, and its usage.

    `job` goes to its stdin, which stays open for so many seconds, or until it has ended. Raises RuntimeError with its
    words when it fails.
    """
    with tempfile.TemporaryFile("w+") as words:
        pipe = subprocess.PIPE
        running = subprocess.Popen(arguments, stdin=pipe, stdout=pipe, stderr=words, text=True, cwd=folder)
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(job)
        running.stdin.flush()
        if open_s is not None:
            threading.Timer(open_s, running.stdin.close).start()
        said = running.stdout.read()
        _, status, used = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)  # it is waited for; Popen need not do it
        running.stdin.close()
        running.stdout.close()
        if running.returncode != 0:
            words.seek(0)
            raise RuntimeError(f"{' '.join(arguments)} ended with {running.returncode}: {words.read()}\n{said[-2000:]}")
    return said, Usage(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


def paribus(data: Data, load: Load, *, huge_pages: bool = False) -> Figures:
    """Our engine. There is no settling, so that every operation that costs is counted."""
    said, usage = _paribus_events(data, "run", load, huge_pages=huge_pages)
    (result,) = [event for event in said if event["event"] == "result"]
    response = result["response"]
    return Figures(
        reads=result["reads"],
        writes=result["writes"],
        fsyncs=result["fsyncs"],
        iops=result["throughput_per_s"],
        mean_s=response["mean_s"],
        p95_s=response["p95_s"],
        usage=usage,
    )


def _paribus_events(
    data: Data, phase: Literal["prepare", "run", "cleanup"], load: Load, *, huge_pages: bool = False
) -> tuple[list[dict[str, Any]], Usage]:
    job = Job(
        phase=phase,
        workload=FileioJob(
            data=Files(directory=str(data.directory), files=data.files, total_size_bytes=data.size_bytes),
            io=Method(engine=load.engine, direct=True, huge_pages=huge_pages),
            access=Access(
                mode=load.mode, block_size_bytes=BLOCK_BYTES, fsync_every=load.fsync_every, fsync_at_end=False
            ),
        ),
        load=Outstanding(outstanding=load.outstanding),
        measure_s=load.seconds or None,
    )
    said, usage = measured([binary(), "run"], job.model_dump_json() + "\n")
    return [json.loads(line) for line in said.splitlines()], usage


@contextlib.contextmanager
def reserved_huge_pages() -> Iterator[bool]:
    """Pages for fio's buffers, which takes none but reserved ones; false where this user may not reserve any."""
    before = _RESERVED.read_text(encoding="utf-8")
    try:
        _RESERVED.write_text(f"{int(before) + 64}", encoding="utf-8")
    except PermissionError:
        yield False
        return
    try:
        yield True
    finally:
        _RESERVED.write_text(before, encoding="utf-8")


def fio(data: Data, load: Load, extra: Sequence[str] = (), *, huge_pages: bool = False) -> Figures:
    """fio: threads rather than processes, offsets drawn freely as ours are, and one latency from submission on.

    It counts writes towards the next fsync; we and sysbench count requests. It fsyncs only one file then, and in rndrw
    does so again after each read until the next write.
    """
    threads, depth = (load.outstanding, 1) if load.engine == "sync" else (1, load.outstanding)
    arguments = [
        "fio", "--name=load", f"--filename={':'.join(map(str, data.paths()))}", f"--size={data.size_bytes}",
        f"--rw={_OF_FIO[load.mode]}", f"--bs={BLOCK_BYTES}", "--rwmixread=60",
        f"--ioengine={'psync' if load.engine == 'sync' else load.engine}", "--direct=1", f"--iodepth={depth}",
        "--thread", f"--numjobs={threads}", "--group_reporting", "--norandommap", "--randrepeat=0",
        f"--fsync={load.fsync_every}", "--time_based", f"--runtime={round(load.seconds * 1000)}ms",
        "--lat_percentiles=1", "--output-format=json+", *(["--iomem=mmaphuge"] if huge_pages else []), *extra,
    ]  # fmt: skip
    said, usage = measured(arguments)
    (job,) = json.loads(said[said.index("{") :])["jobs"]
    times: Counter[int] = Counter()
    for kind in ("read", "write", "sync"):
        times.update({int(ns): count for ns, count in job[kind].get("lat_ns", {}).get("bins", {}).items()})
    counts = {kind: job[kind]["total_ios"] for kind in ("read", "write", "sync")}
    total_ns = sum(job[kind]["lat_ns"]["mean"] * count for kind, count in counts.items() if count)
    return Figures(
        reads=counts["read"],
        writes=counts["write"],
        fsyncs=counts["sync"],
        iops=job["read"]["iops"] + job["write"]["iops"],
        mean_s=total_ns / max(sum(counts.values()), 1) / 1e9,
        p95_s=_quantile(times, 0.95) / 1e9,
        usage=usage,
    )


def sysbench(data: Data, load: Load) -> Figures:
    """sysbench: always threads, always synchronous. Whole seconds."""
    arguments = [
        "sysbench", "fileio", f"--file-num={data.files}", f"--file-total-size={data.size_bytes}",
        f"--file-block-size={BLOCK_BYTES}", f"--file-test-mode={load.mode}", "--file-extra-flags=direct",
        f"--file-fsync-freq={load.fsync_every}", "--file-fsync-end=off", f"--threads={load.outstanding}",
        f"--time={round(load.seconds)}", "--events=0", "--histogram=on", "run",
    ]  # fmt: skip
    said, usage = measured(arguments, folder=data.directory)

    def number(name: str) -> float:
        found = re.search(rf"{re.escape(name)}:\s+([\d.]+)", said)
        assert found is not None, said
        return float(found[1])

    events = int(number("total number of events"))
    rates = [number(f"{kind}/s") for kind in ("reads", "writes", "fsyncs")]
    # It tells rates and the number of all; what is left of an operation after rounding is far below one.
    reads, writes, fsyncs = (round(events * rate / max(sum(rates), 1e-9)) for rate in rates)
    times = Counter({round(float(ms) * 1e6): int(count) for ms, count in _BUCKET.findall(said)})
    return Figures(
        reads=reads,
        writes=writes,
        fsyncs=fsyncs,
        iops=rates[0] + rates[1],
        mean_s=number("sum") / 1000 / max(events, 1),
        p95_s=_quantile(times, 0.95) / 1e9,
        usage=usage,
    )


def sampler(_: Data, load: Load) -> Figures:
    """Our sampler alone, which looks at every disk once a second; there are no operations."""
    job = SampleJob(devices=sorted(disk.name for disk in Path("/sys/block").iterdir()))
    _, usage = measured([binary(), "sample"], job.model_dump_json() + "\n", open_s=load.seconds)
    return Figures(reads=0, writes=0, fsyncs=0, iops=0.0, mean_s=0.0, p95_s=0.0, usage=usage)


def recording(_: Data, __: Load) -> Figures:
    """Return the cost of recording a response time, as `mean_s`: the clock, the histogram and the lock around it."""
    said, usage = measured(["cargo", "bench", "--quiet", "--bench", "recording"], folder=ENGINE)
    (told,) = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    mean_s = told["whole_ns"] / 1e9
    return Figures(reads=0, writes=0, fsyncs=0, iops=0.0, mean_s=mean_s, p95_s=mean_s, usage=usage)


_BUCKET = re.compile(r"^ +([\d.]+) \|\**\s+(\d+)$", re.MULTILINE)


def _quantile(times: Counter[int], share: float) -> int:
    """The time that this share of all did not exceed, as its bucket tells it; 0 of none."""
    left = share * times.total()
    for time in sorted(times):
        left -= times[time]
        if left <= 0:
            return time
    return 0
