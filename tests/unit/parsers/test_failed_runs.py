"""Runs that their tool reports as failed."""

import re

import pytest
from golden_logs import golden_text

from paribus.parsers import formats


@pytest.mark.parametrize(
    "line",
    [
        "pgbench: error: Run was aborted; the above results are incomplete.",
        "Run was aborted; the above results are incomplete.",
        "pgbench: error: client 3 script 0 aborted in command 4 query 0: ERROR:  deadlock detected",
        "Client 3 aborted in state 8: ERROR:  deadlock detected",
    ],
)
def test_pgbench_reports_an_aborted_run(line: str) -> None:
    text = golden_text("pgbench/tpcb-15")
    earlier = text.replace("transaction type:", f"{line}\ntransaction type:")  # stderr may precede stdout
    for log in (formats.read(f"{text}{line}\n"), formats.read(earlier)):
        (run,) = log.runs
        assert (run.failed, log.not_understood) == (line, formats.read(text).not_understood)
    assert not any(run.failed for run in formats.read(text).runs)


def test_fio_reports_the_error_of_a_job() -> None:
    text = golden_text("fio/normal-3.28")
    reason = "err= 5 (file:io_u.c:1803, func=io_u error, error=Input/output error)"
    runs = formats.read(re.sub("err= *0", reason, text)).runs
    assert {run.failed for run in runs} == {"err=5"}
    assert {run.failed for run in formats.read(text).runs} == {""}


def test_fio_reports_the_error_of_a_job_in_json() -> None:
    (run,) = formats.read(
        """{"fio version": "fio-3.28", "jobs": [{"jobname": "j", "error": 28, "job options": {"rw": "write"},
        "write": {"io_bytes": 0, "bw_bytes": 0, "iops": 0.0, "runtime": 0, "total_ios": 0}}]}"""
    ).runs
    assert run.failed == "err=28"


def test_sysbench_reports_a_fatal_error_before_its_report() -> None:
    text = golden_text("sysbench/read-write-1.0")
    fatal = "FATAL: mysql_drv_query() returned error 1205 (Lock wait timeout exceeded)"
    (run,) = formats.read(text.replace("SQL statistics:", f"{fatal}\nSQL statistics:", 1)).runs
    assert run.failed == fatal
    later = formats.read(f"{text}{fatal}\n")  # of a cleanup, or of the next run
    assert {run.failed for run in later.runs} == {""}


def test_hammerdb_reports_a_failed_user() -> None:
    text = (
        "Vuser 1:2 Active Virtual Users configured\nVuser 1:TEST RESULT : System achieved 612 NOPM from 1410 MySQL TPM"
    )
    (run,) = formats.read(f"{text}\nVuser 2:FINISHED FAILED\n").runs
    assert run.failed == "Vuser 2:FINISHED FAILED"
