"""Variants of iostat, vmstat, sar and mpstat output, and similar output of other systems."""

import re

import pytest
from golden_logs import courses_of, golden_text

from paribus.parsers import formats

FOREIGN = {
    "iostat of macOS": """\
              disk0       cpu    load average
    KB/t  tps  MB/s  us sy id   1m   5m   15m
   21.40   31  0.65   6  3 91  2.10 2.01 1.90
   16.00   12  0.19   4  2 94  2.10 2.01 1.90
""",
    "dstat": """\
You did not select any stats, using -cdngy by default.
----system---- ----total-usage---- -dsk/total-
     time     |usr sys idl wai stl| read  writ
09-04 16:28:44|  1   0  98   0   0|2345k  120k
09-04 16:28:45|  2   1  97   0   0|   0   512k
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
def test_output_of_other_systems_is_named_and_not_read(whose: str) -> None:
    log = formats.read(FOREIGN[whose])
    assert log.runs == ()
    assert log.remarks[0].startswith(f"it is {whose}")
    assert "read" in log.remarks[0], "what could be read instead is said"
    assert len(log.not_understood) == sum(1 for line in FOREIGN[whose].splitlines() if line.strip())


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("0 1 170027 0 1662132851 580065\n1 1 168589 0 1662132851 581837\n", "pgbench -l"),
        ("0, 123456, 0, 4096, 0\n1, 223456, 0, 4096, 4096\n", "write_lat_log"),
        (
            "#[Histogram log format version 1.3]\n"
            '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"\n'
            "0.127,1.007,2.769,HISTFAAAAEV42pNpmSz\n1.134,0.999,0.442,HISTFAAAAEJ42pNpmSz\n",
            "HdrHistogram",
        ),
    ],
)
def test_logs_of_single_operations_are_named_and_not_read(text: str, kind: str) -> None:
    log = formats.read(text)
    assert not log.runs
    assert kind in log.remarks[0]


def test_a_table_of_processes_yields_no_processor() -> None:
    pidstat = FOREIGN["pidstat"].split("\n\n")[1]
    text = golden_text("sar/processors-12.6")
    alone, mixed = formats.read(text, "sar"), formats.read(f"{text}\n{pidstat}", "sar")
    assert [run.readings for run in mixed.runs] == [run.readings for run in alone.runs]
    assert len(mixed.not_understood) == len(alone.not_understood) + 3


def test_a_line_of_vmstat_among_those_of_iostat_is_no_device() -> None:
    lines = golden_text("iostat/extended-9-megabytes").splitlines()
    head = next(line.split() for line in lines if line.startswith("Device"))
    of_vmstat = " 1  0" + "  12" * (len(head) - 2)
    log = formats.read("\n".join([*lines, of_vmstat]) + "\n")
    assert [line for _, line in log.not_understood] == [of_vmstat]
    assert not {course.subject for course in courses_of(log)} & {"1", "12"}


def test_lines_of_several_machines_that_are_mixed_are_no_run() -> None:
    lines = golden_text("iostat/extended-12.6").splitlines()
    mixed = "\n".join(f"{machine}: {line}" for line in lines for machine in ("db1", "db2"))
    assert formats.read(mixed, "iostat").runs == ()


def test_the_report_since_boot_is_omitted_in_indented_text() -> None:
    text = golden_text("iostat/extended-12.6")
    quoted = "What I saw:\n" + "".join(f"    {line}" for line in text.splitlines(keepends=True))
    assert [course.values for course in courses_of(formats.read(quoted))] == [
        course.values for course in courses_of(formats.read(text))
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
    assert {reading.metric: reading.value for reading in whole.readings}["cpu_user_share"] == pytest.approx(0.03)


def test_times_of_day_of_other_languages_and_options() -> None:
    head = "        CPU     %user     %nice   %system   %iowait    %steal     %idle"
    row = "        all      2,00      0,00      1,00      0,50      0,00     96,50"
    padded = f"Linux 6.1.0 (thot) \t18.04.2024 \t_x86_64_\t(2 CPU)\n\n 8,59,58{head}\n 8,59,59{row}\n 9,00,01{row}\n"
    since_1970 = f"1591016000{head}\n1591016001{row}\n1591016003{row}\n"
    for text in (padded, since_1970):
        log = formats.read(text)
        assert log.format == "sar"
        assert not log.not_understood
        assert courses_of(log)[0].at_s == (1.0, 3.0)
    text = golden_text("iostat/extended-10-timestamps")
    other = re.sub(r"^.*?([0-9:]{8}) ?[AP]?M?$", "時間: 20時45分33秒", text, count=1, flags=re.MULTILINE)
    assert other != text
    assert not formats.read(other).not_understood


def test_gigabytes_of_iostat_are_binary_as_its_megabytes() -> None:
    text = golden_text("iostat/extended-9-megabytes")
    log = formats.read(text.replace("rMB/s", "rGB/s").replace("wMB/s", "wGB/s"))
    for megabytes, gigabytes in zip(courses_of(formats.read(text)), courses_of(log), strict=True):
        times = 1024 if "bytes_per_s" in megabytes.metric else 1
        assert gigabytes.values == pytest.approx([value * times for value in megabytes.values])


def test_mpstat_without_an_interval_covers_the_time_since_boot() -> None:
    head, row = golden_text("mpstat/every-12.6").splitlines()[2:4]
    at_once = f"{head}\n{row.replace('16:25:29', '16:25:28')}\n"
    (alone,), (sampled,) = formats.read(at_once).runs, formats.read(f"{head}\n{row}\n").runs
    assert (alone.workload, sampled.workload) == ("since boot", "")
    assert "since boot" in formats.read(at_once).remarks[0]


@pytest.mark.parametrize("name", ["vmstat/plain-repeated-heads", "iostat/extended-12.6", "sar/devices-10-24h"])
def test_a_blank_line_after_every_line_changes_nothing(name: str) -> None:
    text = golden_text(name)
    log, plain = formats.read(text.replace("\n", "\n\n")), formats.read(text)
    assert courses_of(log) == courses_of(plain)
    assert [[reading.value for reading in run.readings] for run in log.runs] == [
        [reading.value for reading in run.readings] for run in plain.runs
    ]


def test_utilisation_above_100_percent_is_not_read() -> None:
    text = golden_text("mpstat/every-12.6")
    row = next(line for line in text.splitlines() if " all " in line and "Average" not in line)
    broken = text.replace(row, f"{row[: row.rindex(' ')]} 300")
    assert broken != text
    log = formats.read(broken)
    assert len(log.not_understood) == 1
    assert max(value for series in courses_of(log) for value in series.values) <= 1


@pytest.mark.parametrize(
    ("part", "disk"),
    [("nvme1n1p2", "nvme1n1"), ("cciss/c0d1p3", "cciss/c0d1"), ("dasdb1", "dasdb"), ("mmcblk0p1", "mmcblk0")],
)
def test_a_partition_is_recognised_by_its_name(part: str, disk: str) -> None:
    text = golden_text("iostat/extended-9-megabytes")
    name = next(course.subject for course in courses_of(formats.read(text)) if course.subject)
    log = formats.read(re.sub(rf"^{name} ", f"{part} ", text, flags=re.MULTILINE))
    assert any(f"{part} is a partition of {disk}" in remark for remark in log.remarks)


def test_a_users_table_next_to_tool_output_is_a_table() -> None:
    table = "| threads | tps |\n|---|---|\n" + "".join(f"| {n} | {n * 12.5} |\n" for n in range(1, 400))
    log = formats.read(f"{table}\nAnd this on the Mac:\n\n{FOREIGN['iostat of macOS']}")
    assert log.format == "table"
    assert len(log.runs) == 399


def test_a_repeated_device_without_a_head_starts_the_next_report() -> None:
    lines = golden_text("iostat/extended-9-megabytes").splitlines()
    head = next(line for line in lines if line.startswith("Device"))
    name = lines[lines.index(head) + 1].split()[0]
    rows = [line for line in lines if line.startswith(f"{name} ")]
    log = formats.read("\n".join([head, *rows]) + "\n")
    assert {course.at_s for course in courses_of(log)} == {tuple(float(n) for n in range(1, len(rows) + 1))}
    assert "may be of the time since boot" in log.remarks[0]
