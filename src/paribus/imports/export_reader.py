"""Reader of `paribus export` folders: trials and measurements from two tables."""

import csv
import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from paribus.imports.files import ImportFile
from paribus.imports.reading import ImportReader, ReadFile
from paribus.parsers.log import Log, LogReading, LogRun

FORMAT = "paribus-export"
_TRIALS, _MEASUREMENTS = "trials.csv", "measurements.csv"
_TABLES = (_TRIALS, _MEASUREMENTS, "series.csv", "effects.csv", "cells.csv", "points.csv", "looks.csv", "changes.csv")
_FORMULA = re.compile(r"^'(?=[=+@\t\r-])")  # a mark of the export before a text that looks like a formula
_COUNTED = {"compare", "confirm", "measure"}


@dataclass(frozen=True, slots=True)
class ExportFolder:
    """A folder written by `paribus export`, represented by its `trials.csv`."""

    source: ImportFile

    def take(self, reader: ImportReader) -> ReadFile:
        """Read the folder as one source."""
        folder = Path(self.source.path).parent
        try:
            trials, measurements = ((folder / name).read_bytes() for name in (_TRIALS, _MEASUREMENTS))
            log = _log(trials.decode("utf-8"), measurements.decode("utf-8"))
        except (OSError, ValueError, KeyError) as error:
            return ReadFile(self.source, refused=f"is no whole export: {error}")
        content = trials + measurements
        return reader.from_log(self.source, log, hashlib.sha256(content).hexdigest(), len(content), content)


def exports_first(files: Sequence[ImportFile]) -> list[ImportFile | ExportFolder]:
    """Return the files, with each export folder in place of its tables."""
    folders = {Path(file.path).parent for file in files if _is_export(Path(file.path))}
    items: list[ImportFile | ExportFolder] = []
    for file in files:
        path = Path(file.path)
        if path.parent not in folders or path.name not in _TABLES:
            items.append(file)
        elif path.name == _TRIALS:
            items.append(ExportFolder(file))
    return items


def _is_export(path: Path) -> bool:
    if path.name != _TRIALS or not (path.parent / _MEASUREMENTS).is_file():
        return False
    try:
        with path.open(encoding="utf-8") as file:
            return file.readline(4096).startswith("experiment,trial,round,block,")
    except (OSError, ValueError):
        return False


def _rows(text: str) -> Iterator[tuple[int, dict[str, str]]]:
    reader = csv.DictReader(text.splitlines())
    for row in reader:
        yield reader.line_num, {name: _FORMULA.sub("", cell) for name, cell in row.items() if isinstance(cell, str)}


def _log(trials: str, measurements: str) -> Log:
    readings: dict[str, list[LogReading]] = defaultdict(list)
    for line, row in _rows(measurements):
        if row["phase"] == "measure":
            stated = row["mean"]
            reading = LogReading(metric=row["metric"], value=float(stated), unit=row["unit"], line=line, stated=stated)
            readings[row["trial"]].append(reading)
    runs = [
        LogRun(
            tool="paribus",
            workload=row["workload"],
            load=int(row["load"]) if row["load_unit"] == "outstanding" else None,
            options={name: str(value) for name, value in json.loads(row["settings"]).items()},
            labels={row["factor"]: row["arm"]} if row["factor"] else {},
            readings=tuple(readings[row["trial"]]),
            lines=(line, line),
        )
        for line, row in _rows(trials)
        if row["state"] == "done" and row["purpose"] in _COUNTED
    ]
    return Log(format=FORMAT, runs=tuple(runs))
