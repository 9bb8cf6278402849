"""Figures that a report does not have, and lines that belong to another run."""

import pytest
from golden_logs import golden_text

from paribus.parsers import formats
from paribus.parsers.log import LogRun

IDLE = """sysbench oltp_read_write --threads=16 run
Threads started!
[ 10s ] thds: 16 tps: 100.00 qps: 2000.00 (r/w/o: 1400.00/400.00/200.00) lat (ms,95%): 20.00 err/s: 0.00 reconn/s: 0.00
[ 20s ] thds: 16 tps: 0.00 qps: 0.00 (r/w/o: 0.00/0.00/0.00) lat (ms,95%): 0.00 err/s: 3.00 reconn/s: 0.00
[ 30s ] thds: 16 tps: 90.00 qps: 1800.00 (r/w/o: 1260.00/360.00/180.00) lat (ms,95%): 22.00 err/s: 0.00 reconn/s: 0.00
"""
OLD = """transaction type: TPC-B (sort of)
scaling factor: 100
number of clients: 8
duration: 60 s
number of transactions actually processed: 60007
tps = 1000.100000 (including connections establishing)
tps = 1000.900000 (excluding connections establishing)
"""


def _values(run: LogRun, metric: str) -> list[tuple[tuple[float, ...], tuple[float, ...]]]:
    return [(series.at_s, series.values) for series in run.courses if series.metric == metric]


def test_an_interval_without_operations_has_no_response_time() -> None:
    (run,) = formats.read(IDLE).runs
    assert _values(run, "throughput_per_s") == [((10, 20, 30), (100, 0, 90))]
    assert _values(run, "response_p95_s") == [((10, 30), (0.020, 0.022))]


def test_a_response_time_below_the_resolution_is_kept() -> None:
    (run,) = formats.read(IDLE.replace("(ms,95%): 20.00", "(ms,95%): 0.00")).runs
    assert _values(run, "response_p95_s") == [((10, 30), (0.0, 0.022))]


def test_a_version_that_prints_no_response_time_has_a_complete_report() -> None:
    (run,) = formats.read(OLD).runs
    assert not run.missing
    (cut,) = formats.read(OLD.replace("tps = 1000.10", "?\ntps = 1000.10")).runs
    assert cut.missing == "response times"


@pytest.mark.parametrize("arguments", ["run", "--threads=512 run", "\\\n --threads=512 \\\n run"])
def test_a_command_that_names_a_script_first_is_read(arguments: str) -> None:
    log = formats.read(f"sysbench ./select.lua {arguments}\n{IDLE.partition(chr(10))[2]}")
    assert [run.workload for run in log.runs] == ["select"]
    assert not log.not_understood


def test_queries_after_a_result_of_transactions_are_another_run() -> None:
    text = (
        "Vuser 1:8 Active Virtual Users configured\n"
        "Vuser 1:TEST RESULT : System achieved 6148 MySQL TPM at 2040 NOPM\n"
        "Vuser 1:Completed 1 query set(s) in 106 seconds\n"
    )
    transactions, queries = formats.read(text).runs
    rates = {reading.metric: reading.value for reading in transactions.readings}
    assert (transactions.workload, rates) == ("tpcc", {"throughput_per_s": 2040 / 60, "transactions_per_s": 6148 / 60})
    assert [(reading.metric, reading.value) for reading in queries.readings] == [("duration_s", 106.0)]
    assert (queries.workload, queries.missing) == ("tpch", "")


def test_sar_of_another_system_is_refused() -> None:
    text = (
        "23:59:44 device  %busy      avque      r+w/s     blks/s     avwait     avserv\n"
        "23:59:49 Sdsk-0  99.42       4.18      39.39     166.28      80.26      25.24\n"
        "23:59:54 Sdsk-0  100.00      4.18      38.73     163.64      82.35      25.87\n"
    )
    log = formats.read(text)
    assert (log.format, log.runs) == ("", ())
    assert "System V" in log.remarks[0]
    assert formats.read(golden_text("sar/devices-10-24h")).runs
