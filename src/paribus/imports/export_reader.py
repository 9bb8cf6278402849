"""What `paribus export` wrote, read again: trials and what they measured, of two tables in one folder."""

import csv
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from paribus.imports.files import Named
from paribus.imports.reading import ImportReader, Taken
from paribus.parsers.log import Log, LogReading, LogRun

FORMAT = "paribus-export"
_TRIALS, _MEASUREMENTS = "trials.csv", "measurements.csv"
_TABLES = (_TRIALS, _MEASUREMENTS, "series.csv", "effects.csv", "cells.csv", "points.csv", "looks.csv", "changes.csv")
_COUNTED = {"compare", "confirm", "measure"}


@dataclass(frozen=True, slots=True)
class Exported:
    """A folder that an export was written into; its `trials.csv` stands for it."""

    named: Named

    def take(self, reader: ImportReader) -> Taken:
        """Read it as one source."""
        folder = Path(self.named.path).parent
        try:
            trials, measured = ((folder / name).read_bytes() for name in (_TRIALS, _MEASUREMENTS))
            log = _log(trials.decode("utf-8"), measured.decode("utf-8"))
        except (OSError, ValueError, KeyError) as error:
            return Taken(self.named, refused=f"is no whole export: {error}")
        both = trials + measured
        return reader.made(self.named, log, hashlib.sha256(both).hexdigest(), len(both), both)


def exports_first(files: Sequence[Named]) -> list[Named | Exported]:
    """The files with every folder of an export put in the place of its tables."""
    folders = {Path(one.path).parent for one in files if _is_export(Path(one.path))}
    found: list[Named | Exported] = []
    for one in files:
        path = Path(one.path)
        if path.parent not in folders or path.name not in _TABLES:
            found.append(one)
        elif path.name == _TRIALS:
            found.append(Exported(one))
    return found


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
        yield reader.line_num, row


def _log(trials: str, measured: str) -> Log:
    readings: dict[str, list[LogReading]] = defaultdict(list)
    for line, row in _rows(measured):
        if row["phase"] == "measure":
            stated = row["mean"]
            one = LogReading(metric=row["metric"], value=float(stated), unit=row["unit"], line=line, stated=stated)
            readings[row["trial"]].append(one)
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
