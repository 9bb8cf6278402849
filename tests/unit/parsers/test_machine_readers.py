"""fio, Orion, iostat, vmstat, sar, mpstat and tables: manually verified numbers, and text that must not be read."""

import json
from pathlib import Path

import pytest
from golden_logs import name_of

from paribus.parsers import formats
from paribus.parsers.log import Log, LogRun
from paribus.parsers.plain import plain_lines
from paribus.parsers.sysstat import iostat, mpstat, sar, vmstat
from paribus.parsers.tables import table
from paribus.parsers.tools import orion
from paribus.parsers.tools.fio import fio_output, fio_shapes

GOLDEN = Path(__file__).parent.parent.parent / "golden" / "parsers"
EVERY = (fio_output, orion, iostat, vmstat, sar, mpstat, table)
MIB = 2**20
LOGS = sorted(path for reading in EVERY for path in GOLDEN.glob(f"{reading.FORMAT}/*.log"))


def _golden(name: str) -> Log:
    path = GOLDEN / name
    return formats.FORMATS[path.parent.name].read(path.read_text(encoding="utf-8"))


def _value(run: LogRun, metric: str, subject: str = "") -> float:
    (value,) = [reading.value for reading in run.readings if (reading.metric, reading.subject) == (metric, subject)]
    return value


def _course(run: LogRun, metric: str, subject: str = "") -> tuple[float, ...]:
    (values,) = [series.values for series in run.courses if (series.metric, series.subject) == (metric, subject)]
    return values


def _has(run: LogRun, metric: str, subject: str = "") -> bool:
    return any((reading.metric, reading.subject) == (metric, subject) for reading in run.readings)


def test_fio_2_counts_in_kib_and_microseconds() -> None:
    log = _golden("fio/json-2.1.11.log")
    alone, both = log.runs
    assert _value(alone, "bytes_per_s") == 104857 * 1024
    assert _value(alone, "bytes") == 1048576 * 1024
    assert _value(alone, "response_p95_s") == pytest.approx(0.0014)
    assert _value(both, "throughput_per_s") == 5120 + 2560
    assert _value(both, "response_mean_s", "write") == pytest.approx(316.80e-6)
    assert not _has(both, "response_mean_s")
    assert _value(both, "error_code") == 5
    assert [line for line, _text in log.not_understood] == [1]


def test_truncated_json_keeps_its_complete_values() -> None:
    whole, cut = _golden("fio/json-2.1.11-cut.log").runs
    assert not whole.missing
    assert cut.missing == "the report breaks off in line 157"
    assert _value(cut, "reads_per_s") == 5120
    assert not _has(cut, "throughput_per_s"), "what was written is not known, so there is no sum"
    assert _value(cut, "completion_mean_s", "read") == pytest.approx(290.75e-6)


def test_normal_reports_of_fio_state_their_units() -> None:
    new, old = _golden("fio/normal-3.28.log").runs[0], _golden("fio/normal-2.1.11.log").runs[0]
    assert (new.load, old.load) == (4 * 32, 16)
    assert _value(new, "read_bytes_per_s") == pytest.approx(80.1 * MIB)
    assert _value(new, "submission_max_s", "read") == pytest.approx(1510.3e3 * 1e-9)
    assert _value(new, "operations", "write") == 1228800
    assert _value(new, "response_p999_s", "read") == pytest.approx(0.0076)
    assert _value(old, "bytes_per_s") == 40960 * 1024
    assert _value(old, "bytes_per_s") / _value(old, "throughput_per_s") == 4096
    assert _value(old, "operations") * 4096 == _value(old, "bytes")


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("81285KB", 81285 * 1024),
        ("79.4MiB/s", 79.4 * MIB),
        ("83.2MB/s", 83.2e6),
        ("512B/s", 512),
        ("8000kbit/s", 1e6),
        ("1024Kibit/s", 131072),
        ("1.5PB", None),
        ("12", 12),
        ("12K", None),
        ("nan", None),
    ],
)
def test_sizes_of_fio(word: str, value: float | None) -> None:
    assert fio_shapes.size(word) == value


def test_terse_versions_have_their_own_field_positions() -> None:
    log = _golden("fio/terse.log")
    assert [dict(run.options)["terse-version"] for run in log.runs] == ["3", "3", "4", "5", "2", "3"]
    for run in (log.runs[0], log.runs[2], log.runs[3], log.runs[4]):
        assert _value(run, "throughput_per_s") == 102400 + 25600
        assert _value(run, "response_mean_s", "write") == pytest.approx(89e-6)
        assert _value(run, "response_p95_s", "read") == pytest.approx(120e-6)
    mixed = log.runs[5]
    assert (_value(mixed, "throughput_per_s"), _value(mixed, "bytes_per_s")) == (102400, 409600 * 1024)
    assert all(run.load is None for run in log.runs)
    assert log.not_understood == ((7, "fio: terminating on signal 2"),)


def test_a_truncated_terse_line_has_no_sum() -> None:
    line = (GOLDEN / "fio" / "terse.log").read_text().splitlines()[0]
    (run,) = fio_output.read(line[:600]).runs
    assert run.missing == "line 1 breaks off"
    assert _value(run, "reads_per_s") == 102400
    assert not _has(run, "throughput_per_s")


def test_the_report_since_boot_is_no_sample() -> None:
    log = _golden("iostat/extended-10-timestamps.log")
    (run,) = log.runs
    assert _course(run, "device_reads_per_s", "sda") == (1500.2, 1510.2)
    assert _course(run, "device_read_bytes_per_s", "sda") == (24003.2 * 1024, 24163.2 * 1024)
    assert next(series.at_s for series in run.courses) == (5, 10), "midnight lies between"
    assert any("line 4" in remark and "boot" in remark for remark in log.remarks)
    assert any("sda1 is a partition of sda; dm-0 is made" in remark for remark in log.remarks)
    skipped = _golden("iostat/extended-9-megabytes.log").runs[0]
    assert _course(skipped, "device_read_bytes_per_s", "sdb") == (6.25 * MIB, 6.56 * MIB)
    assert next(series.at_s for series in skipped.courses) == (10, 20)


def test_no_device_is_added_to_another() -> None:
    (run,) = _golden("iostat/plain-9-blocks.log").runs
    assert _value(run, "device_read_bytes_per_s", "sda") == 16000 * 512
    assert _value(run, "device_read_bytes_per_s", "sda1") == 0
    assert not _has(run, "device_read_bytes_per_s")


def test_iostat_in_other_locales_and_human_readable() -> None:
    comma = _golden("iostat/extended-12.0-commas.log").runs[0]
    assert comma.version == "11.5.7 to 12.1"
    assert _value(comma, "device_queue", "nvme0n1") == 2.55
    assert _value(comma, "iowait_share") == 0.25
    people = _golden("iostat/human-12.6-pretty.log").runs[0]
    assert _value(people, "device_read_bytes_per_s", "sda") == pytest.approx(18.8 * MIB)
    assert _value(people, "cpu_user_share") == 0.125


def test_vmstat_counts_blocks_of_1024() -> None:
    stamped, wide = _golden("vmstat/timestamps.log").runs[0], _golden("vmstat/wide-interval.log").runs[0]
    assert _course(stamped, "device_read_bytes_per_s") == (20480 * 1024, 30720 * 1024)
    assert next(series.at_s for series in wide.courses) == (2, 4, 6)
    assert _course(wide, "iowait_share") == (0.25, 0.24, 0.25)
    assert len(_golden("vmstat/plain-repeated-heads.log").runs) == 1


def test_averages_of_sar_and_restarts() -> None:
    log = _golden("sar/restart-12h.log")
    before, after = log.runs
    assert _value(before, "cpu_user_share") == 0.11
    assert _course(before, "cpu_user_share") == (0.10, 0.12)
    assert _value(after, "load_average") == 1.10
    old = _golden("sar/devices-10-24h.log").runs[0]
    assert _value(old, "device_read_bytes_per_s", "dev8-0") == 4800 * 512
    assert _value(old, "network_received_bytes_per_s", "eth0") == 1536 * 1024
    assert next(series.at_s for series in old.courses) == (600, 1200)


def test_each_processor_of_mpstat_by_itself() -> None:
    (run,) = _golden("mpstat/commas-24h.log").runs
    assert _value(run, "iowait_share") == pytest.approx(0.303)
    assert _value(run, "iowait_share", "cpu1") == pytest.approx(0.202)
    assert _course(run, "cpu_user_share", "cpu0") == (0.12, 0.13)


def test_orion_obeys_littles_law_in_milliseconds() -> None:
    points = {run.load: run for run in _golden("orion/matrices-11.1.log").runs if dict(run.options)["large"] == "0"}
    assert set(points) == {1, 2, 3, 4, 5}
    for load, run in points.items():
        implied = _value(run, "throughput_per_s") * _value(run, "response_mean_s")
        assert implied == pytest.approx(load, rel=0.03)
    large = next(
        run for run in _golden("orion/matrices-11.1.log").runs if dict(run.options) == {"small": "0", "large": "2"}
    )
    assert _value(large, "bytes_per_s") == pytest.approx(374.26 * MIB)
    printed = _golden("orion/printed-12.2.log").runs[-1]
    assert _value(printed, "response_mean_s") == pytest.approx(392.499e-6)
    assert printed.histogram == ((128e-6, 0), (256e-6, 100), (512e-6, 9900))


def test_a_matrix_of_an_unknown_metric_is_omitted() -> None:
    log = orion.read("Large/Small,      5\n          1,  12.50\n")
    assert not log.runs
    assert "does not tell whether" in log.remarks[0]


def test_levels_across_and_threads_down() -> None:
    log = _golden("table/markdown-wide.log")
    cells = {
        (run.labels["I/O scheduler"], run.load, reading.metric): reading.value
        for run in log.runs
        for reading in run.readings
    }
    assert cells["noop", 8, "throughput_per_s"] == 1555.47
    assert cells["noop", 32, "throughput_per_s"] == 3100
    assert cells["cfq", 16, "throughput_per_s"] == 1900
    assert cells["cfq", 32, "ratio"] == 0.9
    assert cells["deadline", 8, "queries_per_s"] == 28801.8
    assert ("cfq", 8, "throughput_per_s") not in cells
    assert [line for line, _text in log.not_understood] == [9]


def test_operations_show_whether_mb_means_mib() -> None:
    log = _golden("table/two-heads.log")
    off = next(run for run in log.runs if (run.labels, run.load) == ({"NUMA": "off"}, 8))
    assert _value(off, "bytes_per_s") == pytest.approx(378.54 * MIB)
    assert _value(off, "iowait_share") == 0.065
    decimal = table.read("threads,noop MB/s,cfq MB/s\n8,100.5,90.5\n16,200.5,190.5\n")
    assert _value(decimal.runs[0], "bytes_per_s") == 100.5e6
    assert "nothing in the text shows which is meant" in decimal.remarks[0]


def test_a_decimal_comma_is_inferred_from_the_whole_table() -> None:
    comma = {
        (run.labels["scheduler"], run.load): run.readings[0].value
        for run in _golden("table/semicolons-across.log").runs
    }
    assert comma == {
        ("noop", 8): 1555.47,
        ("noop", 16): 2100.5,
        ("noop", 32): 3100,
        ("deadline", 8): 1600.1,
        ("deadline", 16): 2200,
        ("deadline", 32): 3200.25,
    }
    unsure = _golden("table/ambiguous-commas.log")
    assert not unsure.runs
    assert len(unsure.not_understood) == 3
    point = table.read("threads\tnoop\n8\t987\n16\t1,234\n32\t2,345\n")
    assert [run.readings[0].value for run in point.runs] == [987, 1234, 2345]


def test_a_line_with_more_cells_than_heads_is_not_read() -> None:
    log = table.read("threads,noop,cfq\n8,1,555,1,600\n16,100.5,90.5\n32,200.5,190.5\n")
    assert {run.load for run in log.runs} == {16, 32}
    assert log.not_understood == ((2, "8,1,555,1,600"),)


def test_a_number_that_may_be_cut_is_omitted() -> None:
    log = table.read("threads,noop,cfq\n8,1555,1600\n16,2100,22")
    assert [(run.load, run.labels["level"]) for run in log.runs] == [(8, "noop"), (8, "cfq"), (16, "noop")]
    assert "may be cut" in log.remarks[0]


def test_long_tables_keep_factor_level_workload_and_threads() -> None:
    log = _golden("table/long.log")
    run = log.runs[0]
    assert run.labels == {"IO scheduler": "deadline"}
    assert (run.load, dict(run.options)) == (24, {"table": "001-T01"})
    assert _value(run, "response_p95_s") == pytest.approx(0.01473)
    assert _value(run, "writes_per_s") == 6935.37


def test_every_number_of_a_long_table_is_read() -> None:
    path = GOLDEN / "table" / "long.log"
    rows = path.read_text(encoding="utf-8").splitlines()[1:]
    read = [reading.stated.split()[0] for run in _golden("table/long.log").runs for reading in run.readings]
    assert sorted(read) == sorted(row.rsplit(",", 1)[1] for row in rows)


@pytest.mark.parametrize("module", EVERY, ids=lambda reading: reading.FORMAT)
@pytest.mark.parametrize(
    "path", sorted(path for reading in EVERY for path in GOLDEN.glob(f"{reading.FORMAT}/*.log")), ids=name_of
)
def test_every_reader_accepts_any_text(module: formats.Format, path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for broken in (
        text,
        text[: len(text) // 2],
        text.replace(".", ",", 9),
        text.replace("1", "nan", 9),
        "\x00\x1b" + text[::-1],
    ):
        log = module.read(broken)
        lines = plain_lines(broken)
        assert all(lines[line - 1] == content for line, content in log.not_understood)
        assert 0 <= module.recognises(broken) <= 1


@pytest.mark.parametrize(
    "name", ["fio/json-2.1.11.log", "iostat/extended-10-timestamps.log", "sar/restart-12h.log", "table/long.log"]
)
def test_ends_of_lines_and_marks_change_nothing(name: str) -> None:
    text = (GOLDEN / name).read_text(encoding="utf-8")
    module = formats.FORMATS[name.split("/", maxsplit=1)[0]]
    assert module.read("\ufeff" + text.replace("\n", "\r\n")) == module.read(text)


def test_a_copy_is_no_repetition() -> None:
    text = (GOLDEN / "fio" / "json-2.1.11.log").read_text(encoding="utf-8")
    log = fio_output.read(text + text)
    assert len(log.runs) == 2
    assert any("say the same as" in remark for remark in log.remarks)


def test_json_in_one_line_is_read_alike() -> None:
    text = (GOLDEN / "fio" / "mixed.txt").read_text(encoding="utf-8")
    flat = json.dumps(json.loads(text[text.index("{") : text.rindex("}") + 1]))
    runs = [fio_output.read(each).runs[0] for each in (flat, text)]
    facts = [{(reading.metric, reading.subject, reading.value) for reading in run.readings} for run in runs]
    assert facts[0] == facts[1]


def test_three_forms_of_one_run_of_fio_agree() -> None:
    text = (GOLDEN / "fio" / "three-forms-3.33.log").read_text(encoding="utf-8")
    terse = next(line for line in text.splitlines() if line.startswith("5;"))
    exact = text[text.index("\n{") : text.index("\n}") + 3]
    people = text.replace(terse, "").replace(exact, "\n")
    (json_run,), (terse_run,), (people_run,) = (fio_output.read(each).runs for each in (exact, terse + "\n", people))
    assert (json_run.load, people_run.load) == (2, 2)
    for metric, subject in [
        ("throughput_per_s", ""),
        ("bytes_per_s", ""),
        ("reads_per_s", ""),
        ("written_bytes_per_s", ""),
        ("bytes", "read"),
        ("duration_s", "write"),
        ("response_mean_s", "read"),
        ("response_max_s", "write"),
        ("completion_stddev_s", "write"),
        ("response_p95_s", "read"),
        ("response_p999_s", "write"),
    ]:
        stated = _value(json_run, metric, subject)
        assert _value(terse_run, metric, subject) == pytest.approx(stated, rel=0.01), metric
        assert _value(people_run, metric, subject) == pytest.approx(stated, rel=0.01), metric
    (once,) = fio_output.read(text).runs
    assert once.readings[0].line > json_run.readings[0].line, "in the whole text it stands further down"
    assert sum("tell again" in remark for remark in fio_output.read(text).remarks) == 2


def test_a_mixed_report_of_fio_is_the_sum_of_its_directions() -> None:
    (run,) = _golden("fio/both-3.33.log").runs
    assert _value(run, "throughput_per_s") == 9886 + 9876
    assert any("prints zeros" in remark for remark in _golden("fio/both-3.33.log").remarks)
    (bits,) = _golden("fio/bits-3.33.log").runs
    assert _value(bits, "bytes_per_s") == pytest.approx(_value(bits, "operations") * 4096 / 1.001, rel=0.001)


def test_counts_of_json_plus_lie_between_the_smallest_and_the_largest() -> None:
    (run,) = _golden("fio/json-plus-3.33.log").runs
    assert sum(count for _end, count in run.histogram) == _value(run, "completion_count")
    ends = [end for end, _count in run.histogram]
    assert ends == sorted(ends)
    assert ends[0] >= _value(run, "completion_min_s")
    assert ends[-1] >= _value(run, "completion_max_s")
    assert ends[-2] < _value(run, "completion_max_s")


def test_two_jobs_and_their_group_are_three_runs() -> None:
    reads, writes, both = _golden("fio/normal-two-jobs-3.33.log").runs
    assert (reads.labels["job"], writes.labels["job"]) == ("reads", "writes")
    assert both.workload == "all jobs of a group"
    assert _value(both, "read_bytes_per_s") == _value(reads, "bytes_per_s")
    assert _value(both, "written_bytes_per_s") == _value(writes, "bytes_per_s")


def test_a_second_blank_line_shows_that_the_report_since_boot_was_skipped() -> None:
    log = _golden("iostat/iso-12.6-skipping.log")
    assert not log.remarks
    assert all(len(series.values) == 2 for series in log.runs[0].courses)
    text = (GOLDEN / "iostat" / "extended-12.6.log").read_text(encoding="utf-8")
    assert "\n\n\n" not in text.split("avg-cpu", 1)[0]


@pytest.mark.parametrize("name", ["extended-12.6", "pretty-12.6", "plain-12.6-timestamps", "short-12.6"])
def test_every_device_row_of_iostat_counts(name: str) -> None:
    text = (GOLDEN / "iostat" / f"{name}.log").read_text(encoding="utf-8")
    (run,) = iostat.read(text).runs
    values = [reading.value for reading in run.readings] + [
        value for reading in run.courses for value in reading.values
    ]
    tables = text.split("avg-cpu:")[2:]  # the first is of the time since boot
    words = [word for part in tables for line in part.splitlines()[1:] for word in line.split()]
    numbers = [word for word in words if word[0].isdigit() and ":" not in word and "/" not in word]
    assert len(values) == len(numbers)


def _cells(text: str) -> dict[tuple[str, int | None, str], float]:
    return {
        (next(iter(run.labels.values()), ""), run.load, reading.metric): reading.value
        for run in table.read(text).runs
        for reading in run.readings
    }


def test_levels_that_are_numbers_are_no_threads() -> None:
    cells = _cells("QPS\nthreads\\read_ahead_kb,0,128\n8,1000.5,1010.5\n16,2000.5,2020.5\n")
    assert cells["128", 8, "queries_per_s"] == 1010.5
    assert cells["0", 16, "queries_per_s"] == 2000.5
    turned = _cells("TPS\nread_ahead_kb,8,16\n0,1000.5,2000.5\n128,1010.5,2020.5\n")
    assert turned["128", 8, "throughput_per_s"] == 1010.5


def test_thousands_named_in_a_title_are_not_read_as_units() -> None:
    (run,) = table.read("IOPS (k)\nthreads,noop\n8,24.25\n16,30.50\n").runs[:1]
    assert (run.readings[0].metric, run.readings[0].unit) == ("iops", "k")
    assert _cells("IOPS\nthreads,read,write\n8,24.2k,12.1k\n16,30.5k,15.2k\n")["", 8, "reads_per_s"] == 24200


def test_rows_of_decimal_commas_are_no_heads() -> None:
    cells = _cells("threads;noop;cfq\n8;12,5;13,75\n16;22,5;23,75\n")
    assert cells["noop", 8, "value"] == 12.5
    assert cells["cfq", 16, "value"] == 23.75


def test_columns_of_the_same_name_are_reported() -> None:
    log = table.read(
        "| level | IOPS | MB/s | MB/s |\n|--|--|--|--|\n| raid5 | 1000 | 16.4 | 16.4 |\n| raid0 | 2000 | 32.8 | 31 |\n"
    )
    assert [line for line, _text in log.not_understood] == [3, 4]
