"""Variants in users' logs that golden files lack: custom builds, prefixes, notes, mixtures."""

import re

import pytest
from golden_logs import HERE, courses_of, golden_text, text_of

from paribus.parsers import formats


def test_a_build_of_sysbench_with_response_times_in_microseconds() -> None:
    text = golden_text("sysbench/oltp-0.5")
    other = re.sub(r"time: ([0-9.]+)ms \(", lambda match: f"time: {float(match[1]) * 1000:.2f}us (", text)
    assert "us (95%)" in other
    log = formats.read(other)
    assert not log.not_understood
    for microseconds, milliseconds in zip(courses_of(log), courses_of(formats.read(text)), strict=True):
        assert (microseconds.metric, microseconds.at_s, microseconds.values) == (
            milliseconds.metric,
            milliseconds.at_s,
            pytest.approx(milliseconds.values),
        )


MARKED = (
    *("sysbench/oltp-0.5", "pgbench/tpcb-15", "hammerdb/mysql-4"),
    *("iostat/extended-12.6", "vmstat/wide-interval", "sar/devices-10-24h", "mpstat/every-12.6", "fio/normal-3.28"),
)
MARKS = {
    "ts": lambda number: f"2024-05-06 07:08:{number % 60:02}.123456\t",
    "journal": lambda number: f"May  6 07:08:{number % 60:02} db1 bench[123]: ",
    "zulu": lambda number: f"2024-05-06T07:08:{number % 60:02}.123456789Z stdout F ",
    "compose": lambda _number: "bench-1  | ",
    "kubectl": lambda _number: "[pod/bench-7d9/bench] ",
    "machine": lambda _number: "db1: ",
    "indented": lambda _number: "\t",
}


@pytest.mark.parametrize("how", MARKS)
@pytest.mark.parametrize("name", MARKED)
def test_a_prefix_of_every_line_is_removed(name: str, how: str) -> None:
    text = golden_text(name)
    marked = "".join(MARKS[how](number) + line for number, line in enumerate(text.splitlines(keepends=True)))
    log, plain = formats.read(marked), formats.read(text)
    assert log.format == plain.format
    assert log.runs == plain.runs
    assert len(log.not_understood) == len(plain.not_understood)


def test_a_report_of_fio_indented_in_notes_is_read() -> None:
    text = golden_text("fio/normal-3.28")
    deeper = re.sub("^(?: {4,}| +(?=lat|\\|))", "\t\t", text, flags=re.MULTILINE)
    notes = "1. Random reads\n" + "".join(f"\t{line}" for line in deeper.splitlines(keepends=True))
    (run,), (plain,) = formats.read(notes).runs, formats.read(text).runs
    assert [(reading.metric, reading.value) for reading in run.readings] == [
        (reading.metric, reading.value) for reading in plain.readings
    ]
    assert not run.missing


def test_a_build_of_tpcc_mysql_that_lost_its_signs_of_percent() -> None:
    logs = map(text_of, sorted((HERE / "tpcc-mysql").glob("*.log")))
    text = next(text for text in logs if ", 95%:" in text)
    without = text.replace("95%:", "95:").replace("99%:", "99:")
    assert courses_of(formats.read(without)) == courses_of(formats.read(text))


def test_words_after_a_whole_report_that_end_without_an_end_of_line_cut_nothing_off() -> None:
    text = golden_text("sysbench/oltp-0.5")
    assert formats.read(f"{text}\nThat is a lot.\n\nRegards").runs[0].missing == ""
    assert formats.read(f"{text}Thr").runs[0].missing


def test_a_remark_locates_the_output_of_a_second_tool() -> None:
    sysbench, iostat = golden_text("sysbench/oltp-0.5"), golden_text("iostat/extended-12.6")
    log = formats.read(f"{sysbench}\n{iostat}")
    assert log.format == "sysbench"
    assert log.runs == formats.read(sysbench).runs
    first = len(sysbench.splitlines()) + 2
    assert f"it has output of iostat too, from line {first} on" in log.remarks[-1]
    assert not formats.read(f"{sysbench}\nI saw this on db1, and 12 more.\n").remarks


def test_a_single_quoted_line_of_fio_belongs_to_no_job() -> None:
    text = golden_text("fio/normal-1.59")
    quoted = [
        "  read: IOPS=357, BW=44.7MiB/s (46.9MB/s)(896MiB/20044msec)",
        "  write: IOPS=105, BW=13.1MiB/s (13.8MB/s)(263MiB/20044msec); 0 zone resets",
        "    clat (usec): min=401, max=9123, avg=812.10, stdev=12.10",
    ]
    log = formats.read("\n".join([text, "And with others:", *quoted, ""]))
    assert log.runs == formats.read(text).runs
    assert [line for _, line in log.not_understood] == ["And with others:", *quoted]


@pytest.mark.parametrize("name", ["sysbench/oltp-0.5", "iostat/extended-12.6", "fio/normal-3.28"])
def test_a_report_within_verbose_script_output_is_recognised(name: str) -> None:
    much = "".join(f"+ apt-get install package-of-number-{number}\n" for number in range(2000))
    assert formats.recognise(much) is None
    log = formats.read(much + golden_text(name) + much)
    assert log.format == name.partition("/")[0]
    assert len(log.runs) == len(formats.read(golden_text(name)).runs)
    table = "| disk | read | write |\n|---|---|---|\n| sda | 12.5 | 13.5 |\n| sdb | 14.5 | 15.5 |\n\n"
    assert formats.recognise(table) == "table"
    assert formats.recognise(table + much + golden_text(name) + much) == log.format


def test_a_trailing_comment_is_removed() -> None:
    text = golden_text("sysbench/oltp-0.5")
    explained = re.sub("^( +(?:transactions|total time|avg):.*)$", "\\1      # what it means", text, flags=re.MULTILINE)
    assert explained.count("# what it means") == 3
    assert formats.read(explained).runs == formats.read(text).runs


@pytest.mark.parametrize("name", ["iostat/human-12.6-pretty", "pgbench/tpcb-9.4"])
def test_a_name_at_a_truncated_end_is_not_read(name: str) -> None:
    text = golden_text(name).rstrip()
    whole, cut = formats.read(f"{text}\n"), formats.read(text[:-1])
    subjects = [{item.subject for run in log.runs for item in (*run.readings, *run.courses)} for log in (whole, cut)]
    assert subjects[1] <= subjects[0]


STREAMS = """\
HammerDB CLI v4.12
Vuser 1:RUNNING
Vuser 2:RUNNING
Vuser 1:Executing Query 14 (1 of 2)
Vuser 2:Executing Query 2 (1 of 2)
Vuser 1:query 14 completed in 1.25 seconds
Vuser 2:query 2 completed in 0.751 seconds
Vuser 1:query 2 completed in 0.802 seconds
Vuser 1:Completed 1 query set(s) in 2 seconds
Vuser 1:Geometric mean of query times returning rows (2) is 1.00125
Vuser 2:query 14 completed in 1.302 seconds
Vuser 1:query 14 completed in 1.148 seconds
Vuser 2:Completed 1 query set(s) in 2 seconds
Vuser 2:FINISHED SUCCESS
"""


def test_concurrent_query_users_are_one_run() -> None:
    log = formats.read(STREAMS)
    (run,) = log.runs
    assert (run.workload, run.load) == ("tpch", 2)
    assert {reading.subject: reading.value for reading in run.readings if reading.metric == "duration_s"} == {
        "query 14 of user 1": 1.25,
        "query 2 of user 2": 0.751,
        "query 2 of user 1": 0.802,
        "1 query sets of user 1": 2.0,
        "query 14 of user 2": 1.302,
        "query 14 of user 1 in set 2": 1.148,
        "1 query sets of user 2": 2.0,
    }
    assert not log.not_understood
    cut = STREAMS[: STREAMS.index("1.00125") + 4]
    assert not [reading for reading in formats.read(cut).runs[0].readings if reading.metric == "query_geometric_mean_s"]
    alone = "".join(line for line in STREAMS.splitlines(keepends=True) if not line.startswith("Vuser 2"))
    first, second = formats.read(alone).runs
    assert [reading.subject for reading in first.readings] == ["query 14", "query 2", "1 query sets", ""]
    assert [reading.subject for reading in second.readings] == ["query 14"]


def test_interleaved_interval_lines_yield_no_time_series() -> None:
    lines = golden_text("sysbench/oltp-0.5").splitlines(keepends=True)
    mixed = "".join(line if "tps:" not in line else line + line.replace("tps: 4", "tps: 3") for line in lines)
    log, alone = formats.read(mixed), formats.read("".join(lines))
    assert [run.courses for run in log.runs] == [()]
    mixed_readings, expected = (
        [(reading.metric, reading.value) for reading in each_log.runs[0].readings] for each_log in (log, alone)
    )
    assert mixed_readings == expected
    assert len(log.not_understood) == 12
    assert "several sysbench wrote their interval lines at once" in log.remarks[0]


def test_prefixes_are_removed_if_most_lines_have_them() -> None:
    text = golden_text("iostat/extended-12.6")
    marked = "".join(f"2024-05-06 07:08:09.123456\t{line}" for line in text.splitlines(keepends=True))
    for around in (f"```\n{marked}```\n", "".join(f"    {line}" for line in marked.splitlines(keepends=True))):
        assert courses_of(formats.read(around)) == courses_of(formats.read(text))


def test_a_word_printed_by_the_tool_is_no_machine_name() -> None:
    progress = "".join(line for line in golden_text("pgbench/tpcb-15").splitlines(keepends=True) if "progress:" in line)
    log = formats.read(progress)
    assert (len(courses_of(log)), log.not_understood) == (4, ())


def test_without_transactions_the_rate_counts_events() -> None:
    text = golden_text("sysbench/select-0.5")
    (run,) = formats.read(text).runs
    rates = {reading.subject: reading.value for reading in run.readings if reading.metric == "throughput_per_s"}
    assert rates == {"transactions": 0.0, "": pytest.approx(197980 / 20.0008)}
    courses = {series.subject: series.values for series in run.courses if series.metric == "throughput_per_s"}
    assert courses == {"transactions": (0.0, 0.0), "": (9876.4, 9920.8)}
    killed = text[: text.index("OLTP test statistics")]
    assert [
        series.subject for series in formats.read(killed).runs[0].courses if series.metric == "throughput_per_s"
    ] == ["transactions"]
    failed = text.replace("ignored errors:                      0 ", "ignored errors:                      7 ")
    (run,) = formats.read(failed).runs
    assert [
        reading.value for reading in run.readings if (reading.metric, reading.subject) == ("throughput_per_s", "")
    ] == [0.0]


def test_a_hash_sign_is_no_number() -> None:
    for name in ("sysbench/tpcc-csv", "sysbench/select-0.5"):
        text = golden_text(name).replace("max:", "max: #\n  max:", 1)
        assert [line for _, line in formats.read(text).not_understood] == [
            f"{text.split('max: #')[0].split(chr(10))[-1]}max: #"
        ]


def test_a_rate_of_zero_transactions_is_no_event_rate_in_a_torn_report() -> None:
    lines = golden_text("sysbench/select-0.5").split("\n")
    torn = formats.read("\n".join([*lines[:12], *lines[24:28], *lines[12:]]))
    zeros = {(series.metric, series.subject) for series in courses_of(torn) if not any(series.values)}
    assert ("throughput_per_s", "transactions") in zeros
    assert ("throughput_per_s", "") not in zeros
