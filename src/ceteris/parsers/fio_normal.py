"""fio's report for people, of 2.x (`io=…, bw=…, iops=…, runt=…`) and 3.x (`IOPS=…, BW=…`)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ceteris.parsers.fio_run import COMPLETION, Sheet, percentile, run
from ceteris.parsers.log import Reading, Run
from ceteris.parsers.numbers import number

GROUP = "all jobs of a group"
_JOB = re.compile(r"(?P<job>.*): \(groupid=(?P<group>[0-9]+), jobs=(?P<jobs>[0-9]{1,6})\): err= *(?P<error>[0-9]+)\b.*")
_ASKED = re.compile(
    r"(?P<job>.*): \(g=[0-9]+\): rw=(?P<rw>[^,]+), bs=(?P<bs>.*), ioengine=(?P<engine>[^,]+), iodepth=(?P<depth>[0-9]+)"
)
_NOW = re.compile(
    r"  (?P<side>read|write|trim|mixed) ?: IOPS=(?P<rate>[^,]+), BW=(?P<bw>\S+)(?: \(\S+\))? ?"
    r"\((?P<moved>[^/)]+)/(?P<ms>[0-9]+)msec\)(?:;.*)?"
)
_OLD = re.compile(
    r"  (?P<side>read|write|trim|mixed) ?: io= *(?P<moved>[^,]+), bw= *(?P<bw>[^,]+), iops= *(?P<rate>[^, ]+) *, "
    r"runt= *(?P<ms>[0-9]+) ?msec"
)
_TIME = re.compile(
    r" *(?P<kind>slat|clat|lat|sync) \((?P<unit>[num]?sec)\) ?: min= *(?P<min>\S+), max= *(?P<max>\S+), "
    r"avg= *(?P<mean>[0-9]+\.[0-9]{2}), stdev= *(?P<stddev>[0-9]+\.[0-9]{2})"
)
_PERCENTILES = re.compile(r" *(?P<kind>slat|clat|lat|sync)? *percentiles \((?P<unit>[num]sec)\):")
_PERCENTILE = re.compile(r"([0-9]{1,3}\.[0-9]+)th=\[ *([0-9]+)\]")
_ISSUED = re.compile(
    r" *issued *(?:rwts?)?: *total=(?:r=([0-9]+)/w=([0-9]+)/d=([0-9]+)|([0-9]+),([0-9]+),([0-9]+)(?:,[0-9]+)?),? .*"
)
_CPU = re.compile(r"  cpu *: usr=(?P<usr>[0-9.]+)%, sys=(?P<sys>[0-9.]+)%, .*")
_STATUS = re.compile(r"Run status group (?P<group>[0-9]+) \(all jobs\):")
_SUM = re.compile(
    r" *(?P<side>READ|WRITE|TRIM|MIXED): bw=(?P<bw>\S+) .*, io=(?P<moved>\S+)(?: \(\S+\))?, "
    r"run=[0-9]+-(?P<ms>[0-9]+)msec"
)
_OLD_SUM = re.compile(
    r" *(?P<side>READ|WRITE|TRIM|MIXED): io= *(?P<moved>[^,]+), aggrb= *(?P<bw>[^,]+), minb=.*, "
    r"maxt= *(?P<ms>[0-9]+) ?msec"
)
_DISK = re.compile(r" *(?P<name>\S+): ios=[0-9]+/[0-9]+, .*\butil=(?P<util>[0-9]+\.[0-9]{2})%.*")
_VERSION = re.compile(r"fio[- ]([0-9][^\s,]*)")
_KNOWN = re.compile(  # said on the way, or parts of a report that nothing is taken from
    r"\.\.\.$|Starting [0-9]|Jobs: [0-9]|.*: Laying out IO file|Disk stats \(read/write\):$|  Description *: \[|"
    r" *bw \( *[KMGk]?i?[Bb](?:it)? *(?:/s)?\) ?: |   iops +: |  +lat \([num]sec\) *: |  IO depths +: |"
    r" +submit +: | +complete +: |  fsync/fdatasync/sync_file_range:$| +latency +: target=| +errors +: total="
)
_PER_SECOND = {"nsec": 1e9, "usec": 1e6, "msec": 1e3, "sec": 1.0}
_SAID = {"lat": "response", "clat": "completion", "slat": "submission", "sync": "response"}
_SIZE = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]+)?)(?P<prefix>[kKMGTPE]?)(?P<binary>i?)(?P<unit>B|bit)?(?P<rate>/s)?")
_RATE = re.compile(r"([0-9]+(?:\.[0-9]+)?)([kKMG]?)")
_POWERS = "_KMGTPE"


def recognises(text: str) -> float:
    """By the line that heads a job's report."""
    return 0.9 if "(groupid=" in text and ": err=" in text else 0.4 if "Run status group" in text else 0.0


def size(word: str) -> float | None:
    """A size or rate in bytes. 3.x writes KiB for 1024 and kB for 1000; 2.x has KB, which is 1024 (kb_base)."""
    found = _SIZE.fullmatch(word.strip())
    if found is None or not (found["unit"] or found["prefix"] == ""):
        return None
    value, prefix, power = number(found["number"]), found["prefix"].upper(), 0
    old = not found["binary"] and found["prefix"] == "K"
    if value is None or (prefix in ("P", "E") and not found["binary"]):
        return None  # 2.x wrote P for what is T
    power = _POWERS.index(prefix) if prefix else 0
    binary = found["binary"] or old
    base = 1024.0 if binary else 1000.0
    return float(value * base**power / (8 if found["unit"] == "bit" else 1))


@dataclass(slots=True)
class _Job:
    """A job's report, as far as it was read."""

    name: str
    group: str
    jobs: int
    first: int
    last: int
    version: str
    options: Mapping[str, str]
    sheet: Sheet = field(default_factory=Sheet)
    side: str = ""
    kind: str = ""  # what percentiles are of
    per_s: float = 1.0
    unit: str = ""
    directions_end: bool = False
    ended: bool = False
    grouped: bool = False

    def run(self) -> Run:
        self.sheet.both = self.directions_end
        return run(
            self.sheet,
            version=self.version,
            options=self.options,
            job=self.name,
            jobs=self.jobs,
            lines=(self.first, self.last),
            missing="" if self.ended else f"the job's report breaks off after line {self.last}",
        )


@dataclass(slots=True)
class _Reports:
    """All that is read so far."""

    version: str = ""
    asked: dict[str, dict[str, str]] = field(default_factory=dict)
    jobs: list[_Job] = field(default_factory=list)
    groups: list[_Job] = field(default_factory=list)
    now: _Job | None = None
    binary: bool = False  # a 2.x report, whose MB are MiB
    completion: bool = False

    def line(self, line: int, text: str) -> bool:
        """Whether the line is one of fio's."""
        if "(groupid=" in text and (found := _JOB.fullmatch(text)):
            self.now = _Job(
                name=found["job"],
                group=found["group"],
                jobs=int(found["jobs"]),
                first=line,
                last=line,
                version=self.version,
                options=self.asked.get(found["job"], {}),
            )
            self.jobs.append(self.now)
            if error := number(found["error"]):
                stated = found["error"]
                self.now.sheet.more.append(
                    Reading(metric="error_code", value=error, unit="count", line=line, stated=stated)
                )
            return True
        if found := _STATUS.fullmatch(text):
            self.now = _Job(
                name=f"group {found['group']}",
                group=found["group"],
                jobs=1,
                first=line,
                last=line,
                version=self.version,
                options={},
                ended=True,
            )
            self.groups.append(self.now)
            return True
        if "(g=" in text and (found := _ASKED.fullmatch(text)):
            names = {"rw": "rw", "bs": "bs", "ioengine": "engine", "iodepth": "depth"}
            self.asked[found["job"]] = {name: found[part] for name, part in names.items()}
            return True
        if found := _VERSION.fullmatch(text):
            self.version = found[1]
            return True
        if self.now is not None and self._of_job(self.now, line, text):
            self.now.last = line
            return True
        return bool(_KNOWN.match(text))

    def _of_job(self, job: _Job, line: int, text: str) -> bool:
        if "io" in text.lower() and (found := _NOW.fullmatch(text) or _OLD.fullmatch(text)):
            self._direction(job, found, found["side"], line)
            return True
        if found := _SUM.fullmatch(text) or _OLD_SUM.fullmatch(text):
            self._direction(job, found, found["side"].lower(), line)
            return True
        if found := _TIME.fullmatch(text):
            self._times(job, found, line)
            return True
        if found := _PERCENTILES.fullmatch(text):
            job.kind, job.unit = found["kind"] or "clat", found["unit"]
            job.per_s = _PER_SECOND[job.unit]
            return True
        if text.lstrip().startswith("|") and job.kind:
            return self._percentiles(job, text, line)
        return self._of_all(job, line, text)

    def _of_all(self, job: _Job, line: int, text: str) -> bool:
        """What is said of a job's directions together, or of devices."""
        if found := _CPU.fullmatch(text):
            job.directions_end = True
            for part, metric in (("usr", "cpu_user_share"), ("sys", "cpu_system_share")):
                share = number(found[part])
                if share is not None:
                    stated = f"{found[part]}%"
                    job.sheet.more.append(Reading(metric=metric, value=share / 100, unit="1", line=line, stated=stated))
            return True
        if found := _ISSUED.fullmatch(text):
            job.ended = job.directions_end = True
            counts = found.groups()
            for side, count in zip(("read", "write", "trim"), counts[:3] if counts[0] else counts[3:], strict=True):
                of = "mixed" if "mixed" in job.sheet.sides else side
                if of in job.sheet.sides and (value := number(count)) is not None and side in (of, "read"):
                    job.sheet.put(of, "operations", value, line, count)
            return True
        if found := _DISK.fullmatch(text):
            if (util := number(found["util"])) is not None:
                stated = f"{found['util']}%"
                one = Reading(
                    metric="device_utilisation",
                    value=util / 100,
                    unit="1",
                    line=line,
                    stated=stated,
                    subject=found["name"],
                )
                job.sheet.more.append(one)
            return True
        return False

    def _direction(self, job: _Job, found: re.Match[str], side: str, line: int) -> None:
        job.side = side
        self.binary = found.re in (_OLD, _OLD_SUM)
        if "rate" in found.groupdict() and (rate := _RATE.fullmatch(found["rate"].strip())):
            value = number(rate[1])
            if value is not None:
                job.sheet.put(
                    side, "rate", value * 1000 ** _POWERS.index((rate[2] or "_").upper()), line, found["rate"].strip()
                )
        for name, part in (("bytes_per_s", "bw"), ("bytes", "moved")):
            word = found[part].strip()
            value = self._size(word)
            if value is not None:
                job.sheet.put(side, name, value, line, word)
        ms = number(found["ms"])
        if ms is not None:
            job.sheet.put(side, "duration_s", ms / 1000, line, f"{found['ms']}msec")

    def _size(self, word: str) -> float | None:
        """In a 2.x report M and G are binary as K is."""
        if self.binary and (found := re.fullmatch(r"([0-9.]+)([KMG])(B|bit)(/s)?", word)):
            word = f"{found[1]}{found[2]}i{found[3]}"
        return size(word)

    def _times(self, job: _Job, found: re.Match[str], line: int) -> None:
        side = "sync" if found["kind"] == "sync" else job.side
        if not side:
            return
        job.side = side
        per_s = _PER_SECOND[found["unit"]]
        for part in ("min", "mean", "max", "stddev"):
            word = found[part]
            rate = _RATE.fullmatch(word)
            value = number(rate[1]) if rate else None
            if rate and value is not None:
                times = 1000 ** _POWERS.index((rate[2] or "_").upper())
                name = f"{_SAID[found['kind']]}_{part}_s"
                job.sheet.put(side, name, value * times / per_s, line, f"{word} {found['unit']}")

    def _percentiles(self, job: _Job, text: str, line: int) -> bool:
        found = _PERCENTILE.findall(text)
        for of, word in found:
            value, share = number(word), number(of)
            if (
                job.kind in ("clat", "lat", "sync")
                and job.side
                and value is not None
                and share is not None
                and share >= 1
            ):
                self.completion |= job.kind == "clat"
                job.sheet.put(job.side, percentile(share), value / job.per_s, line, f"{word} {job.unit}")
        return bool(found)


def runs(lines: list[tuple[int, str]]) -> tuple[list[Run], list[tuple[int, str]], list[str]]:
    """The jobs, the lines that are not of such a report, and whether percentiles are of completion alone."""
    reports = _Reports()
    rest = [(number, line) for number, line in lines if not reports.line(number, line)]
    if not reports.jobs and not reports.groups:
        return [], lines, []
    found, remarks = [], []
    for group in reports.groups:
        of_it = [
            job for job in reports.jobs if job.group == group.group and job.first < group.first and not job.grouped
        ]
        for job in of_it:
            job.grouped = True
        group.directions_end = set(group.sheet.sides) - {"mixed"} == {
            side for job in of_it for side in job.sheet.active()
        }
        status = group.run()
        if len(of_it) == 1:
            of_all = (
                one if one.subject and one.metric == "device_utilisation" else _of_all_jobs(one)
                for one in status.readings
            )
            of_it[0].sheet.more += of_all
        else:
            remarks.append(f"what fio states of all jobs of {group.name} (line {group.first}) is a run of its own")
            found.append(replace(status, workload=GROUP))
    found += [job.run() for job in reports.jobs]
    return found, rest, [*remarks, *([COMPLETION] if reports.completion else [])]


def _of_all_jobs(one: Reading) -> Reading:
    """A sum over the one job that there is, which fio states again."""
    return replace(one, subject=f"all jobs {one.subject}".rstrip())
