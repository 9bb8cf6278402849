"""sysbench logs with figures chosen by a test."""

from collections.abc import Sequence
from pathlib import Path

REPORT = """sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: {threads}
Report intermediate results every 1 second(s)
Initializing random number generator from current time


Initializing worker threads...

Threads started!

{lines}SQL statistics:
    queries performed:
        read:                            {read}
        write:                           {write}
        other:                           {other}
        total:                           {queries}
    transactions:                        {events}   ({tps:.2f} per sec.)
    queries:                             {queries} ({qps:.2f} per sec.)
    ignored errors:                      0     (0.00 per sec.)
    reconnects:                          0      (0.00 per sec.)

General statistics:
    total time:                          {seconds:.4f}s
    total number of events:              {events}

Latency (ms):
         min:                                    0.62
         avg:                                    {mean:.2f}
         max:                                   {max:.2f}
         95th percentile:                        {p95:.2f}
         sum:                                 {sum:.2f}

Threads fairness:
    events (avg/stddev):           {each:.4f}/34.50
    execution time (avg/stddev):   {seconds:.4f}/0.00

"""
LINE = (
    "[ {at}s ] thds: {threads} tps: {tps:.2f} qps: {qps:.2f} (r/w/o: {r:.2f}/{w:.2f}/{o:.2f}) "
    "lat (ms,95%): {p95:.2f} err/s: 0.00 reconn/s: 0.00\n"
)


def sysbench(tps: float, threads: int = 8, seconds: float = 100.0, lines: Sequence[float] = ()) -> str:
    """A report of sysbench 1.0.20 oltp_read_write; `lines` are the transactions per second of each interval."""
    events = round(tps * seconds)
    mean = threads / tps * 1000
    interval_lines = "".join(
        LINE.format(at=at, threads=threads, tps=x, qps=20 * x, r=14 * x, w=4 * x, o=2 * x, p95=mean * 1.5)
        for at, x in enumerate(lines, 1)
    )
    return REPORT.format(
        threads=threads,
        lines=interval_lines,
        read=14 * events,
        write=4 * events,
        other=2 * events,
        queries=20 * events,
        events=events,
        tps=events / seconds,
        qps=20 * events / seconds,
        seconds=seconds,
        mean=mean,
        max=mean * 10,
        p95=mean * 1.5,
        sum=mean * events,
        each=events / threads,
    )


def write(path: Path, tps: float, threads: int = 8, seconds: float = 100.0, lines: Sequence[float] = ()) -> Path:
    """Write such a report to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(sysbench(tps, threads, seconds, lines))
    return path
