"""What sysbench prints, version by version: the shapes of its lines, and what their numbers are."""

from collections.abc import Mapping

from ceteris.parsers.shapes import PERCENT, Asked, Field, Part, shapes

_MIB = 2.0**-20  # MB, Mb and MiB are all 2^20 bytes in its sources, whatever the version


def _count(metric: str, subject: str = "") -> Field:
    return Field(metric, "count", 0, subject=subject)


def _rate(metric: str, subject: str = "") -> Field:
    return Field(metric, "1/s", 2, subject=subject)


def _ms(metric: str, decimals: int = 2) -> Field:
    return Field(metric, "s", decimals, 1000)


def _mib(metric: str) -> Field:
    return Field(metric, "B/s", 2, _MIB)


_PER_S = _rate("throughput_per_s")
_QUERIES = _rate("queries_per_s")
_READ, _WRITTEN = _rate("queries_read_per_s"), _rate("queries_write_per_s")
_OTHER = _rate("queries_other_per_s")
_ERRORS, _RECONNECTS = _rate("errors_per_s"), _rate("reconnects_per_s")
_LATENCY = _ms("response_p{}_s")
_FILES = (_mib("read_bytes_per_s"), _mib("written_bytes_per_s"), _rate("fsyncs_per_s"))

INTERVALS: Mapping[str, tuple[Part, ...]] = shapes(
    {
        # 1.0 and 1.1
        "thds: # tps: # qps: # (r/w/o: #/#/#) lat (ms,#%): # err/s: # reconn/s: #": (
            *(None, _PER_S, _QUERIES, _READ, _WRITTEN, _OTHER, PERCENT, _LATENCY, _ERRORS, _RECONNECTS),
        ),
        "thds: # tps: # qps: # (r/w/o: #/#/#) lat (ms,#%): # err/s # reconn/s: #": (
            *(None, _PER_S, _QUERIES, _READ, _WRITTEN, _OTHER, PERCENT, _LATENCY, _ERRORS, _RECONNECTS),
        ),
        "thds: # eps: # lat (ms,#%): #": (None, _PER_S, PERCENT, _LATENCY),
        "reads: # MiB/s writes: # MiB/s fsyncs: #/s latency (ms,#%): #": (
            *_FILES,
            PERCENT,
            _ms("response_p{}_s", 3),
        ),
        "# MiB/sec": (_mib("bytes_per_s"),),
        "queue length: # concurrency: #": (Field("queue_length", "1", 0), Field("concurrency", "1", 0)),
        "queue length: #, concurrency: #": (Field("queue_length", "1", 0), Field("concurrency", "1", 0)),
        # between 0.5 and 1.0
        "threads: # tps: # qps: # (r/w/o: #/#/#) latency (ms,#%): # errors/s: # reconnects/s: #": (
            *(None, _PER_S, _QUERIES, _READ, _WRITTEN, _OTHER, PERCENT, _LATENCY, _ERRORS, _RECONNECTS),
        ),
        "threads: # events/s: # latency (ms,#%): #": (None, _PER_S, PERCENT, _LATENCY),
        "reads: # MiB/s writes: # MiB/s fsyncs: #/s latency: # ms (#th pct.)": (
            *_FILES,
            _ms("response_p{}_s", 3),
            PERCENT,
        ),
        "# MiB/sec,": (_mib("bytes_per_s"),),
        # 0.5 and the last 0.4; reads and writes are statements a second
        "threads: #, tps: #, reads: #, writes: #, response time: #ms (#%), errors: #, reconnects: #": (
            *(None, _PER_S, _READ, _WRITTEN, _LATENCY, PERCENT, _ERRORS, _RECONNECTS),
        ),
        "threads: #, tps: #, reads: #, writes: #, response time: #ms (#%), errors: #": (
            *(None, _PER_S, _READ, _WRITTEN, _LATENCY, PERCENT, _ERRORS),
        ),
        "threads: #, tps: #, reads: #, writes: #, response time: #ms (#%)": (
            *(None, _PER_S, _READ, _WRITTEN, _LATENCY, PERCENT),
        ),
        "threads: #, tps: #, reads/s: #, writes/s: # response time: #ms (#%)": (
            *(None, _PER_S, _READ, _WRITTEN, _LATENCY, PERCENT),
        ),
        "threads: #, tps: #, reads/s: #, writes/s: #, response time: #ms (#%)": (
            *(None, _PER_S, _READ, _WRITTEN, _LATENCY, PERCENT),
        ),
        "threads: #, tps: #, reads/s: #, writes/s: #": (None, _PER_S, _READ, _WRITTEN),
        "threads: #, tps: #": (None, _PER_S),
        "Intermediate results: # threads, # tps": (None, Field("throughput_per_s", "1/s", 0)),
        "reads: # MB/s writes: # MB/s fsyncs: #/s response time: #ms (#%)": (
            *_FILES,
            _ms("response_p{}_s", 3),
            PERCENT,
        ),
        "# MB/sec,": (_mib("bytes_per_s"),),
    }
)
"""After the time in brackets."""

CSV: tuple[Part, ...] = (None, _PER_S, _QUERIES, _READ, _WRITTEN, _OTHER, _LATENCY, _ERRORS, _RECONNECTS)
"""After the time, where a script wants it so, as that of sysbench-tpcc may; the report tells the percentile."""

REPORT: Mapping[str, tuple[Part, ...]] = shapes(
    {
        # transactions
        "transactions: # (# per sec.)": (_count("operations", "transactions"), _PER_S),
        "queries: # (# per sec.)": (_count("queries", "with its rate"), _QUERIES),
        "read/write requests: # (# per sec.)": (
            _count("queries", "read and write"),
            _rate("queries_per_s", "read and write"),
        ),
        "other operations: # (# per sec.)": (_count("queries", "other"), _rate("queries_per_s", "other")),
        "deadlocks: # (# per sec.)": (_count("errors"), _ERRORS),
        "ignored errors: # (# per sec.)": (_count("errors"), _ERRORS),
        "reconnects: # (# per sec.)": (_count("reconnects"), _RECONNECTS),
        # files
        "reads/s: #": (_rate("reads_per_s"),),
        "writes/s: #": (_rate("writes_per_s"),),
        "fsyncs/s: #": (_rate("fsyncs_per_s"),),
        "read, MiB/s: #": (_mib("read_bytes_per_s"),),
        "written, MiB/s: #": (_mib("written_bytes_per_s"),),
        # 1.1 tells mebibytes and millions of bytes: one number
        "read: IOPS=# # MiB/s (# MB/s)": (_rate("reads_per_s"), _mib("read_bytes_per_s"), None),
        "write: IOPS=# # MiB/s (# MB/s)": (_rate("writes_per_s"), _mib("written_bytes_per_s"), None),
        "fsync: IOPS=#": (_rate("fsyncs_per_s"),),
        "# Requests/sec executed": (_PER_S,),
        # processors, memory
        "events per second: #": (_PER_S,),
        "events/s (eps): #": (Field("throughput_per_s", "1/s", 4, subject="events"),),
        "Total operations: # (# per second)": (_count("operations", "memory"), _PER_S),
        "Operations performed: # (# ops/sec)": (_count("operations", "memory"), _PER_S),
        "# MiB transferred (# MiB/sec)": (None, _mib("bytes_per_s")),
        "# MB transferred (# MB/sec)": (None, _mib("bytes_per_s")),
        # every test
        "total time: #s": (Field("duration_s", "s", 4),),
        "time elapsed: #s": (Field("duration_s", "s", 4),),
        "total number of events: #": (_count("operations"),),
        "total time taken by event execution: #": (Field("response_sum_s", "s", 4),),
        "total time taken by event execution: #s": (Field("response_sum_s", "s", 4),),
        "Number of unfinished transactions on forced shutdown: #": (_count("unfinished"),),
        "events (avg/stddev): #/#": (
            Field("thread_events_mean", "count", 4),
            Field("thread_events_stddev", "count", 2),
        ),
        "execution time (avg/stddev): #/#": (
            Field("thread_time_mean_s", "s", 4),
            Field("thread_time_stddev_s", "s", 2),
        ),
    }
    | {
        f"{words}: #ms": (_ms(f"response_{name}_s"),)
        for words, name in (("min", "min"), ("avg", "mean"), ("max", "max"))
    }
    | {
        f"{words}: #s": (Field(f"response_{name}_s", "s", 4),)
        for words, name in (("min", "min"), ("avg", "mean"), ("max", "max"))
    }
    | {f"approx. #{th} percentile: #ms": (PERCENT, _LATENCY) for th in ("", "th")}
    | {"approx. # percentile: #s": (PERCENT, Field("response_p{}_s", "s", 4))}
    | {
        f"Operations performed: # {read}, # {write}, # Other = # Total": (
            _count("operations", "read"),
            _count("operations", "write"),
            _count("operations", "fsync"),
            _count("operations", "with fsyncs"),
        )
        for read, write in (("Read", "Write"), ("reads", "writes"))
    }
    | {
        f"Read #{b} Written #{b} Total transferred #{b} (#{b}/sec)": (
            *(None, None, None, Field("bytes_per_s", "B/s", None)),
        )
        for b in (
            "b",
            "B",
        )  # 0.4 and 0.5 say Mb for mebibytes: 10692.66 requests of 16 KiB a second are their 167.07Mb/sec
    }
)
"""Lines of the report that tell their units themselves."""

BELOW: Mapping[str, Mapping[str, tuple[Part, ...]]] = {
    "queries performed": shapes(
        {
            "read: #": (_count("queries_read"),),
            "write: #": (_count("queries_write"),),
            "other: #": (_count("queries_other"),),
            "total: #": (_count("queries"),),
        }
    ),
    "Latency (ms)": shapes(
        {
            "min: #": (_ms("response_min_s"),),
            "avg: #": (_ms("response_mean_s"),),
            "max: #": (_ms("response_max_s"),),
            "#th percentile: #": (PERCENT, _LATENCY),
            "sum: #": (_ms("response_sum_s"),),
            "percentile stats: disabled": (),
        }
    ),
}
"""Lines of the report that mean something below their heading alone: it has the unit."""

HEADINGS = frozenset(
    {
        "SQL statistics",
        "OLTP test statistics",
        "queries performed",
        "File operations",
        "Throughput",
        "CPU speed",
        "General statistics",
        "Test execution summary",
        "per-request statistics",
        "response time",
        "Latency (ms)",
        "Threads fairness",
    }
)

OPTIONS: Mapping[str, tuple[Part, ...]] = shapes(
    {
        "Number of threads: #": (Asked("threads"),),
        "Target transaction rate: #/sec": (Asked("rate"),),
        "Target transaction rate: #/sec, with jitter # usec": (Asked("rate"), None),
        "Report intermediate results every # second(s)": (Asked("report-interval"),),
        "Warmup time: #s": (Asked("warmup-time"),),
        "# files, #b each": (Asked("file-num"), None),
        "# files, #B each": (Asked("file-num"), None),
        "#b total file size": (Asked("file-total-size"),),
        "#B total file size": (Asked("file-total-size"),),
        "Block size #b": (Asked("file-block-size"),),
        "Block size #B": (Asked("file-block-size"),),
        "Number of IO requests: #": (Asked("events"),),
        "Number of random requests for random IO: #": (Asked("events"),),
        "Read/Write ratio for combined random IO test: #": (Asked("file-rw-ratio"),),
        "Periodic FSYNC enabled, calling fsync() each # requests.": (Asked("file-fsync-freq"),),
        "Merging requests up to #b for sequential IO.": (Asked("file-merged-requests"),),
        "Merging requests up to #B for sequential IO.": (Asked("file-merged-requests"),),
        "Prime numbers limit: #": (Asked("cpu-max-prime"),),
        "Primer numbers limit: #": (Asked("cpu-max-prime"),),
        "Maximum prime number checked in CPU test: #": (Asked("cpu-max-prime"),),
        "block size: #B": (Asked("memory-block-size"),),
        "total size: #B": (Asked("memory-total-size"),),
        "Memory block size: #K": (Asked("memory-block-size"),),
        "Memory transfer size: #M": (Asked("memory-total-size"),),
        "Thread yields per test: # Locks used: #": (Asked("thread-yields"), Asked("thread-locks")),
        "Maximum number of requests for OLTP test is limited to #": (Asked("events"),),
    }
)

SAYINGS: Mapping[str, tuple[str, str]] = {
    "Calling fsync() at the end of test, Enabled.": ("file-fsync-end", "on"),
    "Calling fsync() after each write operation.": ("file-fsync-all", "on"),
    "Using synchronous I/O mode": ("file-io-mode", "sync"),
    "Using asynchronous I/O mode": ("file-io-mode", "async"),
    "Using fast mmaped I/O mode": ("file-io-mode", "mmap"),
    "Using slow mmaped I/O mode": ("file-io-mode", "mmap"),
    "Doing sequential write (creation) test": ("file-test-mode", "seqwr"),
    "Doing sequential write test": ("file-test-mode", "seqwr"),
    "Doing sequential rewrite test": ("file-test-mode", "seqrewr"),
    "Doing sequential read test": ("file-test-mode", "seqrd"),
    "Doing random read test": ("file-test-mode", "rndrd"),
    "Doing random write test": ("file-test-mode", "rndwr"),
    "Doing random r/w test": ("file-test-mode", "rndrw"),
    "Doing combined random r/w test": ("file-test-mode", "rndrw"),
    "Doing read-only test": ("oltp-read-only", "on"),
    "Doing write-only test": ("oltp-write-only", "on"),
    "Running mixed OLTP test": ("oltp-test-mode", "complex"),
    "Running simple OLTP test": ("oltp-test-mode", "simple"),
    "Running non-transactional test": ("oltp-test-mode", "nontrx"),
    "Running stored procedure test": ("oltp-test-mode", "sp"),
    "Skipping BEGIN/COMMIT": ("oltp-skip-trx", "on"),
    "Using Uniform distribution": ("oltp-dist-type", "uniform"),
    "Using auto_inc on the id column": ("oltp-auto-inc", "on"),
    "Not using auto_inc on the id column": ("oltp-auto-inc", "off"),
    "Validation mode enabled": ("validate", "on"),
    "Validation checks: on.": ("validate", "on"),
    "Additional request validation enabled.": ("validate", "on"),
    "Using checksums validation.": ("validate", "on"),
    "Debug mode enabled.": ("debug", "on"),
}
"""Lines that tell what was asked in words."""

WORDS: Mapping[str, str] = {
    "Extra file open flags": "file-extra-flags",
    "operation": "memory-oper",
    "scope": "memory-scope",
    "Memory operations type": "memory-oper",
    "Memory scope type": "memory-scope",
}
"""Lines that tell what was asked after a colon."""

TESTS: Mapping[str, str] = {
    "Extra file open flags": "fileio",
    "Doing CPU performance benchmark": "cpu",
    "Prime numbers limit": "cpu",
    "Primer numbers limit": "cpu",
    "Maximum prime number checked in CPU test": "cpu",
    "CPU speed": "cpu",
    "Doing memory operations speed test": "memory",
    "Running memory speed test with the following options": "memory",
    "Total operations": "memory",
    "Doing thread subsystem performance test": "threads",
    "Doing mutex performance test": "mutex",
    "Doing OLTP test.": "oltp",
    "File operations": "fileio",
    "OLTP test statistics": "oltp",
    "SQL statistics": "oltp",
}
"""Which test it is, by what stands before a colon."""

IDLE = frozenset(
    {
        "Initializing worker threads...",
        "Threads started!",
        "Time limit exceeded, exiting...",
        "Done.",
        "done.",
        "Initializing random number generator from timer.",
        "Initializing random number generator from current time",
        "Initializing random number generator from seed (#).",
        "Random number generator seed is # and will be ignored",
        "Running the test with following options:",
        "Forcing shutdown in # seconds",
        "Warming up for # seconds...",
        "(last message repeated # times)",
        "No DB drivers specified, using mysql",
        "No DB drivers specified, using pgsql",
        'Using "BEGIN" for starting transactions',
        'Using "LOCK TABLES WRITE" for starting transactions',
        'Using "LOCK TABLES READ" for starting transactions',
        "Using Normal distribution (# iterations)",
        "Using Special distribution (# iterations, # pct of values are returned in # pct cases)",
        "value ------------- distribution ------------- count",
        # what prepare and cleanup tell
        "Creating files for the test...",
        "Removing test files...",
        "# files, #b each, #b total",
        "Creating file test_file.#",
        "Reusing existing file test_file.#",
        "Extending existing file test_file.#",
        "# bytes written in # seconds (# MB/sec).",
        "# bytes written in # seconds (# MiB/sec).",
        "# bytes written in # seconds (#b/sec).",
        "Creating table 'sbtest'...",
        "Creating table 'sbtest#'...",
        "Creating # records in table 'sbtest'...",
        "Inserting # records into 'sbtest'",
        "Inserting # records into 'sbtest#'",
        "Creating secondary indexes on 'sbtest#'...",
        "Creating a secondary index on 'sbtest#'...",
        "Dropping table 'sbtest'...",
        "Dropping table 'sbtest#'...",
        "-" * 39,
    }
)
"""Lines that tell nothing of a run's results or options."""
