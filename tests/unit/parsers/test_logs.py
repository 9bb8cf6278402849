"""Golden logs of other tools: their readings, their format, and the consistency of their numbers."""

import json
import math
from collections.abc import Iterator
from pathlib import Path

import golden_logs
import pytest
from golden_logs import LOGS, name_of, text_of

from paribus.parsers import formats
from paribus.parsers.log import METRICS, LogRun

OF_REPORTS = ("sysbench", "tpcc-mysql", "pgbench", "hammerdb")
READ = {path: formats.read(text_of(path)) for path in LOGS}
RUNS = [(name_of(path), run) for path, log in READ.items() if path.parent.name in OF_REPORTS for run in log.runs]


@pytest.mark.parametrize("path", LOGS, ids=name_of)
def test_a_log_reads_as_its_golden_json(path: Path) -> None:
    text = golden_logs.as_json(formats.read(text_of(path), path.parent.name))
    assert json.loads(text) == json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", LOGS, ids=name_of)
def test_a_log_is_recognised(path: Path) -> None:
    assert formats.recognise(text_of(path)) == path.parent.name


@pytest.mark.parametrize("path", LOGS, ids=name_of)
def test_metrics_have_their_units(path: Path) -> None:
    for run in READ[path].runs:
        for item in (*run.readings, *run.courses):
            assert METRICS.get(item.metric, item.unit) == item.unit


def _near(first: float, second: float, share: float) -> bool:
    return math.isclose(first, second, rel_tol=share, abs_tol=0.011)


def _values(run: LogRun, subject: str = "") -> dict[str, float]:
    return {reading.metric: reading.value for reading in run.readings if reading.subject == subject}


def _subjects(run: LogRun) -> Iterator[dict[str, float]]:
    for subject in {reading.subject for reading in run.readings}:
        yield _values(run, subject)


@pytest.mark.parametrize(("name", "run"), RUNS, ids=[f"{name}:{run.lines[0]}" for name, run in RUNS])
def test_numbers_of_a_log_fit_together(name: str, run: LogRun) -> None:
    """Numbers read in a wrong unit or with a wrong meaning would be inconsistent."""
    values = _values(run)
    checks = []
    if "operations" in values and "duration_s" in values and not run.workload.startswith("fileio"):
        rate = values["throughput_per_s"]
        checks.append(_near(values["operations"] / values["duration_s"], rate, 0.05 if run.tool == "pgbench" else 0.01))
    if "queries_read" in values:
        checks.append(values["queries_read"] + values["queries_write"] + values["queries_other"] == values["queries"])
        checks.append(
            _near(values["queries"] / values["operations"], values["queries_per_s"] / values["throughput_per_s"], 0.01)
        )
    block = int(run.options.get("file-block-size", 0)) or int(run.options.get("memory-block-size", 0))
    if "bytes_per_s" in values:
        checks.append(_near(values["bytes_per_s"], block * values["throughput_per_s"], 0.001))
    if "thread_events_mean" in values:
        checks.append(_near(values["thread_events_mean"] * (run.load or 0), values["operations"], 1e-6))
    for by_metric in _subjects(run):
        if "response_sum_s" in by_metric and "operations" in by_metric:
            mean = by_metric["response_sum_s"] / by_metric["operations"]
            checks.append(
                abs(mean - by_metric["response_mean_s"]) < 0.0000051 + (0.0005 if run.tool == "hammerdb" else 0)
            )
        times = [by_metric.get(f"response_{part}_s") for part in ("min", "p25", "p50", "p75", "p95", "p99", "max")]
        stated_times = [time for time in times if time is not None]
        checks.append(stated_times == sorted(stated_times))
    if run.histogram:
        percentile = next(name for name in values if name.startswith("response_p"))
        checks.append(sum(count for _, count in run.histogram) == values["operations"])
        checks.append(any(math.isclose(upper_s, values[percentile], abs_tol=5e-6) for upper_s, _ in run.histogram))
    if run.tool == "pgbench" and "schedule_lag_mean_s" not in values:
        checks.append(_near(values["response_mean_s"] * values["throughput_per_s"], run.load or 0, 0.05))
    if run.tool == "tpcc-mysql":
        orders = _values(run, "new_order")
        checks.append(values["throughput_per_s"] == (orders["operations"] + orders["late"]) / values["duration_s"])
    for course in run.courses:
        if not course.subject and course.metric in ("throughput_per_s", "bytes_per_s", "queries_per_s"):
            checks.append(_near(sum(course.values) / len(course.values), values[course.metric], 0.25))
    assert run.missing or checks
    assert all(checks), f"{name}: {checks}"


def test_a_text_in_no_known_format_is_not_understood() -> None:
    log = formats.read("Dear Sir,\n\nit was fast.\n")
    assert (log.format, log.runs, log.not_understood) == ("", (), ((1, "Dear Sir,"), (3, "it was fast.")))


def test_no_password_comes_out_of_a_log() -> None:
    text = text_of(LOGS[0].parent.parent / "sysbench" / "oltp.log")
    command = "$ sysbench --mysql-password=geheim --password=geheim oltp_read_write run\n-pgeheim\nPGPASSWORD=geheim\n"
    for log in (formats.read(command + text), formats.read(command + text, "sysbench")):
        (run,) = log.runs
        assert run.options["mysql-password"] == "***"
        assert "PGPASSWORD=***" in str(log)
        assert "=geheim" not in str(log)


def test_thread_count_comes_from_any_statement_of_it() -> None:
    lines = text_of(golden_logs.HERE / "sysbench" / "oltp.log").split("\n")
    intervals = [line for line in lines if line.startswith("[")]
    report = lines[lines.index("SQL statistics:") :]
    assert [formats.read("\n".join(part) + "\n").runs[0].load for part in (lines, intervals, report)] == [2, 2, 2]
    other = intervals[0].replace("thds: 2", "thds: 3").replace("[ 1s ]", "[ 9s ]")
    assert formats.read("\n".join([*intervals, other]) + "\n").runs[0].load is None


def test_a_report_after_a_checkpoint_has_no_duration_of_its_own() -> None:
    first, second = formats.read(text_of(golden_logs.HERE / "sysbench" / "checkpoints.log")).runs
    assert {reading.subject for reading in first.readings if reading.metric == "duration_s"} == {""}
    assert {reading.subject for reading in second.readings if reading.metric == "duration_s"} == {"since the start"}
    assert (second.load, second.options) == (first.load, first.options)


def test_a_number_that_may_continue_on_the_next_line_is_omitted() -> None:
    wrapped = (
        "  10, trx: 493, 95%: 764.362, 99%: 1011.230, max_rt: 3165.036, 460|1.000, 48|1.000, 51|1.000, 49|5\n178.482\n"
    )
    assert [number for number, _ in formats.read(wrapped, "tpcc-mysql").not_understood] == [1, 2]
    (run,) = formats.read("Threads fairness:\n    total number of events:              112\n33\n", "sysbench").runs
    assert not run.readings


FORK = """### Overload
Throughput:
    events/s (eps):                      373.8742
    time elapsed:                        80.0510s
    total number of events:              29929

Latency (ms):
         avg:                                   42.78
         95th percentile:                       89.16
         99th percentile:                       95.20
        999th percentile:                      816.63
[ 55.5s ] thds: 16 eps: 576.28 lat (ms,95%): 87.56
"""


def test_only_certain_output_of_sysbench_forks_is_read() -> None:
    log = formats.read(FORK)
    values = {reading.metric: reading.value for reading in log.runs[0].readings if not reading.subject}
    assert values == {
        "throughput_per_s": 373.8742,
        "duration_s": 80.051,
        "operations": 29929,
        "response_mean_s": 0.04278,
        "response_p95_s": 0.08916,
        "response_p99_s": 0.0952,
    }
    assert log.runs[1].courses[0].at_s == (55.5,)
    assert [number for number, _ in log.not_understood] == [1, 11]
