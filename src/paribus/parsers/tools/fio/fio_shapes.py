"""Line patterns of fio's normal report, 1.x to 3.x, and its notation of sizes and times."""

import re
from datetime import UTC, datetime

from paribus.parsers.numbers import number

JOB = re.compile(
    r"(?P<job>.*): \(groupid=(?P<group>[0-9]+), jobs=(?P<jobs>[0-9]{1,6})\): err= *(?P<error>[0-9]+)\b"
    r"(?:[^:]*: pid=(?P<pid>[0-9]+)(?:: (?P<when>.*))?)?.*"
)
JOB_OPTIONS = re.compile(
    r"(?P<job>.*): \(g=[0-9]+\): rw=(?P<rw>[^,]+), bs=(?P<bs>.*), ioengine=(?P<engine>[^,]+), iodepth=(?P<depth>[0-9]+)"
)
DIRECTION = re.compile(
    r"\s*(?P<side>read|write|trim|mixed) ?: IOPS=(?P<rate>[^,]+), BW=(?P<bw>\S+)(?: \(\S+\))? ?"
    r"\((?P<moved>[^/)]+)/(?P<ms>[0-9]+)msec\)(?:;.*)?"
)
OLD_DIRECTION = re.compile(
    r"\s*(?P<side>read|write|trim|mixed) ?: io= *(?P<moved>[^,]+), bw= *(?P<bw>[^,]+), iops= *(?P<rate>[^, ]+) *, "
    r"runt= *(?P<ms>[0-9]+) ?msec"
)
TIME = re.compile(  # up to 2.1 a blank precedes commas
    r"\s*(?P<kind>slat|clat|lat|sync) \((?P<unit>[num]?sec)\) ?: min= *(?P<min>[^\s,]+) ?, max= *(?P<max>[^\s,]+) ?, "
    r"avg= *(?P<mean>[0-9]+\.[0-9]{2}), stdev= *(?P<stddev>[0-9]+\.[0-9]{2})"
)
PERCENTILES = re.compile(r"\s*(?P<kind>slat|clat|lat|sync)? *percentiles \((?P<unit>[num]sec)\):")
PERCENTILE = re.compile(r"([0-9]{1,3}\.[0-9]+)th=\[ *([0-9]+)\]")
ISSUED = re.compile(
    r"\s*issued *(?:rwts?|r/w(?:/d)?)?: *total=(?:r=([0-9]+)/w=([0-9]+)/d=([0-9]+)|"
    r"([0-9]+),([0-9]+),([0-9]+)(?:,[0-9]+)?|([0-9]+)/([0-9]+)(?:/([0-9]+))?),? .*"
)
CPU = re.compile(r"\s*cpu *: usr=(?P<usr>[0-9.]+)%, sys=(?P<sys>[0-9.]+)%, .*")
STATUS = re.compile(r"\s*Run status group (?P<group>[0-9]+) \(all jobs\):")
SUM = re.compile(
    r"\s*(?P<side>READ|WRITE|TRIM|MIXED): bw=(?P<bw>\S+) .*, io=(?P<moved>\S+)(?: \(\S+\))?, "
    r"run=[0-9]+-(?P<ms>[0-9]+)msec"
)
OLD_SUM = re.compile(
    r"\s*(?P<side>READ|WRITE|TRIM|MIXED): io= *(?P<moved>[^,]+), aggrb= *(?P<bw>[^,]+), minb=.*, "
    r"maxt= *(?P<ms>[0-9]+) ?msec"
)
DISK = re.compile(r"\s*(?P<name>\S+): ios=[0-9]+/[0-9]+, .*\butil=(?P<util>[0-9]+\.[0-9]{2})%.*")
VERSION = re.compile(r"fio[- ]([0-9][^\s,]*)|(2\.0\.[0-9]+)|hostname=.*\bfio=(?:fio-)?([0-9][^\s,]*).*")
HOST = re.compile(r"\s*<(?P<host>[\w.:-]{1,255})> ")  # of fio --client
IGNORED = re.compile(  # progress messages and parts of a report that are not used
    r"\.\.\.$|Starting [0-9]|Jobs: [0-9]|.*: Laying out IO file|\s*Disk stats \(read/write\):$|\s+Description *: \[|"
    r"\s*bw \( *[KMGk]?i?[Bb](?:it)? *(?:/s)?\) ?: |\s+iops +: |\s+lat \([num]sec\) *: |\s+IO depths +: |"
    r"\s+submit +: |\s+complete +: |\s+fsync/fdatasync/sync_file_range:$|\s+latency +: target=|\s+errors +: total="
)
PER_SECOND = {"nsec": 1e9, "usec": 1e6, "msec": 1e3, "sec": 1.0}
TIME_NAMES = {"lat": "response", "clat": "completion", "slat": "submission", "sync": "response"}
SIZE = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]+)?)(?P<prefix>[kKMGTPE]?)(?P<binary>i?)(?P<unit>B|bit)?(?P<rate>/s)?")
RATE = re.compile(r"([0-9]+(?:\.[0-9]+)?)([kKMG]?)")
POWERS = "_KMGTPE"
_GROUPED = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")


def ungrouped(text: str) -> str:
    """Remove the thousands separators that 1.2 prints in lines of rates; no version has decimal commas."""
    return _GROUPED.sub("", text) if "bw=" in text or "aggrb=" in text else text


def size(word: str) -> float | None:
    """Return a size or rate in bytes. 3.x: KiB is 1024, kB is 1000; 2.x: KB is 1024 (kb_base)."""
    match = SIZE.fullmatch(word.strip())
    if match is None or not (match["unit"] or match["prefix"] == ""):
        return None
    value, prefix, power = number(match["number"]), match["prefix"].upper(), 0
    old = not match["binary"] and match["prefix"] == "K"
    if value is None or (prefix in ("P", "E") and not match["binary"]):
        return None  # 2.x prints P for T
    power = POWERS.index(prefix) if prefix else 0
    binary = match["binary"] or old
    base = 1024.0 if binary else 1000.0
    return float(value * base**power / (8 if match["unit"] == "bit" else 1))


def count(word: str) -> float | None:
    """Return a number with an optional suffix k or M (1000 and 1000000, since no unit follows)."""
    match = RATE.fullmatch(word)
    value = number(match[1]) if match else None
    return None if match is None or value is None else value * 1000.0 ** POWERS.index((match[2] or "_").upper())


def seconds(when: str) -> float | None:
    """Return the Unix time of a report's date, `Mon Mar  7 10:15:30 2022`; None if it is no date."""
    try:
        return datetime.strptime(when.strip(), "%a %b %d %H:%M:%S %Y").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None
