"""Signatures of output that resembles a supported format but belongs to another tool or operating system.

Other systems have their own iostat, vmstat and sar, with different columns under the same names.
"""

import re
from collections.abc import Mapping

from paribus.parsers.plain import ends_of

_LINUX = "of {}, that of Linux is read"
_SADF = "of what sar collected, that which `sar -f FILE` prints is read"
_OTHERS: Mapping[str, str] = {
    r"^.*\bKB/t +(?:tps|xfrs) +MB": f"iostat of macOS or of a BSD: {_LINUX.format('iostat')}",
    r"^ *tin +tout\b": f"iostat of a BSD or of Solaris: {_LINUX.format('iostat')}",
    r"^(?:.*[ ,])?[kM]r/[si][ ,]+[kM]w/[si]\b": f"iostat of Solaris or of a BSD: {_LINUX.format('iostat')}",
    r"^.*% tm_act\b": f"iostat of AIX: {_LINUX.format('iostat')}",
    r"^ *r +[bs](?: +w)? +avm +fre": f"vmstat of a BSD or of AIX: {_LINUX.format('vmstat')}",
    r"^ *r +b +w +swap +free": f"vmstat of Solaris: {_LINUX.format('vmstat')}",
    r"^Mach Virtual Memory Statistics": f"vm_stat of macOS: {_LINUX.format('vmstat')}",
    r"^ *(?:CPU|SET) +minf +mjf\b": f"mpstat of Solaris: {_LINUX.format('mpstat')}",
    r"^ *\S+ +(?:%usr +%sys +%wio|device +%busy +avque|bread/s +lread/s|runq-sz +%runocc|swpin/s +[bp]swin/s)\b"
    r"|^(?:SunOS|AIX|HP-UX) \S.*[0-9]{2}/[0-9]{2}/[0-9]{2,4}\s*$": (
        f"sar of Solaris, AIX, HP-UX or another System V: {_LINUX.format('sar')}"
    ),
    r"^\S+(?: [AP]M)? +(?:(?:UID|USER) +)?(?:TGID +TID|PID) .*\bCommand\b": (
        "pidstat, which is not read: iostat, vmstat, sar and mpstat report the machine"
    ),
    r"\A(?:#.*\n)*(?:[0-9]{1,7} ){2}(?:[0-9]{1,12}|skipped|failed|serialization|deadlock) "
    r"[0-9]{1,3} [0-9]{10} [0-9]{1,6}(?: |$)": (
        "a log of single transactions (pgbench -l), one part for each thread: what pgbench printed is read"
    ),
    r"\A(?:[0-9]{1,12}, ){2}[012], [0-9]{1,9}(?:, (?:[0-9]{1,18}|0x[0-9a-f]{1,8})){0,3}$": (
        "a log of single operations of fio (write_lat_log, write_bw_log, write_iops_log): what fio printed is read"
    ),
    r"^#\[Histogram log format version ": "a log of HdrHistogram, which is not read: what the tool printed is read",
    r"^ *pool +alloc +free +read +write\b": "zpool iostat, which is not read: iostat reports the same devices",
    r"^ *ops/s +rpc bklog\b": "nfsiostat, which is not read: iostat reports devices",
    r"-total-(?:cpu|cpu-usage|usage)-": "dstat, which is not read: vmstat reports the same",
    r"^top - [0-9:]+ up ": "top, which is not read: vmstat reports the machine",
    r"^# hostname;interval;timestamp;": f"a table of sadf -d: {_SADF}",
    r'^\s*"file-utc-time":': f"JSON of sadf -j: {_SADF}",
    r"^<sysstat\b": f"XML of sadf -x: {_SADF}",
    r"^\S+\t[0-9]+\t[0-9-]+ [0-9:]+(?: UTC)?\t(?:-|\w+)\t[\w%/.-]+\t[0-9.-]+$": f"what sadf -p prints: {_SADF}",
}
_SIGNS = tuple((re.compile(sign, re.MULTILINE), description) for sign, description in _OTHERS.items())


def name(text: str) -> str:
    """Name the tool of an unsupported output and the supported alternative; empty for any other text."""
    ends = ends_of(text)
    return next((description for sign, description in _SIGNS if sign.search(ends)), "")
