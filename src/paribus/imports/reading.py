"""One file of an import: read, placed by the rules, and prepared for the store, in any process."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from paribus.errors import UsageError
from paribus.imports.files import ImportFile, Unreadable, legible, open_file
from paribus.imports.measurements import measurements
from paribus.imports.rules import Rule, RunPlacement, format_of, place
from paribus.parsers import formats
from paribus.parsers.log import Log, LogRun
from paribus.parsers.run_conditions import conditions_of
from paribus.store.sources import compressed, compressed_json
from paribus.store.write import measurement_row

_LARGE = ("courses", "histogram")


@dataclass(frozen=True, slots=True)
class ReadRun:
    """A run as placed, with its lines, its conditions, its stored record, its figures and its measurement rows.

    `table` is the name of a published table; None for a log.
    """

    placement: RunPlacement
    lines: tuple[int, int]
    missing: str
    failed: str
    conditions: Mapping[str, str]
    table: str | None
    record: bytes
    figures: Mapping[str, float]
    rows: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file as read; `refused` is the reason for a failure, `content` the stored text."""

    source: ImportFile
    sha256: str = ""
    size_bytes: int = 0
    format: str = ""
    content: bytes = b""
    runs: Sequence[ReadRun] = ()
    skipped: int = 0
    not_understood: tuple[tuple[int, str], ...] = ()
    remarks: tuple[str, ...] = ()
    refused: str = ""


@dataclass(frozen=True, slots=True)
class ImportReader:
    """Reader of files by common rules; `labels` apply to all runs, `format` overrides recognition."""

    rules: tuple[Rule, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    format: str = ""

    def take(self, source: ImportFile) -> ReadFile:
        """Read a file. Raises UsageError for an invalid rule."""
        try:
            opened = open_file(source.path, source.member)
        except Unreadable as error:
            return ReadFile(source, refused=str(error))
        forced = self.format or format_of(self.rules, source.printable_path)
        if forced and forced not in formats.FORMATS:
            raise UsageError(f"unknown format {forced!r}", f"known: {', '.join(formats.FORMATS)}")
        log = formats.read_plain(legible(opened.content), forced or None)  # passwords are already removed
        if opened.remarks:
            log = replace(log, remarks=(*log.remarks, *opened.remarks))
        return self.from_log(source, log, opened.sha256, opened.size_bytes, opened.content)

    def from_log(self, source: ImportFile, log: Log, sha256: str, size_bytes: int, content: bytes) -> ReadFile:
        """Return the result for a log that was already read."""
        path, labels = source.printable_path, dict(self.labels)
        placements = [(run, place(run, path, self.rules, labels)) for run in log.runs]
        return ReadFile(
            source,
            sha256,
            size_bytes,
            log.format,
            compressed(content),
            [_read_run(run, placement) for run, placement in placements if not placement.skip],
            sum(placement.skip for _, placement in placements),
            log.not_understood,
            (*log.remarks, *(_failure(run) for run in log.runs if run.failed)),
            "" if log.format else log.remarks[0].removeprefix("it "),
        )


def _failure(run: LogRun) -> str:
    return f"the run in lines {run.lines[0]} to {run.lines[1]} failed, and is not compared: {run.failed}"


def _read_run(run: LogRun, placement: RunPlacement) -> ReadRun:
    measured, conditions = measurements(run), conditions_of(run)
    table = (run.options.get("table") or run.options.get("title", "")) if run.tool == "table" else None
    figures = {measurement.metric: measurement.mean for measurement in measured}
    return ReadRun(
        placement,
        run.lines,
        run.missing,
        run.failed,
        conditions,
        table,
        compressed_json(run_record(run) | {"conditions": conditions, "table": table}),
        figures,
        [measurement_row(measurement) for measurement in measured],
    )


def run_record(run: LogRun) -> dict[str, Any]:
    """Return a run as stored in JSON, without time series and histogram."""
    record = {attribute.name: getattr(run, attribute.name) for attribute in fields(run) if attribute.name not in _LARGE}
    readings = [
        [reading.metric, reading.value, reading.unit, reading.line, reading.stated, reading.subject]
        for reading in run.readings
    ]
    return record | {"options": dict(run.options), "labels": dict(run.labels), "readings": readings}
