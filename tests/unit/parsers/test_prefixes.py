"""Prefixes that tools and people put before the lines of a report."""

import pytest
from golden_logs import golden_text

from paribus.parsers import formats

CLIENT = """hostname=db1, be=0, 64-bit, os=Linux, arch=x86-64, fio=fio-3.7, flags=1
<db1> load: (g=0): rw=randwrite, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=16
<db1> scan: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=16
<db1> Starting 2 processes

load: (groupid=0, jobs=1): err= 0: pid=100: Mon Apr 15 17:20:54 2024
  write: IOPS=2950, BW=11.5MiB/s (12.1MB/s)(346MiB/30008msec)
  cpu          : usr=0.33%, sys=1.70%, ctx=9013, majf=0, minf=32
     issued rwts: total=0,88520,0,0 short=0,0,0,0 dropped=0,0,0,0
scan: (groupid=0, jobs=1): err= 0: pid=101: Mon Apr 15 17:20:54 2024
  read: IOPS=5950, BW=23.2MiB/s (24.4MB/s)(697MiB/30008msec)
  cpu          : usr=0.33%, sys=1.70%, ctx=9013, majf=0, minf=32
     issued rwts: total=178550,0,0,0 short=0,0,0,0 dropped=0,0,0,0
All clients: (groupid=0, jobs=2): err= 0: pid=0: Mon Apr 15 17:20:54 2024
  write: IOPS=8900, BW=34.8MiB/s (36.5MB/s)(1043MiB/30008msec)
"""


def test_jobs_of_a_client_have_their_options_and_the_host() -> None:
    everywhere = "\n".join(line if line[:1] in ("<", "h", "") else f"<db1> {line}" for line in CLIENT.splitlines())
    for text in (CLIENT, f"{everywhere}\n"):
        log = formats.read(text)
        assert not log.not_understood
        assert [(run.version, run.workload, run.load, run.labels, run.missing) for run in log.runs] == [
            ("3.7", "randwrite", 16, {"job": "load", "host": "db1"}, ""),
            ("3.7", "randread", 16, {"job": "scan", "host": "db1"}, ""),
        ]


def test_options_that_differ_between_hosts_belong_to_no_report() -> None:
    other = "<db2> scan: (g=0): rw=write, bs=4096B-4096B, ioengine=sync, iodepth=1\n"
    load, scan = formats.read(CLIENT.replace("<db1> Starting", f"{other}<db1> Starting")).runs
    assert (load.workload, scan.workload) == ("randwrite", "")
    assert "host" not in scan.labels


@pytest.mark.parametrize("name", ["fio/normal-2.1.11", "iostat/extended-12.6", "pgbench/tpcb-15"])
def test_a_commented_report_is_read(name: str) -> None:
    text = golden_text(name)
    commented = formats.read("".join(f"# {line}" for line in text.splitlines(keepends=True)))
    assert commented.runs == formats.read(text).runs
