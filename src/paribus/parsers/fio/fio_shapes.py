"""What the lines of fio's report for people look like, of 1.x to 3.x, and how it writes sizes and times."""

import re
from datetime import UTC, datetime

from paribus.parsers.numbers import number

JOB = re.compile(
    r"(?P<job>.*): \(groupid=(?P<group>[0-9]+), jobs=(?P<jobs>[0-9]{1,6})\): err= *(?P<error>[0-9]+)\b"
    r"(?:[^:]*: pid=(?P<pid>[0-9]+)(?:: (?P<when>.*))?)?.*"
)
ASKED = re.compile(
    r"(?P<job>.*): \(g=[0-9]+\): rw=(?P<rw>[^,]+), bs=(?P<bs>.*), ioengine=(?P<engine>[^,]+), iodepth=(?P<depth>[0-9]+)"
)
NOW = re.compile(
    r"\s*(?P<side>read|write|trim|mixed) ?: IOPS=(?P<rate>[^,]+), BW=(?P<bw>\S+)(?: \(\S+\))? ?"
    r"\((?P<moved>[^/)]+)/(?P<ms>[0-9]+)msec\)(?:;.*)?"
)
OLD = re.compile(
    r"\s*(?P<side>read|write|trim|mixed) ?: io= *(?P<moved>[^,]+), bw= *(?P<bw>[^,]+), iops= *(?P<rate>[^, ]+) *, "
    r"runt= *(?P<ms>[0-9]+) ?msec"
)
TIME = re.compile(  # until 2.1 there is a blank before commas
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
VERSION = re.compile(r"fio[- ]([0-9][^\s,]*)|(2\.0\.[0-9]+)")
KNOWN = re.compile(  # said on the way, or parts of a report that nothing is taken from
    r"\.\.\.$|Starting [0-9]|Jobs: [0-9]|.*: Laying out IO file|\s*Disk stats \(read/write\):$|\s+Description *: \[|"
    r"\s*bw \( *[KMGk]?i?[Bb](?:it)? *(?:/s)?\) ?: |\s+iops +: |\s+lat \([num]sec\) *: |\s+IO depths +: |"
    r"\s+submit +: |\s+complete +: |\s+fsync/fdatasync/sync_file_range:$|\s+latency +: target=|\s+errors +: total="
)
PER_SECOND = {"nsec": 1e9, "usec": 1e6, "msec": 1e3, "sec": 1.0}
SAID = {"lat": "response", "clat": "completion", "slat": "submission", "sync": "response"}
SIZE = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]+)?)(?P<prefix>[kKMGTPE]?)(?P<binary>i?)(?P<unit>B|bit)?(?P<rate>/s)?")
RATE = re.compile(r"([0-9]+(?:\.[0-9]+)?)([kKMG]?)")
POWERS = "_KMGTPE"
_GROUPED = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")


def ungrouped(text: str) -> str:
    """The text without the commas that 1.2 groups thousands with in lines of rates; no version has decimal ones."""
    return _GROUPED.sub("", text) if "bw=" in text or "aggrb=" in text else text


def size(word: str) -> float | None:
    """A size or rate in bytes. 3.x writes KiB for 1024 and kB for 1000; 2.x has KB, which is 1024 (kb_base)."""
    match = SIZE.fullmatch(word.strip())
    if match is None or not (match["unit"] or match["prefix"] == ""):
        return None
    value, prefix, power = number(match["number"]), match["prefix"].upper(), 0
    old = not match["binary"] and match["prefix"] == "K"
    if value is None or (prefix in ("P", "E") and not match["binary"]):
        return None  # 2.x wrote P for what is T
    power = POWERS.index(prefix) if prefix else 0
    binary = match["binary"] or old
    base = 1024.0 if binary else 1000.0
    return float(value * base**power / (8 if match["unit"] == "bit" else 1))


def count(word: str) -> float | None:
    """A number that may end in k or M, which are 1000 and a million where no unit follows."""
    match = RATE.fullmatch(word)
    value = number(match[1]) if match else None
    return None if match is None or value is None else value * 1000.0 ** POWERS.index((match[2] or "_").upper())


def seconds(when: str) -> float | None:
    """When fio says that it made a report: `Mon Mar  7 10:15:30 2022`."""
    try:
        return datetime.strptime(when.strip(), "%a %b %d %H:%M:%S %Y").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None
