"""fio's report for people, of 2.x (`io=…, bw=…, iops=…, runt=…`) and 3.x (`IOPS=…, BW=…`)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from paribus.parsers.fio import fio_shapes as shapes
from paribus.parsers.fio.fio_job import COMPLETION, Sheet, percentile, run
from paribus.parsers.log import LogReading, LogRun
from paribus.parsers.numbers import number

GROUP = "all jobs of a group"


def recognises(text: str) -> float:
    """By the line that heads a job's report."""
    return 0.9 if "(groupid=" in text and ": err=" in text else 0.4 if "Run status group" in text else 0.0


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
    pid: str = ""
    made_s: float | None = None

    def goes_on_as(self, later: "_Job") -> bool:
        """Whether the later report is of the same process, begun at the same time, which went on."""
        if (
            not self.pid
            or (self.name, self.pid) != (later.name, later.pid)
            or self.made_s is None
            or later.made_s is None
        ):
            return False
        ran = [
            max((known["duration_s"].value for known in one.sheet.sides.values() if "duration_s" in known), default=0.0)
            for one in (self, later)
        ]
        return ran[0] < ran[1] and abs((self.made_s - ran[0]) - (later.made_s - ran[1])) <= 1.5

    def run(self) -> LogRun:
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
    indent: str = ""

    def line(self, line: int, text: str) -> bool:
        """Whether the line is one of fio's; what a report is indented by is no part of it."""
        if "(groupid=" in text or "(g=" in text:
            self.indent = text[: len(text) - len(text.lstrip())]
        text = shapes.ungrouped(text.removeprefix(self.indent))
        if "(groupid=" in text and (found := shapes.JOB.fullmatch(text)):
            self.now = _Job(
                name=found["job"],
                group=found["group"],
                jobs=int(found["jobs"]),
                first=line,
                last=line,
                version=self.version,
                options=self.asked.get(found["job"], {}),
                pid=found["pid"] or "",
                made_s=shapes.seconds(found["when"] or ""),
            )
            self.jobs.append(self.now)
            if error := number(found["error"]):
                stated = found["error"]
                self.now.sheet.more.append(
                    LogReading(metric="error_code", value=error, unit="count", line=line, stated=stated)
                )
            return True
        if found := shapes.STATUS.fullmatch(text):
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
        if "(g=" in text and (found := shapes.ASKED.fullmatch(text)):
            names = {"rw": "rw", "bs": "bs", "ioengine": "engine", "iodepth": "depth"}
            self.asked[found["job"]] = {name: found[part] for name, part in names.items()}
            return True
        if found := shapes.VERSION.fullmatch(text):
            self.version = found[1] or found[2]
            return True
        if self.now is not None and self._of_job(self.now, line, text):
            self.now.last = line
            return True
        return bool(shapes.KNOWN.match(text))

    def _of_job(self, job: _Job, line: int, text: str) -> bool:
        if "io" in text.lower() and (found := shapes.NOW.fullmatch(text) or shapes.OLD.fullmatch(text)):
            if job.ended or found["side"] in job.sheet.sides:
                return False  # of another report, which somebody quoted without its head
            self._direction(job, found, found["side"], line)
            return True
        if found := shapes.SUM.fullmatch(text) or shapes.OLD_SUM.fullmatch(text):
            self._direction(job, found, found["side"].lower(), line)
            return True
        if job.ended:
            return self._of_all(job, line, text)
        if found := shapes.TIME.fullmatch(text):
            self._times(job, found, line)
            return True
        if found := shapes.PERCENTILES.fullmatch(text):
            job.kind, job.unit = found["kind"] or "clat", found["unit"]
            job.per_s = shapes.PER_SECOND[job.unit]
            return True
        if text.lstrip().startswith("|") and job.kind:
            return self._percentiles(job, text, line)
        return self._of_all(job, line, text)

    def _of_all(self, job: _Job, line: int, text: str) -> bool:
        """What is said of a job's directions together, or of devices."""
        if match := shapes.CPU.fullmatch(text):
            job.directions_end = True
            for part, metric in (("usr", "cpu_user_share"), ("sys", "cpu_system_share")):
                share = number(match[part])
                if share is not None:
                    stated = f"{match[part]}%"
                    job.sheet.more.append(
                        LogReading(metric=metric, value=share / 100, unit="1", line=line, stated=stated)
                    )
            return True
        if match := shapes.ISSUED.fullmatch(text):
            job.ended = job.directions_end = True
            counts = match.groups()
            told = next(counts[at : at + 3] for at in (0, 3, 6) if counts[at])
            for side, count in zip(("read", "write", "trim"), told, strict=True):
                of = "mixed" if "mixed" in job.sheet.sides else side
                if count and of in job.sheet.sides and (value := number(count)) is not None and side in (of, "read"):
                    job.sheet.put(of, "operations", value, line, count)
            return True
        if match := shapes.DISK.fullmatch(text):
            if (util := number(match["util"])) is not None:
                stated = f"{match['util']}%"
                one = LogReading(
                    metric="device_utilisation",
                    value=util / 100,
                    unit="1",
                    line=line,
                    stated=stated,
                    subject=match["name"],
                )
                job.sheet.more.append(one)
            return True
        return False

    def _direction(self, job: _Job, match: re.Match[str], side: str, line: int) -> None:
        job.side = side
        self.binary = match.re in (shapes.OLD, shapes.OLD_SUM)
        word = match.groupdict().get("rate", "").strip()
        if (rate := shapes.count(word)) is not None:
            job.sheet.put(side, "rate", rate, line, word)
        for name, part in (("bytes_per_s", "bw"), ("bytes", "moved")):
            word = match[part].strip()
            value = self._size(word)
            if value is not None:
                job.sheet.put(side, name, value, line, word)
        ms = number(match["ms"])
        if ms is not None:
            job.sheet.put(side, "duration_s", ms / 1000, line, f"{match['ms']}msec")

    def _size(self, word: str) -> float | None:
        """In a 2.x report M and G are binary as K is."""
        if self.binary and (match := re.fullmatch(r"([0-9.]+)([KMG])(B|bit)(/s)?", word)):
            word = f"{match[1]}{match[2]}i{match[3]}"
        return shapes.size(word)

    def _times(self, job: _Job, match: re.Match[str], line: int) -> None:
        side = "sync" if match["kind"] == "sync" else job.side
        if not side:
            return
        job.side = side
        per_s = shapes.PER_SECOND[match["unit"]]
        for part in ("min", "mean", "max", "stddev"):
            word = match[part]
            if (value := shapes.count(word)) is not None:
                name = f"{shapes.SAID[match['kind']]}_{part}_s"
                job.sheet.put(side, name, value / per_s, line, f"{word} {match['unit']}")

    def _percentiles(self, job: _Job, text: str, line: int) -> bool:
        found = shapes.PERCENTILE.findall(text)
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


def runs(lines: list[tuple[int, str]]) -> tuple[list[LogRun], list[tuple[int, str]], list[str]]:
    """The jobs, the lines that are not of such a report, and whether percentiles are of completion alone."""
    reports = _Reports()
    rest = [(number, line) for number, line in lines if not reports.line(number, line)]
    if not reports.jobs and not reports.groups:
        return [], lines, []
    found, remarks = [], []
    unended: set[int] = set()
    latest: dict[tuple[str, str], _Job] = {}
    for job in reversed(reports.jobs):
        later = latest.setdefault((job.name, job.pid), job)
        if job.goes_on_as(later):
            unended.add(job.first)
        latest[job.name, job.pid] = job
    for job in reports.jobs if unended else ():
        if job.first not in unended:
            continue
        remarks.append(f"lines {job.first} to {job.last} tell of the same run before its end (--status-interval)")
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
        if of_it and all(job.first in unended for job in of_it):
            continue
        if len(of_it) == 1:
            of_all = (
                one if one.subject and one.metric == "device_utilisation" else _of_all_jobs(one)
                for one in status.readings
            )
            of_it[0].sheet.more += of_all
        else:
            remarks.append(f"what fio states of all jobs of {group.name} (line {group.first}) is a run of its own")
            found.append(replace(status, workload=GROUP))
    found += [job.run() for job in reports.jobs if job.first not in unended]
    return found, rest, [*remarks, *([COMPLETION] if reports.completion else [])]


def _of_all_jobs(one: LogReading) -> LogReading:
    """A sum over the one job that there is, which fio states again."""
    return replace(one, subject=f"all jobs {one.subject}".rstrip())
