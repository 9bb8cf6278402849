"""Reports of real tool output, and of reconstructed output of older versions."""

import dataclasses
import json
from pathlib import Path

import pytest

from paribus.parsers import pattern, tool_reports
from paribus.parsers.report import NotUnderstood, within
from paribus.parsers.tools.fio import fio_output
from paribus.parsers.tools.sysbench import sysbench_output

GOLDEN = Path(__file__).parent.parent.parent / "golden" / "parsers"
PARSERS = {"sysbench": sysbench_output.parse, "fio": fio_output.parse}
CASES = {path: path.with_suffix(".json") for path in GOLDEN.glob("fio/*.txt")}
CASES |= {path.with_suffix("").with_suffix(".log"): path for path in GOLDEN.glob("sysbench/*.report.json")}

OLD_OLTP = """
OLTP test statistics:
    queries performed:
        read:                            1400
        write:                           500
        other:                           200
        total:                           2100
    transactions:                        100    (50.00 per sec.)
    deadlocks:                           4      (2.00 per sec.)
    read/write requests:                 1900   (950.00 per sec.)
    other operations:                    200    (100.00 per sec.)

Test execution summary:
    total time:                          2.0000s
    total number of events:              100
    total time taken by event execution: 3.9
    per-request statistics:
         min:                                  1.78ms
         avg:                                 17.44ms
         max:                                  1.05s
         approx.  95 percentile:              32.64ms
"""
OLD_FILEIO = """
Operations performed:  600 Read, 400 Write, 12 Other = 1012 Total
Read 9.375Mb  Written 6.25Mb  Total transferred 15.625Mb  (1.5Mb/sec)
  100.00 Requests/sec executed

Test execution summary:
    total time:                          10.0000s
    total number of events:              1000
    per-request statistics:
         min:                                  0.10ms
         avg:                                  2.00ms
         max:                                 90.00ms
         approx.  95 percentile:               7.00ms
"""


@pytest.mark.parametrize("case", sorted(CASES), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_real_output_has_the_recorded_report(case: Path) -> None:
    report = PARSERS[case.parent.name](case.read_text(encoding="utf-8"))
    assert json.loads(json.dumps(dataclasses.asdict(report))) == json.loads(CASES[case].read_text())


def test_an_old_report_of_transactions_is_read() -> None:
    report = sysbench_output.parse(OLD_OLTP)
    assert (report.operations_per_s, report.queries_per_s, report.ignored_per_s) == (50, 1050, 2)
    assert report.responses_s == pytest.approx({"mean": 0.01744, "max": 1.05, "p95": 0.03264})
    assert report.bytes_per_s is None


def test_an_old_report_of_files_is_read() -> None:
    report = sysbench_output.parse(OLD_FILEIO)
    assert (report.operations_per_s, report.bytes_per_s) == (100, 1.5 * 2**20)
    assert report.responses_s == pytest.approx({"mean": 0.002, "max": 0.09, "p95": 0.007})


def test_old_interval_lines_are_read() -> None:
    lines = "[   1s] threads: 8, tps: 20.00, reads: 280, writes: 80, response time: 12.50ms (95%), errors: 0.00\n"
    (second,) = sysbench_output.parse(lines + OLD_OLTP).seconds
    assert (second.at_s, second.operations_per_s, second.responses_s) == (1, 20, {"p95": 0.0125})


def test_only_the_seconds_after_settling_count() -> None:
    whole = sysbench_output.parse((GOLDEN / "sysbench" / "oltp.log").read_text())
    report = within(whole, 1, 3)
    assert [second.at_s for second in report.seconds] == [2, 3]
    assert report.operations_per_s == pytest.approx((1258.20 + 1304.98) / 2)
    assert report.responses_s == pytest.approx({"p95": (0.00349 + 0.00214) / 2})
    with pytest.raises(NotUnderstood, match=r"tells of 3 s of the 9 s"):
        within(whole, 1, 10)


def test_only_the_seconds_of_pgbench_after_settling_count() -> None:
    whole = tool_reports.of_pgbench((GOLDEN / "pgbench" / "tpcb-15.log").read_text())
    assert (whole.operations_per_s, whole.ignored_per_s) == (pytest.approx(761.307725), 0)
    report = within(whole, 1, 3)
    assert report.operations_per_s == pytest.approx((746.1 + 678.0) / 2)
    assert report.responses_s == pytest.approx({"mean": (0.005330 + 0.005921) / 2})
    late = "progress: 1.9 s, 700.0 tps, lat 5.000 ms stddev 5.000, 0 failed"
    text = (GOLDEN / "pgbench" / "tpcb-15.log").read_text().replace("progress: 2.0 s, 746.1 tps, lat 5.330", late[:38])
    assert [second.at_s for second in tool_reports.of_pgbench(text).seconds] == [1, 2, 3, 4]
    with pytest.raises(NotUnderstood, match="no summary of pgbench"):
        tool_reports.of_pgbench("pgbench: error: connection to server failed")


def test_hammerdb_reports_new_orders_and_their_response_times() -> None:
    text = (GOLDEN / "hammerdb" / "mysql-4.log").read_text()
    report = tool_reports.of_hammerdb(text)
    assert (report.operations_per_s, report.transactions_per_s) == (87060 / 60, 202469 / 60)
    new_orders = {"mean": 0.001612, "p50": 0.001499, "p95": 0.002622, "p99": 0.004110, "max": 0.051370}
    assert report.responses_s == pytest.approx(new_orders)
    assert report.ignored_per_s == 0
    failed = tool_reports.of_hammerdb(text + "Vuser 2:New Order Procedure Error set RAISEERROR for Details\n" * 600)
    assert failed.ignored_per_s == pytest.approx(600 / 300)
    with pytest.raises(NotUnderstood, match="no test result"):
        tool_reports.of_hammerdb("Error in Virtual User 1: no database")


def test_errors_of_a_tool_are_counted() -> None:
    broken = OLD_OLTP + "    reconnects:                          3      (1.50 per sec.)\n"
    assert sysbench_output.parse(broken).errors == {"reconnects": 3}
    jobs = json.loads((GOLDEN / "fio" / "mixed.txt").read_text())
    jobs["jobs"][0]["error"] = 5
    assert fio_output.parse(json.dumps(jobs)).errors == {"paribus: error 5": 1}


@pytest.mark.parametrize("text", ["", "FATAL: no such test", "{", '{"jobs": 3}', '{"jobs": [{}]}', "[]", "{}"])
def test_a_text_that_is_no_report_is_refused(text: str) -> None:
    for parse in PARSERS.values():
        with pytest.raises(NotUnderstood):
            parse(text)


def test_a_pattern_takes_the_last_number() -> None:
    assert pattern.value(r"rate (?P<value>\S+)", "rate 1\nrate 2,500.5\n") == 2500.5
    with pytest.raises(NotUnderstood, match="nothing that matches"):
        pattern.value(r"rate (?P<value>\S+)", "ready")
    with pytest.raises(NotUnderstood, match="'high'"):
        pattern.value(r"rate (?P<value>\S+)", "rate high")
    assert "no group" in pattern.refusal("[0-9]+")
    assert "no regular expression" in pattern.refusal("(?P<value>")
