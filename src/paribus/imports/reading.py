"""One file of an import: read, placed by the rules, and made ready for the store, in whatever process."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from paribus.errors import UsageError
from paribus.imports.files import Named, Unreadable, legible, open_file
from paribus.imports.measurements import measurements
from paribus.imports.rules import Placed, Rule, format_of, place
from paribus.parsers import formats
from paribus.parsers.log import Log, LogReading, LogRun
from paribus.store.sources import compressed, compressed_json
from paribus.store.write import measurement_row

_LARGE = ("courses", "histogram")


@dataclass(frozen=True, slots=True)
class TakenRun:
    """A run with what it is of, its lines, what it states as kept, and its rows of measurements."""

    placed: Placed
    lines: tuple[int, int]
    missing: str
    said: bytes
    figures: Mapping[str, float]
    rows: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Taken:
    """A file as read. `refused` says why nothing came of it; `content` is its text as kept."""

    named: Named
    sha256: str = ""
    size_bytes: int = 0
    format: str = ""
    content: bytes = b""
    runs: Sequence[TakenRun] = ()
    skipped: int = 0
    not_understood: tuple[tuple[int, str], ...] = ()
    remarks: tuple[str, ...] = ()
    refused: str = ""


@dataclass(frozen=True, slots=True)
class ImportReader:
    """Reads files by the same rules; `given` are labels of all runs, `format` is forced where it is named."""

    rules: tuple[Rule, ...] = ()
    given: tuple[tuple[str, str], ...] = ()
    format: str = ""

    def take(self, named: Named) -> Taken:
        """Read a file. Raises UsageError where a rule says what cannot be."""
        try:
            opened = open_file(named.path)
        except Unreadable as why:
            return Taken(named, refused=str(why))
        forced = self.format or format_of(self.rules, named.path)
        if forced and forced not in formats.FORMATS:
            raise UsageError(f"there is no format {forced!r}", f"known: {', '.join(formats.FORMATS)}")
        log = formats.read_plain(legible(opened.content), forced or None)  # without passwords by now
        return self.made(named, log, opened.sha256, opened.size_bytes, opened.content)

    def made(self, named: Named, log: Log, sha256: str, size_bytes: int, content: bytes) -> Taken:
        """What a log comes to that was read already."""
        placed = [(run, place(run, named.path, self.rules, dict(self.given))) for run in log.runs]
        return Taken(
            named,
            sha256,
            size_bytes,
            log.format,
            compressed(content),
            [_taken(run, where) for run, where in placed if not where.skip],
            sum(where.skip for _, where in placed),
            log.not_understood,
            log.remarks,
            "" if log.format else log.remarks[0].removeprefix("it "),
        )


def _taken(run: LogRun, placed: Placed) -> TakenRun:
    found = measurements(run)
    figures = {one.metric: one.mean for one in found}
    return TakenRun(
        placed, run.lines, run.missing, compressed_json(said_of(run)), figures, [measurement_row(one) for one in found]
    )


def said_of(run: LogRun) -> dict[str, Any]:
    """A run as JSON has it, without what is large."""
    found = {one.name: getattr(run, one.name) for one in fields(run) if one.name not in _LARGE}
    readings = [[r.metric, r.value, r.unit, r.line, r.stated, r.subject] for r in run.readings]
    return found | {"options": dict(run.options), "labels": dict(run.labels), "readings": readings}


def run_of(said: Mapping[str, Any]) -> LogRun:
    """The run again."""
    names = ("metric", "value", "unit", "line", "stated", "subject")
    readings = tuple(LogReading(**dict(zip(names, one, strict=True))) for one in said["readings"])
    return LogRun(**{**said, "readings": readings, "lines": tuple(said["lines"])})
