"""Import of files that others measured, and the document of `paribus import`."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from paribus import __version__
from paribus.errors import Interrupted, UsageError
from paribus.imports import pipeline
from paribus.imports.export_reader import exports_first
from paribus.imports.files import listed
from paribus.imports.reading import ImportReader, ReadFile
from paribus.imports.rules import Rules, read_rules
from paribus.imports.sets import NO_FACTOR, SetContents
from paribus.lab.stores import open_store
from paribus.model import Experiment
from paribus.parsers.formats import FORMATS
from paribus.registry import nearest

__all__ = ["FORMATS", "CellDocument", "FileDocument", "ImportDocument", "ImportTally", "import_files", "import_request"]

RunKey = tuple[tuple[tuple[str, str], ...], str, int | None]
"""Labels, workload and load of a run."""


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LineDocument(_Document):
    """A line that no reader understood."""

    line: int
    text: str


class FileDocument(_Document):
    """What became of a file."""

    path: str
    walked: bool = Field(description="found in a folder, and not named itself")
    sha256: str
    format: str
    runs: int
    skipped: int = Field(description="runs that the rules leave out")
    kept: bool
    same_as: str = Field(description="the file of the set that has the same bytes; empty: none")
    same_labels: str = Field(description="what that is of, as `scheduler = noop`")
    refused: str = Field(description="why nothing came of it; empty where something did")
    cut_off: list[str] = Field(description="what its runs lack, where it ends too early")
    not_understood: list[LineDocument]
    remarks: list[str]


class CellDocument(_Document):
    """Runs of one arm under one workload."""

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
    cells: list[CellDocument] = Field(description="what these files brought")


def import_request(
    names: Sequence[str], factor: str, level: str, map_file: Path | None, *, name: str, baseline: str, form: str
) -> pipeline.ImportRequest:
    """What the command line asks for. Raises UsageError, and PlanError for the rules."""
    if bool(factor) != bool(level):
        raise UsageError("--factor and --level belong together", "write for example --factor scheduler --level noop")
    if form and form not in FORMATS:
        raise UsageError(f"there is no format {form!r}", nearest(form, FORMATS) or f"known: {', '.join(FORMATS)}")
    rules = read_rules(map_file) if map_file else Rules()
    given = ((factor.strip(), level.strip()),) if factor else ()
    files = listed(names)
    return pipeline.ImportRequest(
        items=exports_first(files),
        reader=ImportReader(tuple(rules.rule), given, form),
        name=name or rules.name or factor or _called(names),
        order=rules.levels,
        baseline=baseline,
    )


def _called(names: Sequence[str]) -> str:
    """What one file or folder is called, else the folder that several are in."""
    first = Path(names[0]).absolute()
    if len(names) == 1 or len({Path(name).absolute().parent for name in names}) > 1:
        return first.name.split(".")[0] or str(first)
    return first.parent.name or str(first.parent)


class ImportTally:
    """Accumulates the outcome of an import: of `every` file, else of those with a remark."""

    def __init__(self, *, every: bool = True) -> None:
        self.files: list[FileDocument] = []
        self.runs: Counter[RunKey] = Counter()
        self.kept = 0
        self._every = every

    def add(self, outcome: pipeline.ImportOutcome) -> None:
        """Count a file."""
        self.kept += outcome.stored
        if outcome.stored:
            self.runs.update(_run_keys(outcome))
        file = _file(outcome)
        if self._every or not outcome.stored or file.cut_off or file.not_understood or file.remarks:
            self.files.append(file)


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
        raise Interrupted("interrupted; what was read so far is kept", "the same command goes on") from stop
    return document(gathered, experiment, tally)


def _file(outcome: pipeline.ImportOutcome) -> FileDocument:
    taken = outcome.file
    refused = taken.refused
    if not refused and not taken.runs and not outcome.duplicate_path:
        refused = "" if taken.skipped else _no_run(taken)
    return FileDocument(
        path=taken.source.path,
        walked=taken.source.walked,
        sha256=taken.sha256,
        format=taken.format,
        runs=len(taken.runs),
        skipped=taken.skipped,
        kept=outcome.stored,
        same_as=outcome.duplicate_path,
        same_labels=outcome.labels if outcome.duplicate_path else "",
        refused=refused,
        cut_off=[run.missing for run in taken.runs if run.missing],
        not_understood=[LineDocument(line=number, text=line) for number, line in taken.not_understood],
        remarks=list(taken.remarks),
    )


def _no_run(taken: ReadFile) -> str:
    """Why a file that is in a known format brought nothing."""
    words = f"looks like {taken.format}, but has no run that can be read"
    if not taken.not_understood:
        return "; ".join([words, *taken.remarks[:1]])
    number, line = taken.not_understood[0]
    return f"{words}; what is not understood begins with line {number}: {line.strip()[:80]}"


def _run_keys(outcome: pipeline.ImportOutcome) -> Iterator[RunKey]:
    for run in outcome.file.runs:
        yield tuple(run.placement.labels.items()), run.placement.workload, run.placement.load


def document(found: SetContents, kept: Experiment | None, tally: ImportTally) -> ImportDocument:
    """What the import amounted to."""
    cells = []
    for labels, workload in dict.fromkeys((labels, workload) for labels, workload, _ in tally.runs):
        mine = {load: n for (own, under, load), n in tally.runs.items() if (own, under) == (labels, workload)}
        loads = sorted(mine, key=lambda load: -1 if load is None else load)
        cells.append(CellDocument(labels=dict(labels), workload=workload, loads=loads, runs=sum(mine.values())))
    return ImportDocument(
        experiment=kept.id if kept else None,
        name=found.name,
        factors={factor: levels for factor, levels in found.levels.items() if factor != NO_FACTOR},
        kept=tally.kept,
        files=tally.files,
        cells=cells,
    )


def refuse_nothing(found: ImportDocument) -> None:
    """Raise UsageError where no file had anything to import, and none was there already."""
    if not found.kept and not any(one.same_as for one in found.files):
        raise UsageError(
            "no run was found in what was named", f"name logs or tables; --format is one of {', '.join(FORMATS)}"
        )
