"""What logs of other people have, and goldens of the tools have not: builds of their own, prefixes, notes, mixtures."""

import re
from pathlib import Path

import pytest

from ceteris.parsers import formats
from ceteris.parsers.log import Course, Log

GOLDEN = Path(__file__).parent.parent.parent / "golden" / "parsers"


def _text(name: str) -> str:
    return (GOLDEN / f"{name}.log").read_text(encoding="utf-8")


def _courses(log: Log) -> list[Course]:
    return [course for run in log.runs for course in run.courses]


def test_a_build_of_sysbench_that_tells_response_times_in_microseconds() -> None:
    text = _text("sysbench/oltp-0.5")
    other = re.sub(r"time: ([0-9.]+)ms \(", lambda found: f"time: {float(found[1]) * 1000:.2f}us (", text)
    assert "us (95%)" in other
    log = formats.read(other)
    assert not log.not_understood
    for own, same in zip(_courses(log), _courses(formats.read(text)), strict=True):
        assert (own.metric, own.at_s, own.values) == (same.metric, same.at_s, pytest.approx(same.values))


FOREIGN = {
    "iostat of macOS": """\
              disk0       cpu    load average
    KB/t  tps  MB/s  us sy id   1m   5m   15m
   21.40   31  0.65   6  3 91  2.10 2.01 1.90
   16.00   12  0.19   4  2 94  2.10 2.01 1.90
""",
    "iostat of a BSD": """\
       tty             sd0           cpu
 tin tout kps tps serv   us sy wt id
   0    7   2   0    5    1  1  0 98
""",
    "iostat of Solaris or of a BSD": """\
                        extended device statistics
device       r/s     w/s     kr/s     kw/s  ms/r  ms/w  ms/o  ms/t qlen  %b
ada0           3      11     50.2    120.4     2     1     0     1    0   1
ada1           0       0      0.0      0.0     0     0     0     0    0   0
""",
    "iostat of AIX": """\
tty:      tin         tout    avg-cpu: % user % sys % idle % iowait
          0.0         12.3                1.2   0.8   97.5      0.5

Disks:         % tm_act     Kbps      tps    Kb_read   Kb_wrtn
hdisk0           1.2      34.5       4.1     123456     654321
""",
    "vmstat of a BSD": """\
procs     memory       page                    disks     faults         cpu
r b w     avm     fre  flt  re  pi  po    fr   sr ad0 ad1   in    sy    cs us sy id
0 0 0  512340  812340   12   0   0   0    14    3   0   0   21   230   310  1  1 98
""",
    "sar of Solaris, AIX": """\
SunOS thot 5.10 Generic i86pc    04/19/2011

21:17:24    %usr    %sys    %wio   %idle
21:17:25       1       2       0      97
21:17:26       4       6       0      90
""",
    "pidstat": """\
Linux 5.4.0 (thot) 	01/02/22 	_x86_64_	(4 CPU)

10:00:01      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command
10:00:02     1000      1234    2.00    1.00    0.00    0.00    3.00     1  mysqld
Average:     1000      1234    2.00    1.00    0.00    0.00    3.00     -  mysqld
""",
    "JSON of sadf -j": """\
{"sysstat": {
	"hosts": [{
		"nodename": "thot",
		"file-date": "2021-03-04",
		"file-utc-time": "10:20:30",
		"statistics": [{"interrupts": [{"intr": "sum", "value": 12.50}]}]
	}]
}}
""",
    "a table of sadf -d": """\
# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle
thot;10;2021-03-04 10:20:30 UTC;-1;2.10;0.00;1.30;0.20;0.00;96.40
thot;10;2021-03-04 10:20:40 UTC;-1;2.20;0.00;1.30;0.20;0.00;96.30
""",
}


@pytest.mark.parametrize("whose", FOREIGN)
def test_what_other_systems_print_is_named_and_not_misread(whose: str) -> None:
    log = formats.read(FOREIGN[whose])
    assert log.runs == ()
    assert log.remarks[0].startswith(f"it is {whose}")
    assert "read" in log.remarks[0], "what could be read instead is said"
    assert len(log.not_understood) == sum(1 for line in FOREIGN[whose].splitlines() if line.strip())


def test_a_table_of_processes_among_those_of_a_machine_tells_of_no_processor() -> None:
    pidstat = FOREIGN["pidstat"].split("\n\n")[1]
    text = _text("sar/processors-12.6")
    alone, mixed = formats.read(text, "sar"), formats.read(f"{text}\n{pidstat}", "sar")
    assert [one.readings for one in mixed.runs] == [one.readings for one in alone.runs]
    assert len(mixed.not_understood) == len(alone.not_understood) + 3


def test_a_line_of_vmstat_among_those_of_iostat_is_no_device() -> None:
    lines = _text("iostat/extended-9-megabytes").splitlines()
    head = next(line.split() for line in lines if line.startswith("Device"))
    of_vmstat = " 1  0" + "  12" * (len(head) - 2)
    log = formats.read("\n".join([*lines, of_vmstat]) + "\n")
    assert [line for _, line in log.not_understood] == [of_vmstat]
    assert not {course.subject for course in _courses(log)} & {"1", "12"}


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
def test_what_stands_before_every_line_is_no_part_of_it(name: str, how: str) -> None:
    text = _text(name)
    marked = "".join(MARKS[how](number) + line for number, line in enumerate(text.splitlines(keepends=True)))
    log, plain = formats.read(marked), formats.read(text)
    assert log.format == plain.format
    assert log.runs == plain.runs
    assert len(log.not_understood) == len(plain.not_understood)


def test_lines_of_several_machines_that_are_mixed_are_no_run() -> None:
    lines = _text("iostat/extended-12.6").splitlines()
    mixed = "\n".join(f"{machine}: {line}" for line in lines for machine in ("db1", "db2"))
    assert formats.read(mixed, "iostat").runs == ()


def test_the_report_since_boot_is_left_out_also_where_the_text_is_indented() -> None:
    text = _text("iostat/extended-12.6")
    quoted = "What I saw:\n" + "".join(f"    {line}" for line in text.splitlines(keepends=True))
    assert [course.values for course in _courses(formats.read(quoted))] == [
        course.values for course in _courses(formats.read(text))
    ]


EXTREMES = """\
Linux 6.1.0 (thot) 	04/18/24 	_x86_64_	(2 CPU)

13:20:19        CPU     %user     %nice   %system   %iowait    %steal     %idle
13:20:29        all      2.00      0.00      1.00      0.50      0.00     96.50
13:20:39        all      4.00      0.00      3.00      0.10      0.00     92.90

Summary:        CPU     %user     %nice   %system   %iowait    %steal     %idle
Minimum:        all      2.00      0.00      1.00      0.10      0.00     92.90
Maximum:        all      4.00      0.00      3.00      0.50      0.00     96.50
"""


def test_extremes_of_sar_are_no_average() -> None:
    average = "Average:        all      3.00      0.00      2.00      0.30      0.00     94.70\n"
    (cut,) = formats.read(EXTREMES).runs
    (whole,) = formats.read(EXTREMES + average).runs
    assert cut.readings == ()
    assert {one.metric: one.value for one in whole.readings}["cpu_user_share"] == pytest.approx(0.03)


def test_times_of_day_of_other_languages_and_options() -> None:
    head = "        CPU     %user     %nice   %system   %iowait    %steal     %idle"
    row = "        all      2,00      0,00      1,00      0,50      0,00     96,50"
    padded = f"Linux 6.1.0 (thot) \t18.04.2024 \t_x86_64_\t(2 CPU)\n\n 8,59,58{head}\n 8,59,59{row}\n 9,00,01{row}\n"
    since_1970 = f"1591016000{head}\n1591016001{row}\n1591016003{row}\n"
    for text in (padded, since_1970):
        log = formats.read(text)
        assert log.format == "sar"
        assert not log.not_understood
        assert _courses(log)[0].at_s == (1.0, 3.0)
    text = _text("iostat/extended-10-timestamps")
    other = re.sub(r"^.*?([0-9:]{8}) ?[AP]?M?$", "時間: 20時45分33秒", text, count=1, flags=re.MULTILINE)
    assert other != text
    assert not formats.read(other).not_understood


def test_gigabytes_of_iostat_are_binary_as_its_megabytes() -> None:
    text = _text("iostat/extended-9-megabytes")
    log = formats.read(text.replace("rMB/s", "rGB/s").replace("wMB/s", "wGB/s"))
    for one, other in zip(_courses(formats.read(text)), _courses(log), strict=True):
        times = 1024 if "bytes_per_s" in one.metric else 1
        assert other.values == pytest.approx([value * times for value in one.values])


def test_a_report_of_fio_that_somebody_indented_in_notes_is_read() -> None:
    text = _text("fio/normal-3.28")
    deeper = re.sub("^(?: {4,}| +(?=lat|\\|))", "\t\t", text, flags=re.MULTILINE)
    notes = "1. Random reads\n" + "".join(f"\t{line}" for line in deeper.splitlines(keepends=True))
    (run,), (plain,) = formats.read(notes).runs, formats.read(text).runs
    assert [(one.metric, one.value) for one in run.readings] == [(one.metric, one.value) for one in plain.readings]
    assert not run.missing


def test_a_build_of_tpcc_mysql_that_lost_its_signs_of_percent() -> None:
    name = next(
        path.stem for path in sorted((GOLDEN / "tpcc-mysql").glob("*.log")) if "95%:" in path.read_text("utf-8")
    )
    text = _text(f"tpcc-mysql/{name}")
    assert _courses(formats.read(text.replace("95%:", "95:").replace("99%:", "99:"))) == _courses(formats.read(text))


def test_words_after_a_whole_report_that_end_without_an_end_of_line_cut_nothing_off() -> None:
    text = _text("sysbench/oltp-0.5")
    assert formats.read(f"{text}\nThat is a lot.\n\nRegards").runs[0].missing == ""
    assert formats.read(f"{text}Thr").runs[0].missing


def test_a_log_of_two_tools_says_where_the_other_one_begins() -> None:
    sysbench, iostat = _text("sysbench/oltp-0.5"), _text("iostat/extended-12.6")
    log = formats.read(f"{sysbench}\n{iostat}")
    assert log.format == "sysbench"
    assert log.runs == formats.read(sysbench).runs
    first = len(sysbench.splitlines()) + 2
    assert f"it has output of iostat too, from line {first} on" in log.remarks[-1]
    assert not formats.read(f"{sysbench}\nI saw this on db1, and 12 more.\n").remarks


def test_a_line_of_fio_that_somebody_quoted_alone_is_of_no_job_before_it() -> None:
    text = _text("fio/normal-1.59")
    quoted = [
        "  read: IOPS=357, BW=44.7MiB/s (46.9MB/s)(896MiB/20044msec)",
        "  write: IOPS=105, BW=13.1MiB/s (13.8MB/s)(263MiB/20044msec); 0 zone resets",
        "    clat (usec): min=401, max=9123, avg=812.10, stdev=12.10",
    ]
    log = formats.read("\n".join([text, "And with others:", *quoted, ""]))
    assert log.runs == formats.read(text).runs
    assert [line for _, line in log.not_understood] == ["And with others:", *quoted]


@pytest.mark.parametrize("name", ["sysbench/oltp-0.5", "iostat/extended-12.6", "fio/normal-3.28"])
def test_a_report_between_much_that_a_script_says_is_found(name: str) -> None:
    much = "".join(f"+ apt-get install package-of-number-{number}\n" for number in range(2000))
    assert formats.recognise(much) is None
    log = formats.read(much + _text(name) + much)
    assert log.format == name.partition("/")[0]
    assert len(log.runs) == len(formats.read(_text(name)).runs)
    table = "| disk | read | write |\n|---|---|---|\n| sda | 12.5 | 13.5 |\n| sdb | 14.5 | 15.5 |\n\n"
    assert formats.recognise(table) == "table"
    assert formats.recognise(table + much + _text(name) + much) == log.format


def test_what_somebody_explains_behind_a_line_is_no_part_of_it() -> None:
    text = _text("sysbench/oltp-0.5")
    explained = re.sub("^( +(?:transactions|total time|avg):.*)$", "\\1      # what it means", text, flags=re.MULTILINE)
    assert explained.count("# what it means") == 3
    assert formats.read(explained).runs == formats.read(text).runs


@pytest.mark.parametrize("name", ["iostat/human-12.6-pretty", "pgbench/tpcb-9.4"])
def test_a_name_at_the_very_end_of_a_text_that_breaks_off_may_be_longer(name: str) -> None:
    text = _text(name).rstrip()
    whole, cut = formats.read(f"{text}\n"), formats.read(text[:-1])
    subjects = [{one.subject for run in log.runs for one in (*run.readings, *run.courses)} for log in (whole, cut)]
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


def test_users_that_run_their_queries_at_once_are_one_run_and_no_repetitions() -> None:
    log = formats.read(STREAMS)
    (run,) = log.runs
    assert (run.workload, run.load) == ("tpch", 2)
    assert {one.subject: one.value for one in run.readings if one.metric == "duration_s"} == {
        "query 14 of user 1": 1.25,
        "query 2 of user 2": 0.751,
        "query 2 of user 1": 0.802,
        "1 query sets of user 1": 2.0,
        "query 14 of user 2": 1.302,
        "query 14 of user 1 in set 2": 1.148,
        "1 query sets of user 2": 2.0,
    }
    assert not log.not_understood
    alone = "".join(line for line in STREAMS.splitlines(keepends=True) if not line.startswith("Vuser 2"))
    first, second = formats.read(alone).runs
    assert [one.subject for one in first.readings] == ["query 14", "query 2", "1 query sets", ""]
    assert [one.subject for one in second.readings] == ["query 14"]


def test_interval_lines_of_two_sysbench_that_wrote_at_once_are_no_course() -> None:
    lines = _text("sysbench/oltp-0.5").splitlines(keepends=True)
    mixed = "".join(line if "tps:" not in line else line + line.replace("tps: 4", "tps: 3") for line in lines)
    log, alone = formats.read(mixed), formats.read("".join(lines))
    assert [run.courses for run in log.runs] == [()]
    told, same = ([(one.metric, one.value) for one in each.runs[0].readings] for each in (log, alone))
    assert told == same
    assert len(log.not_understood) == 12
    assert "several sysbench wrote their interval lines at once" in log.remarks[0]


def test_mpstat_without_an_interval_tells_of_the_time_since_boot() -> None:
    head, row = _text("mpstat/every-12.6").splitlines()[2:4]
    at_once = f"{head}\n{row.replace('16:25:29', '16:25:28')}\n"
    (alone,), (sampled,) = formats.read(at_once).runs, formats.read(f"{head}\n{row}\n").runs
    assert (alone.workload, sampled.workload) == ("since boot", "")
    assert "since boot" in formats.read(at_once).remarks[0]


@pytest.mark.parametrize("name", ["vmstat/plain-repeated-heads", "iostat/extended-12.6", "sar/devices-10-24h"])
def test_a_blank_line_after_every_line_changes_nothing(name: str) -> None:
    text = _text(name)
    log, plain = formats.read(text.replace("\n", "\n\n")), formats.read(text)
    assert _courses(log) == _courses(plain)
    assert [[one.value for one in run.readings] for run in log.runs] == [
        [one.value for one in run.readings] for run in plain.runs
    ]


def test_marks_are_taken_off_also_where_lines_stand_around_them() -> None:
    text = _text("iostat/extended-12.6")
    marked = "".join(f"2024-05-06 07:08:09.123456\t{line}" for line in text.splitlines(keepends=True))
    for around in (f"```\n{marked}```\n", "".join(f"    {line}" for line in marked.splitlines(keepends=True))):
        assert _courses(formats.read(around)) == _courses(formats.read(text))


def test_a_tools_own_word_before_every_line_is_no_name_of_a_machine() -> None:
    progress = "".join(line for line in _text("pgbench/tpcb-15").splitlines(keepends=True) if "progress:" in line)
    log = formats.read(progress)
    assert (len(_courses(log)), log.not_understood) == (4, ())


def test_where_sysbench_begins_no_transaction_its_rate_is_that_of_events() -> None:
    text = _text("sysbench/select-0.5")
    (run,) = formats.read(text).runs
    rates = {one.subject: one.value for one in run.readings if one.metric == "throughput_per_s"}
    assert rates == {"transactions": 0.0, "": pytest.approx(197980 / 20.0008)}
    (course,) = [one for one in run.courses if one.metric == "throughput_per_s"]
    assert course.values == (9876.4, 9920.8)
    killed = text[: text.index("OLTP test statistics")]
    assert [one.subject for one in formats.read(killed).runs[0].courses if one.metric == "throughput_per_s"] == [
        "transactions"
    ]
    failed = text.replace("ignored errors:                      0 ", "ignored errors:                      7 ")
    (run,) = formats.read(failed).runs
    assert [one.value for one in run.readings if (one.metric, one.subject) == ("throughput_per_s", "")] == [0.0]


def test_no_processor_is_used_for_more_than_all_of_the_time() -> None:
    text = _text("mpstat/every-12.6")
    row = next(line for line in text.splitlines() if " all " in line and "Average" not in line)
    broken = text.replace(row, f"{row[: row.rindex(' ')]} 300")
    assert broken != text
    log = formats.read(broken)
    assert len(log.not_understood) == 1
    assert max(value for one in _courses(log) for value in one.values) <= 1


@pytest.mark.parametrize(
    ("part", "disk"),
    [("nvme1n1p2", "nvme1n1"), ("cciss/c0d1p3", "cciss/c0d1"), ("dasdb1", "dasdb"), ("mmcblk0p1", "mmcblk0")],
)
def test_a_partition_is_told_by_its_name(part: str, disk: str) -> None:
    text = _text("iostat/extended-9-megabytes")
    name = next(course.subject for course in _courses(formats.read(text)) if course.subject)
    log = formats.read(re.sub(rf"^{name} ", f"{part} ", text, flags=re.MULTILINE))
    assert any(f"{part} is a partition of {disk}" in remark for remark in log.remarks)


def test_a_table_of_somebodys_own_beside_output_of_another_tool_is_a_table() -> None:
    table = "| threads | tps |\n|---|---|\n" + "".join(f"| {n} | {n * 12.5} |\n" for n in range(1, 400))
    log = formats.read(f"{table}\nAnd this on the Mac:\n\n{FOREIGN['iostat of macOS']}")
    assert log.format == "table"
    assert len(log.runs) == 399
