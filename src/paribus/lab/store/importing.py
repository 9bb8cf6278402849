"""Import of files that others measured, and the document of `paribus import`."""

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from paribus import __version__
from paribus.errors import Interrupted, ParibusError, UsageError
from paribus.imports import pipeline
from paribus.imports.export_reader import exports_first
from paribus.imports.files import legible, listed
from paribus.imports.proposal import UnplacedFile, proposed_rules
from paribus.imports.reading import ImportReader, ReadFile
from paribus.imports.rules import Rules, read_rules
from paribus.imports.sets import NO_FACTOR, SetContents
from paribus.lab.store.stores import open_store
from paribus.model import Experiment
from paribus.parsers.formats import FORMATS
from paribus.registry import nearest

__all__ = ["FORMATS", "FileDocument", "ImportDocument", "ImportTally", "ImportedCell", "import_files", "import_request"]

_Labels = tuple[tuple[str, str], ...]
RunKey = tuple[_Labels, str, int | None]
"""Labels, workload and load of a run."""


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LineDocument(_Document):
    """A line that no reader understood."""

    line: int
    text: str


class FileDocument(_Document):
    """Outcome of importing a file."""

    path: str
    walked: bool = Field(description="found in a folder, and not named itself")
    sha256: str
    format: str
    runs: int
    skipped: int = Field(description="runs that the rules leave out")
    kept: bool
    same_as: str = Field(description="the file of the set that has the same bytes; empty: none")
    same_labels: str = Field(description="what that is of, as `scheduler = noop`")
    refused: str = Field(description="why no run was read; empty otherwise")
    cut_off: list[str] = Field(description="what its runs lack, where it ends too early")
    not_understood: list[LineDocument]
    remarks: list[str]


class ImportedCell(_Document):
    """Runs of one arm under one workload."""

    __qualname__ = "CellDocument"  # the name of this definition in schema/import.json
    model_config = ConfigDict(title="CellDocument")

    labels: dict[str, str]
    workload: str
    loads: list[int | None] = Field(description="null: not stated")
    runs: int


class ImportDocument(_Document):
    """The answer of `paribus import --json`."""

    version: Literal[1] = 1
    experiment: str | None = Field(description="the set; null where nothing was kept")
    name: str
    factors: dict[str, list[str]] = Field(
        description="of the whole set: levels in order, others compared with the first"
    )
    kept: int = Field(description="files that were new")
    files: list[FileDocument]
    cells: list[ImportedCell] = Field(description="what these files brought")
    proposed_rules: str = Field(
        description="rules for `--map` that make factors of the paths of runs without any; empty: none"
    )


def import_request(
    names: Sequence[str],
    factor: str,
    level: str,
    rules_file: Path | None,
    *,
    name: str,
    baseline: str,
    file_format: str,
) -> pipeline.ImportRequest:
    """The import that the options describe. Raises UsageError, and PlanError for the rules."""
    if bool(factor) != bool(level):
        raise UsageError(
            "--factor and --level must be given together", "write for example --factor scheduler --level noop"
        )
    if file_format and file_format not in FORMATS:
        raise UsageError(
            f"unknown format {file_format!r}", nearest(file_format, FORMATS) or f"known: {', '.join(FORMATS)}"
        )
    rules = read_rules(rules_file) if rules_file else Rules()
    labels = ((factor.strip(), level.strip()),) if factor else ()
    files = listed(names)
    return pipeline.ImportRequest(
        items=exports_first(files),
        reader=ImportReader(tuple(rules.rule), labels, file_format),
        name=name or rules.name or factor or _called(names),
        order=rules.levels,
        baseline=baseline,
    )


def _called(names: Sequence[str]) -> str:
    """Default name of a set: that of the only file or folder, else of the folder that holds all of them."""
    first_path = Path(legible(os.fsencode(Path(names[0]).absolute())))
    if len(names) == 1 or len({Path(name).absolute().parent for name in names}) > 1:
        return first_path.name.split(".")[0] or str(first_path)
    return first_path.parent.name or str(first_path.parent)


class ImportTally:
    """Accumulates the outcome of an import: of `every` file, else of those with a remark."""

    def __init__(self, *, every: bool = True) -> None:
        self.files: list[FileDocument] = []
        self.runs: Counter[RunKey] = Counter()
        self.unplaced: list[UnplacedFile] = []
        self.kept = 0
        self._every = every

    def add(self, outcome: pipeline.ImportOutcome) -> None:
        """Count a file."""
        self.kept += outcome.stored
        if outcome.stored:
            keys = list(_run_keys(outcome))
            self.runs.update(keys)
            self._note_unplaced(outcome.file.source.printable_path, keys)
        file = _file(outcome)
        if self._every or not outcome.stored or file.cut_off or file.not_understood or file.remarks:
            self.files.append(file)

    def _note_unplaced(self, path: str, keys: Sequence[RunKey]) -> None:
        labels, workloads, loads = zip(*keys, strict=True)
        if not any(labels):
            self.unplaced.append(UnplacedFile(path, tuple(dict.fromkeys(workloads)), tuple(dict.fromkeys(loads))))


def import_files(
    request: pipeline.ImportRequest,
    store: str | None,
    *,
    into: str = "",
    dry_run: bool = False,
    every_file: bool = True,
    on_file: Callable[[], None] = lambda: None,
) -> ImportDocument:
    """Import files into a set of the store; with `dry_run` nothing is kept. Calls `on_file` after each file.

    Raises StoreError, UsageError, and Interrupted at Ctrl-C: what was read until then is kept.
    """
    opened = None if dry_run else open_store(store, create=True)
    target = None
    if opened:
        target = pipeline.find_set(opened, into) if into else pipeline.set_named(opened, request.name)
    tally = ImportTally(every=every_file)

    def add(outcome: pipeline.ImportOutcome) -> None:
        on_file()
        tally.add(outcome)

    try:
        gathered, experiment = pipeline.carry_out(request, opened, target, __version__, add)
    except KeyboardInterrupt as stop:
        raise Interrupted(
            "interrupted; the files read so far are stored", "repeat the command to import the others"
        ) from stop
    return document(gathered, experiment, tally)


def _file(outcome: pipeline.ImportOutcome) -> FileDocument:
    read_file = outcome.file
    refused = read_file.refused
    if not refused and not read_file.runs and not outcome.duplicate_path:
        refused = "" if read_file.skipped else _no_run(read_file)
    return FileDocument(
        path=read_file.source.printable_path,
        walked=read_file.source.walked,
        sha256=read_file.sha256,
        format=read_file.format,
        runs=len(read_file.runs),
        skipped=read_file.skipped,
        kept=outcome.stored,
        same_as=outcome.duplicate_path,
        same_labels=outcome.labels if outcome.duplicate_path else "",
        refused=refused,
        cut_off=[run.missing for run in read_file.runs if run.missing],
        not_understood=[LineDocument(line=number, text=line) for number, line in read_file.not_understood],
        remarks=list(read_file.remarks),
    )


def _no_run(read_file: ReadFile) -> str:
    """Reason why no run was read from a file of a known format."""
    message = f"looks like {read_file.format}, but has no run that can be read"
    if not read_file.not_understood:
        return "; ".join([message, *read_file.remarks[:1]])
    number, line = read_file.not_understood[0]
    return f"{message}; what is not understood begins with line {number}: {line.strip()[:80]}"


def _run_keys(outcome: pipeline.ImportOutcome) -> Iterator[RunKey]:
    names = outcome.workloads or [run.placement.workload for run in outcome.file.runs]  # a copy is named as stated
    for run, workload in zip(outcome.file.runs, names, strict=True):
        yield tuple(run.placement.labels.items()), workload, run.placement.load


def document(contents: SetContents, experiment: Experiment | None, tally: ImportTally) -> ImportDocument:
    """Result of an import."""
    cells = []
    runs_by_cell: defaultdict[tuple[_Labels, str], dict[int | None, int]] = defaultdict(dict)
    for (labels, workload, load), n in tally.runs.items():
        runs_by_cell[labels, workload][load] = n
    for (labels, workload), runs_by_load in runs_by_cell.items():
        loads = sorted(runs_by_load, key=lambda load: -1 if load is None else load)
        cells.append(ImportedCell(labels=dict(labels), workload=workload, loads=loads, runs=sum(runs_by_load.values())))
    return ImportDocument(
        experiment=experiment.id if experiment else None,
        name=contents.name,
        factors={factor: levels for factor, levels in contents.levels.items() if factor != NO_FACTOR},
        kept=tally.kept,
        files=tally.files,
        cells=cells,
        proposed_rules=proposed_rules(tally.unplaced),
    )


def refuse_empty_import(document: ImportDocument) -> None:
    """Raise ParibusError if no file had anything to import, and none had been imported before."""
    if not document.kept and not any(file.same_as for file in document.files):
        raise ParibusError(
            "the named files have no run that can be read",
            f"name logs or tables, or force a format with --format: {', '.join(FORMATS)}",
        )
