"""Reader of sar of sysstat: CPU (-u), devices (-d, -b), load (-q), network (-n DEV), paging (-B, -W), switches (-w)."""

import re

from paribus.parsers.log import Log
from paribus.parsers.plain import ends_of
from paribus.parsers.sysstat import timed_tables
from paribus.parsers.sysstat.samples import CPU, SysstatColumn, shares, sizes

FORMAT = "sar"

_COLUMNS: dict[str, SysstatColumn] = {
    **CPU,
    **{
        name: SysstatColumn(metric, "1/s")
        for name, metric in {
            "tps": "device_operations_per_s",
            "rtps": "device_reads_per_s",
            "wtps": "device_writes_per_s",
            "dtps": "device_discards_per_s",
            "rxpck/s": "network_received_packets_per_s",
            "txpck/s": "network_sent_packets_per_s",
            "proc/s": "processes_created_per_s",
            "cswch/s": "context_switches_per_s",
            "intr/s": "interrupts_per_s",
            "fault/s": "page_faults_per_s",
            "majflt/s": "major_page_faults_per_s",
            "pswpin/s": "pages_swapped_in_per_s",
            "pswpout/s": "pages_swapped_out_per_s",
        }.items()
    },
    "avgqu-sz": SysstatColumn("device_queue", "1"),
    "aqu-sz": SysstatColumn("device_queue", "1"),
    "await": SysstatColumn("device_await_s", "s", 0.001),
    "svctm": SysstatColumn("device_service_s", "s", 0.001),
    "avgrq-sz": SysstatColumn("device_request_bytes", "B", 512.0, size=True),
    **sizes({"areq-sz": "device_request_bytes"}, 1024.0, "B"),
    # bread/s and bwrtn/s count 512-byte blocks, like rd_sec/s and wr_sec/s; kB means KiB, for networks too.
    **sizes({"bread/s": "device_read_bytes_per_s", "bwrtn/s": "device_written_bytes_per_s"}, 512.0),
    **sizes({"bdscd/s": "device_discarded_bytes_per_s"}, 512.0),
    **sizes({"rd_sec/s": "device_read_bytes_per_s", "wr_sec/s": "device_written_bytes_per_s"}, 512.0),
    **sizes({"rkB/s": "device_read_bytes_per_s", "wkB/s": "device_written_bytes_per_s"}, 1024.0),
    **sizes({"dkB/s": "device_discarded_bytes_per_s"}, 1024.0),
    **sizes({"pgpgin/s": "paged_in_bytes_per_s", "pgpgout/s": "paged_out_bytes_per_s"}, 1024.0),
    **sizes({"rxkB/s": "network_received_bytes_per_s", "txkB/s": "network_sent_bytes_per_s"}, 1024.0),
    **sizes({"rxbyt/s": "network_received_bytes_per_s", "txbyt/s": "network_sent_bytes_per_s"}, 1.0),
    **shares({"%util": "device_utilisation", "%ifutil": "network_utilisation"}),
    "runq-sz": SysstatColumn("run_queue", "1"),
    "plist-sz": SysstatColumn("tasks", "count"),
    "ldavg-1": SysstatColumn("load_average", "1"),
    "ldavg-5": SysstatColumn("load_average_5min", "1"),
    "ldavg-15": SysstatColumn("load_average_15min", "1"),
    "blocked": SysstatColumn("blocked_tasks", "count"),
}
_HEAD = re.compile(
    r"^[ \t]*[^\s<]\S*(?: [AP]M)? +(?:CPU +%us(?:er +%nice +%system|r +%nice +%sys +%iowait +%steal)|"
    r"DEV +tps|tps +rtps|runq-sz +plist-sz|IFACE +rx|proc/s|cswch/s|pgpgin/s|pswpin/s|kbmemfree|call/s|totsck)",
    re.MULTILINE,
)
_NOT_LINUX = re.compile(r"^(?:SunOS|AIX|HP-UX) \S", re.MULTILINE)
_OTHER = re.compile(
    r"Linux \S+ \([^)]*\)[^\n]*\n\s*\n?[0-9]{1,2}[:.][0-9]{2}[:.][0-9]{2}\b"
)  # other tables under the banner


def recognises(text: str) -> float:
    """Score by the heads of the tables, which start with a time of day."""
    ends = ends_of(text)
    if _NOT_LINUX.search(ends):
        return 0.0
    return 0.9 if _HEAD.search(ends) else 0.7 if _OTHER.match(ends.lstrip()) else 0.0


def read(text: str) -> Log:
    """Read the time series of each device and processor; `Average:` lines in any language are readings."""
    return timed_tables.read(text, FORMAT, _COLUMNS)
