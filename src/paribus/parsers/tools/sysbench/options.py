"""Options that sysbench echoes, and its progress messages, in every version."""

from collections.abc import Mapping

from paribus.parsers.shapes import EchoedOption, Part, shapes

OPTIONS: Mapping[str, tuple[Part, ...]] = shapes(
    {
        "Number of threads: #": (EchoedOption("threads"),),
        "Target transaction rate: #/sec": (EchoedOption("rate"),),
        "Target transaction rate: #/sec, with jitter # usec": (EchoedOption("rate"), None),
        "Report intermediate results every # second(s)": (EchoedOption("report-interval"),),
        "Warmup time: #s": (EchoedOption("warmup-time"),),
        "# files, #b each": (EchoedOption("file-num"), None),
        "# files, #B each": (EchoedOption("file-num"), None),
        "#b total file size": (EchoedOption("file-total-size"),),
        "#B total file size": (EchoedOption("file-total-size"),),
        "Block size #b": (EchoedOption("file-block-size"),),
        "Block size #B": (EchoedOption("file-block-size"),),
        "Number of IO requests: #": (EchoedOption("events"),),
        "Number of random requests for random IO: #": (EchoedOption("events"),),
        "Read/Write ratio for combined random IO test: #": (EchoedOption("file-rw-ratio"),),
        "Periodic FSYNC enabled, calling fsync() each # requests.": (EchoedOption("file-fsync-freq"),),
        "Merging requests up to #b for sequential IO.": (EchoedOption("file-merged-requests"),),
        "Merging requests up to #B for sequential IO.": (EchoedOption("file-merged-requests"),),
        "Prime numbers limit: #": (EchoedOption("cpu-max-prime"),),
        "Primer numbers limit: #": (EchoedOption("cpu-max-prime"),),
        "Maximum prime number checked in CPU test: #": (EchoedOption("cpu-max-prime"),),
        "block size: #B": (EchoedOption("memory-block-size"),),
        "total size: #B": (EchoedOption("memory-total-size"),),
        "Memory block size: #K": (EchoedOption("memory-block-size"),),
        "Memory transfer size: #M": (EchoedOption("memory-total-size"),),
        "Thread yields per test: # Locks used: #": (EchoedOption("thread-yields"), EchoedOption("thread-locks")),
        "Maximum number of requests for OLTP test is limited to #": (EchoedOption("events"),),
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
"""Lines that stand for an option with a fixed value."""

WORDS: Mapping[str, str] = {
    "Extra file open flags": "file-extra-flags",
    "operation": "memory-oper",
    "scope": "memory-scope",
    "Memory operations type": "memory-oper",
    "Memory scope type": "memory-scope",
}
"""Options whose value follows a colon."""

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
"""The test, by the text before a colon."""

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
        # output of prepare and cleanup
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
"""Lines without results or options of a run."""
