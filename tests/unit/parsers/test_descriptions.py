"""Lists of settings and properties, which a folder of results often has beside its logs: no runs."""

import pytest

from paribus.parsers import formats

LSCPU = """\
Architecture:                       x86_64
  CPU op-mode(s):                   32-bit, 64-bit
  Address sizes:                    48 bits physical, 48 bits virtual
  Byte Order:                       Little Endian
CPU(s):                             16
  On-line CPU(s) list:              0-15
Model name:                         A processor
    Thread(s) per core:             2
    BogoMIPS:                       5988.00
Caches (sum of all):
  L1d:                              256 KiB (8 instances)
  L2:                               4 MiB (8 instances)
"""
VARIABLES = """\
+-----------------------------+-----------+
| Variable_name               | Value     |
+-----------------------------+-----------+
| innodb_buffer_pool_size     | 134217728 |
| innodb_io_capacity          | 200       |
| max_connections             | 151       |
+-----------------------------+-----------+
"""
STATUS = "Variable_name\tValue\nQueries\t172323\nThreads_running\t4\nInnodb_data_reads\t345\n"
SETTINGS = (
    "       name       | setting \n------------------+---------\n max_wal_size     | 1024\n shared_buffers   | 16384\n"
)
TSAR = """\
Time           ---cpu-- ---mem-- ---tcp-- -----traffic---- --sda---  ---load-
Time             util     util   retran    bytin  bytout     util     load1
29/11/26-10:00   12.31    45.12     0.01   12.3K   45.6K     3.20      0.50
29/11/26-10:05   13.31    45.22     0.02   13.3K   46.6K     4.20      0.60
"""
HARDWARE = "| Hardware | Spec |\n|---|---|\n| CPU | 2 x E5-2680 |\n| RAM | 128 GB |\n| Disks | 4 |\n"
GETCONF = """\
LINK_MAX                 65000
_POSIX_LINK_MAX          8
PATH_MAX                 4096
_POSIX_PATH_MAX          256
PIPE_BUF                 4096
"""
NUMASTAT = """\
                           node0           node1
numa_hit               123456789       223456789
numa_miss                   1234            5678
numa_foreign                5678            1234
local_node             123400000       223400000
other_node                 56789           56789
"""
NUMACTL = "node 0 free: 60123 MB\nnode distances:\nnode   0   1\n  0:  10  21\n  1:  21  10\n"
BGWRITER = (
    " checkpoints_timed | checkpoints_req | buffers_clean \n-------------------+-----------------+---------------\n"
    "              1234 |              56 |          1234\n(1 row)\n"
)
RESULTS = "| threads | tps |\n|---|---|\n| 8 | 1000 |\n| 16 | 1800 |\n"


@pytest.mark.parametrize(
    "text", [LSCPU, VARIABLES, STATUS, SETTINGS, TSAR, HARDWARE, GETCONF, NUMASTAT, NUMACTL, BGWRITER]
)
def test_descriptions_of_machines_and_servers_are_no_runs(text: str) -> None:
    log = formats.read(text)
    assert not log.runs
    assert len(log.not_understood) >= len([line for line in text.splitlines() if line.strip("+- ")]) - 1


@pytest.mark.parametrize("text", [LSCPU, VARIABLES, STATUS])
def test_results_beside_descriptions_are_read(text: str) -> None:
    log = formats.read(f"{text}\n{RESULTS}")
    assert [(run.load, run.readings[0].value) for run in log.runs] == [(8, 1000.0), (16, 1800.0)]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("         --ext4--  --xfs--\nthreads  tps_a     tps_b\n8        100       200\n16       150       280\n", 4),
        ("-----reads----- ----writes----\nthreads,tps,p99_ms\n8,100,2\n16,180,3\n", 2),
        ("| Config: | TPS |\n|---|---|\n| noop | 100 |\n| cfq | 90 |\n", 2),
        (
            "| | tps | qps |\n|---|---|---|\n| oltp_a | 1 | 2 |\n| oltp_b | 1 | 3 |\n"
            "| oltp_c | 1 | 4 |\n| oltp_d | 2 | 3 |\n",
            4,
        ),
        (
            "# TPS\n\n| | a | b |\n|---|---|---|\n| n_o | 9 | 8 |\n| m_q | 8 | 7 |\n| b_f | 7 | 6 |\n| k_y | 6 | 5 |\n",
            8,
        ),
        ("| Setting | TPS |\n|---|---|\n| noop | 100 |\n| cfq | 90 |\n", 2),
        ("Scheduler:   TPS\nnoop         100\ncfq          90\n", 2),
        (
            "pgbench --jobs 4 --time 60\n\n| shared_buffers | tps |\n|---|---|\n| 1GB | 812 |\n| 8GB | 910 |\n",
            2,
        ),
        ("variable_name,level,threads,tps\nio_capacity,200,8,100\nio_capacity,2000,8,120\n", 2),
        ("# TPS by I/O scheduler\n\n| Name | Value |\n|---|---|\n| noop | 100 |\n| cfq | 90 |\n", 2),
        ("| Name | Value |\n|---|---|\n| scheduler | noop |\n| TPS | 812 |\n| latency (ms) | 9 |\n", 1),
    ],
)
def test_tables_with_dashes_or_colons_in_their_heads_have_results(text: str, count: int) -> None:
    assert len(formats.read(text).runs) == count


def test_list_of_metrics_has_results() -> None:
    log = formats.read("Metric\tValue\nTPS\t1000\nLatency (ms)\t8.2\n")
    [run] = log.runs
    assert [reading.metric for reading in run.readings] == ["throughput_per_s", "response_mean_s"]


def test_counters_of_a_server_with_empty_values_are_no_results() -> None:
    rows = ["Variable_name\tValue", "Innodb_buffer_pool_dump_status\t", "Innodb_buffer_pool_load_incomplete\tOFF"]
    rows += [
        f"Innodb_{name}\t{number}"
        for number, name in enumerate(("data_reads", "rows_read", "data_writes", "rows_updated"))
    ]
    assert formats.read("\n".join(rows * 3) + "\n").runs == ()


def test_a_long_list_of_variables_without_heads_is_no_result_and_a_table_beside_it_is() -> None:
    names = [f"innodb_{kind}_{what}" for kind in ("buffer", "log", "flush", "undo") for what in "abcdefghijk"]
    values = ("ON", "134217728", "", "0.75", "a path")
    rows = [f"{name}\t{values[number % len(values)]}" for number, name in enumerate(["autocommit", *names, "port"])]
    assert formats.read("\n".join(rows) + "\n").runs == ()
    log = formats.read("\n".join(["threads\tTPS", "8\t812", "16\t910", "", *rows]) + "\n")
    assert [run.load for run in log.runs] == [8, 16]


def test_a_status_with_dates_padded_by_blanks_is_no_result() -> None:
    names = [f"Tls_{kind}_{part}" for kind in ("accepts", "cache", "cipher", "session") for part in "abcdefghijk"]
    rows = [f"{name}\t{('', 'ON', '12')[number % 3]}" for number, name in enumerate(names)]
    rows[22:22] = ["Ssl_server_not_after\tApr  6 04:50:47 2036 GMT", "option_tracker_usage:Binary Log\t0"]
    assert formats.read("\n".join(rows) + "\n").runs == ()


def test_a_counter_over_time_is_no_result_and_a_measure_is() -> None:
    def read(head: str) -> int:
        rows = [f"2026-04-09 21:36:{second},{second}" for second in range(10, 40)]
        return len(formats.read("\n".join([f"timestamp,{head}", *rows]) + "\n").runs)

    assert [read(head) for head in ("history_list_length", "tps", "value", "mean_qps")] == [0, 1, 1, 1]


def test_a_long_list_of_results_padded_by_blanks_is_read() -> None:
    rows = [f"query_{number}\t{number / 7:8.2f}" for number in range(1, 100)]
    assert len(formats.read("\n".join(["query\ttime (s)", *rows]) + "\n").runs) == 99


@pytest.mark.parametrize("heads", ["test\tops/s", "Query name\tTPS", "query\ttime (ms)", "benchmark\tv8.4"])
@pytest.mark.parametrize("rule", [[], ["----------\t--------"]])
def test_a_long_list_of_results_is_read(heads: str, rule: list[str]) -> None:
    rows = [f"job_{letter}\t{ord(letter)}{number}" for letter in "abcdefghijk" for number in range(5)]
    assert len(formats.read("\n".join([heads, *rule, *rows]) + "\n").runs) == 55


def test_a_summary_of_a_server_is_no_result_and_a_table_below_it_is() -> None:
    summary = """\
# Percona Toolkit MySQL Summary Report #######################
              System time | 2026-04-09 14:59:35 UTC (local TZ: UTC +0000)
# Status Counters (Wait 10 Seconds) ##########################
Variable                                Per day  Per second     10 secs
Bytes_received                           600000           7         600
Bytes_sent                         300000000000     3000000        3500
Com_select                             20000000         225           1
"""
    assert formats.read(summary).runs == ()
    table = "# Results\n\n| threads | 8.0 TPS | 8.4 TPS |\n|---|---|---|\n| 1 | 100 | 120 |\n| 2 | 190 | 240 |\n"
    assert len(formats.read(f"{summary}{table}").runs) == 4


def test_long_words_are_read_in_time_proportional_to_their_length() -> None:
    words = "\n".join("a" * 100_000 for _ in range(41))  # hours, if each were tried from every letter
    assert formats.read(f"| threads | TPS |\n|---|---|\n| 8 | 100 |\n| 16 | 190 |\n\n{words}\n", "table").runs


def test_years_of_a_licence_are_no_results() -> None:
    text = "# Copyright (C) 1994, 1995, 1996, 1997, 1998\n# 2003, 2004, 2005, 2006, 2007\n"
    assert formats.read(f"{text}# Free Software Foundation, Inc.\n").runs == ()
