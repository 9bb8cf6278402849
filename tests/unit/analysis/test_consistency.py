"""Real output of tools violates no law, and changed figures do."""

from dataclasses import replace
from pathlib import Path

import pytest
import trial_samples as samples

from paribus.analysis.imported.consistency import inconsistencies
from paribus.findings import Breach
from paribus.model import Claim, Measurement, Origin, Percentage, Trial
from paribus.parsers import formats
from paribus.parsers.log import LogReading, LogRun
from paribus.units import LoadLevel, LoadUnit

GOLDEN = Path(__file__).parent.parent.parent / "golden" / "parsers"
LOGS = sorted(path for path in GOLDEN.glob("*/*") if path.suffix in (".log", ".txt") and path.parent.name != "table")

# Figures of runs that people published, of the kinds that are easily called wrong.
FSYNCED = """sysbench 0.4.12:  multi-threaded system evaluation benchmark

Running the test with following options:
Number of threads: 1

Extra file open flags: 0
128 files, 1.5Gb each
192Gb total file size
Block size 16Kb
Read/Write ratio for combined random IO test: 1.50
Periodic FSYNC enabled, calling fsync() each 100 requests.
Using synchronous I/O mode
Doing random r/w test
Threads started!
Done.

Operations performed:  28800 Read, 19200 Write, 61361 Other = 109361 Total
Read 450Mb  Written 300Mb  Total transferred 750Mb  (2.4999Mb/sec)
  159.99 Requests/sec executed

Test execution summary:
    total time:                          300.0106s
    total number of events:              48000
    total time taken by event execution: 137.3199
    per-request statistics:
         min:                                  0.00ms
         avg:                                  2.86ms
         max:                                 86.53ms
         approx.  95 percentile:              11.77ms

Threads fairness:
    events (avg/stddev):           48000.0000/0.00
    execution time (avg/stddev):   137.3199/0.00
"""
LAST_FSYNCS = """sysbench 1.0.17 (using system LuaJIT 2.0.4)

Running the test with following options:
Number of threads: 16
Initializing random number generator from current time

Extra file open flags: (none)
128 files, 24MiB each
3GiB total file size
Block size 16KiB
Number of IO requests: 0
Read/Write ratio for combined random IO test: 1.50
Periodic FSYNC enabled, calling fsync() each 100 requests.
Calling fsync() at the end of test, Enabled.
Using synchronous I/O mode
Doing random r/w test
Initializing worker threads...

Threads started!

File operations:
    reads/s:                      299.19
    writes/s:                     199.46
    fsyncs/s:                     816.03

Throughput:
    read, MiB/s:                  4.67
    written, MiB/s:               3.12

General statistics:
    total time:                          10.8270s
    total number of events:              12189

Latency (ms):
         min:                                    0.00
         avg:                                   13.14
         max:                                  340.58
         95th percentile:                       92.42
         sum:                               160186.15

Threads fairness:
    events (avg/stddev):           761.8125/216.01
    execution time (avg/stddev):   10.0116/0.01
"""


def _trial(order: int, run: LogRun) -> tuple[Trial, Origin]:
    load = LoadLevel(0, LoadUnit.NOT_STATED) if run.load is None else LoadLevel(run.load)
    settings = {"f": str(order), **run.labels}
    trial = samples.trial(order, str(order), load, factor="f", settings=settings, workload=run.workload)
    readings = [
        (reading.metric, reading.value, reading.unit, reading.line, reading.stated, reading.subject)
        for reading in run.readings
    ]
    reading_record = {"tool": run.tool, "workload": run.workload, "options": dict(run.options), "readings": readings}
    return trial, Origin(trial=order, source=1, lines=run.lines, missing="", said=reading_record)


def _breaches(text: str) -> list[Breach]:
    runs = formats.read(text).runs
    trials_with_origins = [_trial(order, run) for order, run in enumerate(runs, 1)]
    assert trials_with_origins
    return inconsistencies(
        [trial for trial, _ in trials_with_origins],
        {trial.order: origin for trial, origin in trials_with_origins},
        {1: "a.log"},
        {},
    )


@pytest.mark.parametrize("path", LOGS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_output_of_tools_breaks_no_law(path: Path) -> None:
    assert [
        breach.words for breach in _breaches(path.read_text(encoding="utf-8", errors="replace")) if breach.grave
    ] == []


@pytest.mark.parametrize(
    "text", [FSYNCED, LAST_FSYNCS], ids=["fsyncs that are not timed", "fsyncs after the last event"]
)
def test_fsyncs_beside_the_events_are_no_breach(text: str) -> None:
    assert _breaches(text) == []


STATEMENTS = """sysbench 0.5:  multi-threaded system evaluation benchmark
Number of threads: 1
OLTP test statistics:
    queries performed:
        read:                            {read}
        write:                           {write}
        other:                           {other}
        total:                           {total}
    transactions:                        {events} ({tps:.2f} per sec.)
    read/write requests:                 {both} ({rw:.2f} per sec.)
    other operations:                    {other} ({others:.2f} per sec.)

General statistics:
    total time:                          600.0019s
    total number of events:              {events}
"""


def _statements(events: int, reads: int, writes: int, others: int, tps: float = 0.0) -> str:
    """Return a report with so many statements of each kind per transaction."""
    per_s = events / 600.0019
    return STATEMENTS.format(
        read=events * reads,
        write=events * writes,
        other=events * others,
        total=events * (reads + writes + others),
        both=events * (reads + writes),
        events=events,
        tps=tps or per_s,
        rw=per_s * (reads + writes),
        others=per_s * others,
    )


def test_a_log_has_the_queries_per_transaction_that_it_counts() -> None:
    others = [_statements(185418 + n, 14, 4, 2) for n in range(4)]
    assert _breaches("".join([_statements(255134, 14, 0, 2), *others])) == []
    broken = _breaches("".join([_statements(255134, 14, 0, 2, tps=475.22), *others]))
    assert "queries per transaction" in {breach.law for breach in broken}


@pytest.mark.parametrize(("events", "broken"), [("15000.7500", False), ("15001.0000", False), ("15400.0000", True)])
def test_counters_reset_after_a_warm_up_differ_by_operations_in_flight(events: str, broken: bool) -> None:
    text = (GOLDEN / "sysbench" / "oltp-1.1.log").read_text(encoding="utf-8")
    assert "Warmup time: 10s" in text
    changed = text.replace("15000.0000/", f"{events}/")
    assert bool(_breaches(changed)) is broken
    without = _breaches(changed.replace("Warmup time: 10s\n", ""))
    assert "mean of threads x threads = total" in {breach.law for breach in without}


CUT_OFF = """write: (groupid=0, jobs=1): err= 0: pid=77: Mon May  6 07:08:09 2024
  write: IOPS=12, BW=12.9MiB/s (13.5MB/s)(773MiB/60115msec); 0 zone resets
  cpu          : usr=0.10%, sys=0.20%, ctx=900, majf=0, minf=10
     issued rwts: total=0,773,0,0 short=0,0,0,0 dropped=0,0,0,0
"""


def test_a_whole_rate_of_fio_is_cut_off_and_not_rounded() -> None:
    assert _breaches(CUT_OFF) == []
    wrong = _breaches(CUT_OFF.replace("IOPS=12,", "IOPS=14,"))
    assert "rate = events / time" in {breach.law for breach in wrong}


@pytest.mark.parametrize(
    ("right", "wrong", "law"),
    [
        ("159.99 Requests", "195.99 Requests", "IOPS x block size"),
        ("events:              48000", "events:              84000", "rate = events / time"),
        ("300.0106s", "30.0106s", "rate = events / time"),
    ],
)
def test_a_changed_figure_of_a_log_is_detected(right: str, wrong: str, law: str) -> None:
    assert law in {breach.law for breach in _breaches(FSYNCED.replace(right, wrong))}


def test_points_of_a_tables_series_are_examined() -> None:
    run = LogRun(tool="table", workload="rndrw", options={"table": "T22"}, labels={"raid": "5"}, lines=(2, 9))
    trial, origin = _trial(1, run)

    def course(*values: float) -> dict[int, Measurement]:
        return {1: samples.measured(0, "", unit="B/s", points=values)}

    series = {"read_bytes_per_s": course(300e6, 310e6, 290e6), "written_bytes_per_s": course(200e6, 210e6, 190e6)}
    fitting = series | {"bytes_per_s": course(500e6, 520e6, 480e6)}
    assert inconsistencies([trial], {1: origin}, {1: "a.csv"}, fitting) == []
    (breach,) = inconsistencies(
        [trial], {1: origin}, {1: "a.csv"}, series | {"bytes_per_s": course(500e6, 620e6, 480e6)}
    )
    assert (breach.law, breach.cells) == ("reads + writes = total", (1,))
    assert "sample 2" in breach.where


def test_a_requested_rate_is_no_closed_loop() -> None:
    text = LAST_FSYNCS.replace("Doing random r/w test", "Doing random read test").replace("13.14", "13.14")
    (run,) = formats.read(text).runs
    trial, origin = _trial(1, run)
    reading_record = {**origin.said, "workload": "oltp", "options": {}, "readings": [
        ("throughput_per_s", 100.0, "1/s", 1, "100.00", ""), ("response_mean_s", 0.002, "s", 1, "2.00", "")
    ]}  # fmt: skip
    idle = replace(origin, said=reading_record)
    assert [breach.law for breach in inconsistencies([trial], {1: idle}, {1: "a.log"}, {})] == ["Little's law"]
    requested = replace(origin, said={**reading_record, "options": {"rate": "100"}})
    assert inconsistencies([trial], {1: requested}, {1: "a.log"}, {}) == []


def test_a_percentage_of_a_claim_is_compared_with_the_table() -> None:
    def run(level: str, tps: str) -> LogRun:
        reading = LogReading(metric="throughput_per_s", value=float(tps), unit="1/s", line=2, stated=tps)
        labels = {"scheduler": level}
        return LogRun(tool="table", load=8, options={"table": "T3"}, labels=labels, readings=(reading,), lines=(2, 2))

    trials_with_origins = [
        _trial(order, run(level, tps)) for order, (level, tps) in enumerate((("noop", "1100.0"), ("cfq", "1000.0")), 1)
    ]
    trials = [replace(trial, settings={"scheduler": trial.settings["scheduler"]}) for trial, _ in trials_with_origins]
    origins = {trial.order: origin for trial, origin in trials_with_origins}

    def violations(percent: str) -> list[str]:
        change = Percentage(start="cfq", end="noop", percent=percent)
        claim = Claim(id="C1", factor="scheduler", claim="ratio", statement="", changes=(change,))
        return [breach.words for breach in inconsistencies(trials, origins, {1: "T3.csv"}, {}, [claim])]

    assert violations("+10") == []
    assert violations("+30") == [
        "percentages in prose: the text states +30 % from cfq to noop, but the table gives +10 % [C1, T3]",
    ]
