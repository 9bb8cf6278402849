"""Reader of fio's normal report, 2.x (`io=…, bw=…, iops=…, runt=…`) and 3.x (`IOPS=…, BW=…`)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from paribus.parsers.log import LogReading, LogRun
from paribus.parsers.numbers import number
from paribus.parsers.tools.fio import fio_shapes as shapes
from paribus.parsers.tools.fio.fio_job import ALL_CLIENTS, COMPLETION, JOB, Sheet, percentile, run

GROUP = "all jobs of a group"


def recognises(text: str) -> float:
    """Score by the first line of a job's report."""
    return 0.9 if "(groupid=" in text and ": err=" in text else 0.4 if "Run status group" in text else 0.0


@dataclass(slots=True)
class _Job:
    """A job's report as read so far."""

    name: str
    group: str
    jobs: int
    first: int
    last: int
    version: str
    options: Mapping[str, str]
    sheet: Sheet = field(default_factory=Sheet)
    side: str = ""
    kind: str = ""  # latency type of the percentiles
    per_s: float = 1.0
    unit: str = ""
    host: str = ""
    directions_end: bool = False
    ended: bool = False
    grouped: bool = False
    pid: str = ""
    created_s: float | None = None

    def continues_as(self, later: "_Job") -> bool:
        """Return whether the later report is of the same process with the same start time and a longer duration."""
        if (
            not self.pid
            or (self.name, self.pid) != (later.name, later.pid)
            or self.created_s is None
            or later.created_s is None
        ):
            return False
        durations_s = [
            max(
                (numbers["duration_s"].value for numbers in job.sheet.sides.values() if "duration_s" in numbers),
                default=0.0,
            )
            for job in (self, later)
        ]
        return (
            durations_s[0] < durations_s[1]
            and abs((self.created_s - durations_s[0]) - (later.created_s - durations_s[1])) <= 1.5
        )

    def run(self) -> LogRun:
        self.sheet.complete = self.directions_end
        job_run = run(
            self.sheet,
            version=self.version,
            options=self.options,
            job=self.name,
            jobs=self.jobs,
            lines=(self.first, self.last),
            missing="" if self.ended else f"the job's report breaks off after line {self.last}",
        )
        return replace(job_run, labels={**job_run.labels, "host": self.host}) if self.host else job_run


@dataclass(slots=True)
class _Reports:
    """Everything read so far."""

    version: str = ""
    job_options: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)  # by host and job
    hosts: set[str] = field(default_factory=set)  # of fio --client
    jobs: list[_Job] = field(default_factory=list)
    groups: list[_Job] = field(default_factory=list)
    current: _Job | None = None
    binary: bool = False  # a 2.x report, in which MB means MiB
    completion: bool = False
    indent: str = ""

    def line(self, line: int, text: str) -> bool:
        """Return whether fio printed the line; the host and the indentation of the whole report are removed."""
        host = ""
        if match := shapes.HOST.match(text):
            host, text = match["host"], text[match.end() :]
            self.hosts.add(host)
        if "(groupid=" in text or "(g=" in text:
            self.indent = text[: len(text) - len(text.lstrip())]
        text = shapes.ungrouped(text.removeprefix(self.indent))
        if "(groupid=" in text and (match := shapes.JOB.fullmatch(text)):
            self.current = _Job(
                name=match["job"],
                group=match["group"],
                jobs=int(match["jobs"]),
                first=line,
                last=line,
                version=self.version,
                options=self._options(host, match["job"]),
                host=host,
                pid=match["pid"] or "",
                created_s=shapes.seconds(match["when"] or ""),
            )
            self.jobs.append(self.current)
            if error := number(match["error"]):
                stated = match["error"]
                self.current.sheet.extra.append(
                    LogReading(metric="error_code", value=error, unit="count", line=line, stated=stated)
                )
            return True
        if match := shapes.STATUS.fullmatch(text):
            self.current = _Job(
                name=f"group {match['group']}",
                group=match["group"],
                jobs=1,
                first=line,
                last=line,
                version=self.version,
                options={},
                ended=True,
            )
            self.groups.append(self.current)
            return True
        if "(g=" in text and (match := shapes.JOB_OPTIONS.fullmatch(text)):
            names = {"rw": "rw", "bs": "bs", "ioengine": "engine", "iodepth": "depth"}
            self.job_options[host, match["job"]] = {name: match[part] for name, part in names.items()}
            return True
        if match := shapes.VERSION.fullmatch(text):
            self.version = next(filter(None, match.groups()))
            return True
        if self.current is not None and self._of_job(self.current, line, text):
            self.current.last = line
            return True
        return bool(shapes.IGNORED.match(text))

    def _options(self, host: str, job: str) -> Mapping[str, str]:
        """The options of a job; fio prints the host before them, and in most versions not before the report."""
        options = [echoed for key, echoed in self.job_options.items() if key[1] == job and host in ("", key[0])]
        return options[0] if options and all(others == options[0] for others in options) else {}

    def _of_job(self, job: _Job, line: int, text: str) -> bool:
        if "io" in text.lower() and (match := shapes.DIRECTION.fullmatch(text) or shapes.OLD_DIRECTION.fullmatch(text)):
            if job.ended or match["side"] in job.sheet.sides:
                return False  # belongs to another report quoted without its first line
            self._direction(job, match, match["side"], line)
            return True
        if match := shapes.SUM.fullmatch(text) or shapes.OLD_SUM.fullmatch(text):
            self._direction(job, match, match["side"].lower(), line)
            return True
        if job.ended:
            return self._of_all(job, line, text)
        if match := shapes.TIME.fullmatch(text):
            self._times(job, match, line)
            return True
        if match := shapes.PERCENTILES.fullmatch(text):
            job.kind, job.unit = match["kind"] or "clat", match["unit"]
            job.per_s = shapes.PER_SECOND[job.unit]
            return True
        if text.lstrip().startswith("|") and job.kind:
            return self._percentiles(job, text, line)
        return self._of_all(job, line, text)

    def _of_all(self, job: _Job, line: int, text: str) -> bool:
        """Read a line about all directions of a job, or about devices."""
        if match := shapes.CPU.fullmatch(text):
            job.directions_end = True
            for part, metric in (("usr", "cpu_user_share"), ("sys", "cpu_system_share")):
                share = number(match[part])
                if share is not None:
                    stated = f"{match[part]}%"
                    job.sheet.extra.append(
                        LogReading(metric=metric, value=share / 100, unit="1", line=line, stated=stated, subject=JOB)
                    )
            return True
        if match := shapes.ISSUED.fullmatch(text):
            job.ended = job.directions_end = True
            counts = match.groups()
            issued = next(counts[at : at + 3] for at in (0, 3, 6) if counts[at])
            for side, count in zip(("read", "write", "trim"), issued, strict=True):
                direction = "mixed" if "mixed" in job.sheet.sides else side
                if (
                    count
                    and direction in job.sheet.sides
                    and (value := number(count)) is not None
                    and side in (direction, "read")
                ):
                    job.sheet.put(direction, "operations", value, line, count)
            return True
        if match := shapes.DISK.fullmatch(text):
            if (util := number(match["util"])) is not None:
                stated = f"{match['util']}%"
                reading = LogReading(
                    metric="device_utilisation",
                    value=util / 100,
                    unit="1",
                    line=line,
                    stated=stated,
                    subject=match["name"],
                )
                job.sheet.extra.append(reading)
            return True
        return False

    def _direction(self, job: _Job, match: re.Match[str], side: str, line: int) -> None:
        job.side = side
        self.binary = match.re in (shapes.OLD_DIRECTION, shapes.OLD_SUM)
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
        """Return a size in bytes; in a 2.x report M and G are binary like K."""
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
                name = f"{shapes.TIME_NAMES[match['kind']]}_{part}_s"
                job.sheet.put(side, name, value / per_s, line, f"{word} {match['unit']}")

    def _percentiles(self, job: _Job, text: str, line: int) -> bool:
        pairs = shapes.PERCENTILE.findall(text)
        for share_text, word in pairs:
            value, share = number(word), number(share_text)
            if (
                job.kind in ("clat", "lat", "sync")
                and job.side
                and value is not None
                and share is not None
                and share >= 1
            ):
                self.completion |= job.kind == "clat"
                job.sheet.put(job.side, percentile(share), value / job.per_s, line, f"{word} {job.unit}")
        return bool(pairs)


def runs(lines: list[tuple[int, str]]) -> tuple[list[LogRun], list[tuple[int, str]], list[str]]:
    """Return the jobs, the lines outside such reports, and remarks."""
    reports = _Reports()
    other_lines = [(number, line) for number, line in lines if not reports.line(number, line)]
    if not reports.jobs and not reports.groups:
        return [], lines, []
    job_runs, remarks = [], []
    superseded: set[int] = set()
    latest: dict[tuple[str, str], _Job] = {}
    for job in reversed(reports.jobs):
        later = latest.setdefault((job.name, job.pid), job)
        if job.continues_as(later):
            superseded.add(job.first)
        latest[job.name, job.pid] = job
    for job in reports.jobs if superseded else ():
        if job.first not in superseded:
            continue
        remarks.append(f"lines {job.first} to {job.last} tell of the same run before its end (--status-interval)")
    for group in reports.groups:
        group_jobs = [
            job for job in reports.jobs if job.group == group.group and job.first < group.first and not job.grouped
        ]
        for job in group_jobs:
            job.grouped = True
        group.directions_end = set(group.sheet.sides) - {"mixed"} == {
            side for job in group_jobs for side in job.sheet.active()
        }
        status = group.run()
        if group_jobs and all(job.first in superseded for job in group_jobs):
            continue
        if len(group_jobs) == 1:
            group_readings = (
                reading if reading.subject and reading.metric == "device_utilisation" else _of_all_jobs(reading)
                for reading in status.readings
            )
            group_jobs[0].sheet.extra += group_readings
        else:
            remarks.append(f"what fio states of all jobs of {group.name} (line {group.first}) is a run of its own")
            job_runs.append(replace(status, workload=GROUP))
    for job in reports.jobs if len(reports.hosts) == 1 else ():
        (job.host,) = reports.hosts
    job_runs += [job.run() for job in reports.jobs if job.first not in superseded and job.name != ALL_CLIENTS]
    return job_runs, other_lines, [*remarks, *([COMPLETION] if reports.completion else [])]


def _of_all_jobs(reading: LogReading) -> LogReading:
    """Mark a sum that fio repeats for a group of one job."""
    return replace(reading, subject=f"all jobs {reading.subject}".rstrip())
