"""Reader of fio's --output-format=json and json+, 2.x and 3.x."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from paribus.parsers.json_lines import JsonDocument, Leaf, Members, objects, text_of
from paribus.parsers.log import LogReading, LogRun
from paribus.parsers.numbers import number
from paribus.parsers.tools.fio.fio_job import ALL_CLIENTS, COMPLETION, JOB, Sheet, percentile, run

_SIDES = ("read", "write", "trim", "sync", "mixed")
_KIB = 1 / 1024
# Divisors to the base unit. 3.0 introduced times in ns, with a suffix; earlier versions print µs.
# bw is bytes / 1024 in every version (stat.c).
_TIMES = {"": 1e6, "_ns": 1e9}
_PARTS = {"min": "min", "max": "max", "mean": "mean", "stddev": "stddev"}
_BUCKET_BITS = 6  # fio's histogram has 64 buckets for each doubling, and 128 exact ones at its start


@dataclass(slots=True)
class _Job:
    """A job with the data common to all jobs."""

    members: Members
    options: Mapping[str, str]
    version: str
    entries: int  # number of entries of the same name in the report


@dataclass(slots=True)
class _Report:
    """The jobs of one document and its creation time in ms."""

    runs: list[LogRun]
    created_ms: float | None
    lines: tuple[int, int]

    def continues_as(self, later: "_Report") -> bool:
        """Return whether the later report is of the same run: the same start time, and no number decreased."""
        if (
            self.created_ms is None
            or later.created_ms is None
            or [run.labels for run in self.runs] != [run.labels for run in later.runs]
        ):
            return False
        started_ms = [
            time_ms - 1000 * max(_values(report.runs, "duration_s"), default=0.0)
            for report, time_ms in ((self, self.created_ms), (later, later.created_ms))
        ]
        grown = all(
            sum(_values(self.runs, name)) <= sum(_values(later.runs, name))
            for name in ("operations", "response_max_s", "duration_s")
        )
        exact = self.created_ms % 1000 or later.created_ms % 1000
        return (
            bool(self.runs)
            and later.created_ms > self.created_ms
            and grown
            and abs(started_ms[0] - started_ms[1]) <= (100 if exact else 1100)
        )


def _values(runs: list[LogRun], metric: str) -> list[float]:
    return [reading.value for run in runs for reading in run.readings if reading.metric == metric]


def runs(documents: list[JsonDocument]) -> tuple[list[LogRun], list[str]]:
    """Return the jobs of all reports, and remarks on them."""
    reports: list[_Report] = []
    remarks: list[str] = []
    for document in documents:
        top = document.top
        named = next((name for name in ("jobs", "client_stats") if name in top), "")
        version = text_of(top.get("fio version")).removeprefix("fio-")
        options = _options(top.get("global options"))
        entries = list(objects(top.get(named)))
        names = Counter(text_of(entry.get("jobname")) for entry in entries)
        jobs = [_Job(entry, options, version, names[text_of(entry.get("jobname"))]) for entry in entries]
        job_runs = [_run(job, document) for job in jobs if text_of(job.members.get("jobname")) != ALL_CLIENTS]
        if named and not job_runs and not top.whole:
            job_runs = [LogRun(tool="fio", version=version, lines=(document.first, document.last), missing="its jobs")]
        disks = list(_disks(top.get("disk_util")))
        if disks and len(job_runs) == 1:
            only_run = job_runs[0]
            span = (only_run.lines[0], max(only_run.lines[1], disks[-1].line))
            job_runs = [replace(only_run, readings=(*only_run.readings, *disks), lines=span)]
        elif disks:
            remarks.append(
                f"disk_util in line {disks[0].line} is of all jobs together, and belongs to none of the runs"
            )
        report = _Report(job_runs, _milliseconds(top), (document.first, document.last))
        if reports and reports[-1].continues_as(report):
            first, last = reports.pop().lines
            remarks.append(f"lines {first} to {last} tell of the same run before its end (--status-interval)")
        reports.append(report)
    if any(_of_completion(job) for document in documents for job in objects(document.top.get("jobs"))):
        remarks.append(COMPLETION)
    return [run for report in reports for run in report.runs], remarks


def _milliseconds(top: Members) -> float | None:
    """Return the creation time in ms; older versions have a resolution of 1 s."""
    exact, seconds = _number(top, "timestamp_ms")[0], _number(top, "timestamp")[0]
    return exact if exact is not None else seconds * 1000 if seconds is not None else None


def _options(value: object) -> dict[str, str]:
    return {name: text_of(leaf) for name, leaf in value.items()} if isinstance(value, Members) else {}


def _run(job: _Job, document: JsonDocument) -> LogRun:
    members = job.members
    options = {**job.options, **_options(members.get("job options"))}
    sheet = Sheet()
    for side in _SIDES:
        section = members.get(side)
        if isinstance(section, Members):
            sheet.complete &= section.whole
            _side(sheet, side, section)
    sheet.drop_mixed()
    sheet.complete &= members.whole or "mixed" in sheet.sides or {"read", "write", "trim"} <= set(sheet.sides)
    for name, metric in (("error", "error_code"), ("total_err", "errors")):
        value, leaf = _number(members, name)
        if value and leaf:
            sheet.extra.append(LogReading(metric=metric, value=value, unit="count", line=leaf.line, stated=leaf.word))
    for name, metric in (("usr_cpu", "cpu_user_share"), ("sys_cpu", "cpu_system_share")):
        value, leaf = _number(members, name)
        if value is not None and leaf:
            sheet.extra.append(
                LogReading(
                    metric=metric, value=value / 100, unit="1", line=leaf.line, stated=f"{leaf.word} %", subject=JOB
                )
            )
    last = max([reading.line for reading in sheet.readings()], default=members.line)
    job_run = run(
        sheet,
        version=job.version,
        options=options,
        job=text_of(members.get("jobname")),
        jobs=_together(options.get("numjobs", "1"), job.entries),
        lines=(members.line, last),
        missing="" if members.whole else f"the report breaks off in line {document.last}",
    )
    if host := text_of(members.get("hostname")):  # of fio --client
        job_run = replace(job_run, labels={**job_run.labels, "host": host})
    return _histogram(job_run, members, sheet.active())


def _together(numjobs: str, entries: int) -> int:
    """Return how many jobs an entry summarises: all if it is the only entry; 0 if unknown."""
    if not numjobs.isascii() or not numjobs.isdecimal() or len(numjobs) > 6 or not int(numjobs):
        return 0
    return int(numjobs) if entries == 1 else 1 if entries % int(numjobs) == 0 else 0


def _side(sheet: Sheet, side: str, section: Members) -> None:
    """Record the numbers of one direction."""
    _put(sheet, side, "rate", section, "iops")
    if "bw_bytes" in section:
        _put(sheet, side, "bytes_per_s", section, "bw_bytes")
    else:
        _put(sheet, side, "bytes_per_s", section, "bw", _KIB, " KiB/s")
    if "io_kbytes" in section:  # since 2.21; before, io_bytes is in KiB
        _put(sheet, side, "bytes", section, "io_bytes")
    elif section.whole:
        _put(sheet, side, "bytes", section, "io_bytes", _KIB, " KiB")
    _put(sheet, side, "operations", section, "total_ios")
    _put(sheet, side, "duration_s", section, "runtime", 1e3, " ms")
    for suffix, per_s in _TIMES.items():
        unit = " ns" if suffix else " us"
        for name, time_name in (("lat", "response"), ("clat", "completion"), ("slat", "submission")):
            times = section.get(f"{name}{suffix}")
            if not isinstance(times, Members):
                continue
            if _number(times, "N")[0] == 0 or not (_number(times, "max")[0] or _number(times, "mean")[0]):
                continue  # no operation was timed
            for part, word in _PARTS.items():
                _put(sheet, side, f"{time_name}_{word}_s", times, part, per_s, unit)
            _put(sheet, side, f"{time_name}_count", times, "N")
            percentiles = times.get("percentile")
            if name != "slat" and isinstance(percentiles, Members):
                for key in percentiles:
                    share = number(key)
                    if share is not None and 1 <= share <= 100:
                        _put(sheet, side, percentile(share), percentiles, key, per_s, unit)


def _put(sheet: Sheet, side: str, name: str, members: Members, key: str, per: float = 1.0, unit: str = "") -> None:
    value, leaf = _number(members, key)
    if value is not None and leaf is not None and value >= 0:
        sheet.put(side, name, value / per, leaf.line, f"{leaf.word}{unit}")


def _number(members: Members, key: str) -> tuple[float | None, Leaf | None]:
    leaf = members.get(key)
    return (number(leaf.word), leaf) if isinstance(leaf, Leaf) else (None, None)


def _histogram(job_run: LogRun, members: Members, active: list[str]) -> LogRun:
    """Add the counts of json+, if exactly one direction was active."""
    section = members.get(active[0]) if len(active) == 1 else None
    times = section.get("clat_ns") if isinstance(section, Members) else None
    bins = times.get("bins") if isinstance(times, Members) else None
    if not isinstance(bins, Members) or not bins.whole:
        return job_run
    counts = [(_upper(middle), count) for middle, count in _whole_numbers(bins)]
    return replace(job_run, histogram=tuple(sorted(counts)))


def _whole_numbers(bins: Members) -> Iterator[tuple[int, int]]:
    for key, leaf in bins.items():
        count = text_of(leaf)
        if all(word.isascii() and word.isdecimal() and len(word) < 19 for word in (key, count)):
            yield int(key), int(count)


def _upper(middle: int) -> float:
    """Return the upper bound in seconds of the bucket that fio names by its middle in ns."""
    width = 1 << max(0, middle.bit_length() - 1 - _BUCKET_BITS)
    return (middle + (width // 2 if width > 1 else 0)) / 1e9


def _disks(value: object) -> Iterator[LogReading]:
    """Yield each device's utilisation; the members of an md or dm device are not added up."""
    for disk in objects(value):
        util, leaf = _number(disk, "util")
        name = text_of(disk.get("name"))
        if util is not None and leaf is not None and name:
            yield LogReading(
                metric="device_utilisation",
                value=util / 100,
                unit="1",
                line=leaf.line,
                stated=f"{leaf.word} %",
                subject=name,
            )


def _of_completion(job: Members) -> bool:
    """Return whether percentiles exist for completion latency (clat) only."""
    sides = [section for side in _SIDES if isinstance(section := job.get(side), Members)]
    has_percentiles = {
        name: any(
            isinstance(times := section.get(f"{name}{suffix}"), Members) and "percentile" in times
            for section in sides
            for suffix in _TIMES
        )
        for name in ("lat", "clat")
    }
    return has_percentiles["clat"] and not has_percentiles["lat"]
