"""The answer of `paribus import`, as one document and as text, and what a person sees meanwhile."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from paribus.errors import UsageError
from paribus.imports import pipeline
from paribus.imports.export_reader import exports_first
from paribus.imports.files import listed
from paribus.imports.reading import Reader, Taken
from paribus.imports.rules import Rules, read_rules
from paribus.imports.sets import NO_FACTOR, Gathered
from paribus.model import Experiment
from paribus.parsers.formats import FORMATS
from paribus.registry import nearest

Place = tuple[tuple[tuple[str, str], ...], str, int | None]
"""Labels, workload and load of a run."""

_ROWS, _LOADS = 30, 8
_SHOWN = 5  # lines of each sort on a terminal; the document and the report have all


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


def wanted(
    names: Sequence[str], factor: str, level: str, map_file: Path | None, *, name: str, baseline: str, form: str
) -> pipeline.Wanted:
    """What the command line asks for. Raises UsageError, and PlanError for the rules."""
    if bool(factor) != bool(level):
        raise UsageError("--factor and --level belong together", "write for example --factor scheduler --level noop")
    if form and form not in FORMATS:
        raise UsageError(f"there is no format {form!r}", nearest(form, FORMATS) or f"known: {', '.join(FORMATS)}")
    rules = read_rules(map_file) if map_file else Rules()
    given = ((factor.strip(), level.strip()),) if factor else ()
    files = listed(names)
    return pipeline.Wanted(
        items=exports_first(files),
        reader=Reader(tuple(rules.rule), given, form),
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


class Watch:
    """Shows how far an import is, and remembers what became of it: of `every` file, else of those that need a word."""

    def __init__(self, console: Console, files: int, *, every: bool = True) -> None:
        self.files: list[FileDocument] = []
        self.runs: Counter[Place] = Counter()
        self.kept = 0
        self._every = every
        self._progress = Progress(
            TextColumn("files"),
            BarColumn(bar_width=32),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._whole = self._progress.add_task("", total=files)
        self._started = False

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def hears(self, outcome: pipeline.Outcome) -> None:
        """A file was read. The bar begins here, when all processes that read are there: it is drawn by a thread."""
        if not self._started:
            self._started = True
            self._progress.start()
        self._progress.advance(self._whole)
        self.kept += outcome.kept
        if outcome.kept:
            self.runs.update(_places(outcome))
        file = _file(outcome)
        if self._every or not outcome.kept or file.cut_off or file.not_understood or file.remarks:
            self.files.append(file)


def _file(outcome: pipeline.Outcome) -> FileDocument:
    taken = outcome.taken
    refused = taken.refused
    if not refused and not taken.runs and not outcome.again:
        refused = "" if taken.skipped else _no_run(taken)
    return FileDocument(
        path=taken.named.path,
        walked=taken.named.walked,
        sha256=taken.sha256,
        format=taken.format,
        runs=len(taken.runs),
        skipped=taken.skipped,
        kept=outcome.kept,
        same_as=outcome.again,
        same_labels=outcome.labels if outcome.again else "",
        refused=refused,
        cut_off=[run.missing for run in taken.runs if run.missing],
        not_understood=[LineDocument(line=number, text=line) for number, line in taken.not_understood],
        remarks=list(taken.remarks),
    )


def _no_run(taken: Taken) -> str:
    """Why a file that is in a known format brought nothing."""
    words = f"looks like {taken.format}, but has no run that can be read"
    if not taken.not_understood:
        return "; ".join([words, *taken.remarks[:1]])
    number, line = taken.not_understood[0]
    return f"{words}; what is not understood begins with line {number}: {line.strip()[:80]}"


def _places(outcome: pipeline.Outcome) -> Iterator[Place]:
    for run in outcome.taken.runs:
        yield tuple(run.placed.labels.items()), run.placed.workload, run.placed.load


def document(found: Gathered, kept: Experiment | None, watch: Watch) -> ImportDocument:
    """What the import amounted to."""
    cells = []
    for labels, workload in dict.fromkeys((labels, workload) for labels, workload, _ in watch.runs):
        mine = {load: n for (own, under, load), n in watch.runs.items() if (own, under) == (labels, workload)}
        loads = sorted(mine, key=lambda load: -1 if load is None else load)
        cells.append(CellDocument(labels=dict(labels), workload=workload, loads=loads, runs=sum(mine.values())))
    return ImportDocument(
        experiment=kept.id if kept else None,
        name=found.name,
        factors={factor: levels for factor, levels in found.levels.items() if factor != NO_FACTOR},
        kept=watch.kept,
        files=watch.files,
        cells=cells,
    )


def refuse_nothing(found: ImportDocument) -> None:
    """Raise UsageError where no file had anything to import, and none was there already."""
    if not found.kept and not any(one.same_as for one in found.files):
        raise UsageError(
            "no run was found in what was named", f"name logs or tables; --format is one of {', '.join(FORMATS)}"
        )


def show(found: ImportDocument, console: Console) -> None:
    """Print the document for a person."""
    new = [one for one in found.files if one.kept]
    what = f"{_count(found.kept, 'file')}, {_count(sum(cell.runs for cell in found.cells), 'run')}"
    where = f"set {found.experiment} ({found.name})" if found.experiment else f"{found.name}, nothing is kept"
    _say(console, f"{where}: {what}")
    if found.cells:
        console.print(_table(found))
    _several(console, [f"{one.path} ({_as(one)})" for one in found.files if one.same_as], "already there")
    for walked, title in ((False, "not read"), (True, "passed over")):
        mine = [f"{one.path} {one.refused}" for one in found.files if one.refused and one.walked is walked]
        _several(console, mine, title)
    lacks = (
        (one.path, words, "" if "breaks off" in words else " lacks") for one in found.files for words in one.cut_off
    )
    _several(console, [f"{path}{verb}: {words}" for path, words, verb in lacks], "cut off")
    _several(console, [f"{one.path}: {words}" for one in new for words in one.remarks], "remark")
    lines = [f"{one.path}:{line.line}: {line.text.strip()[:100]}" for one in new for line in one.not_understood]
    _several(console, lines, "not understood", many="lines were not understood; all are kept, and in the report")
    if found.experiment:
        _say(console, f"see it with: paribus report {found.experiment}")
        alone = [factor for factor, levels in found.factors.items() if len(levels) == 1]
        if found.factors and len(alone) == len(found.factors):
            _say(console, f"{alone[0]} has one level so far; import files of another to compare them")


def _as(file: FileDocument) -> str:
    told = [f"as {file.same_as}" if file.same_as != file.path else "", file.same_labels]
    return ", ".join(filter(None, told)) or "the same bytes"


def _table(found: ImportDocument) -> Table:
    """A row for each factor under each workload, with its levels."""
    shown = Table(box=None, pad_edge=False, header_style="dim")
    for title in ("factor", "levels", "workload", "threads"):
        shown.add_column(title, overflow="fold")
    shown.add_column("runs", justify="right", no_wrap=True)
    rows: dict[tuple[tuple[str, ...], str], list[CellDocument]] = {}
    for cell in found.cells:
        rows.setdefault((tuple(cell.labels), cell.workload), []).append(cell)
    for (factors, workload), cells in list(rows.items())[:_ROWS]:
        levels = (dict.fromkeys(cell.labels[factor] for cell in cells) for factor in factors)
        loads = {load for cell in cells for load in cell.loads}
        shown.add_row(
            Text(" × ".join(factors)),
            Text(" × ".join(", ".join(each) for each in levels)),
            Text(workload),
            _loads(loads),
            str(sum(cell.runs for cell in cells)),
        )
    if len(rows) > _ROWS:
        shown.add_row(f"… {len(rows) - _ROWS} more")
    return shown


def _loads(loads: set[int | None]) -> str:
    stated = sorted(load for load in loads if load is not None)
    words = [str(load) for load in stated]
    if len(words) > _LOADS:
        words = [*words[:2], "…", words[-1]]
    return ", ".join([*words, *(["not stated"] if None in loads else [])])


def _several(console: Console, lines: Sequence[str], title: str, many: str = "") -> None:
    """The first of some lines, and how many there are."""
    if not lines:
        return
    if many:
        _say(console, f"{len(lines):,} {many}; the first:" if len(lines) > 1 else f"{title}: {lines[0]}")
        if len(lines) == 1:
            return
    for line in lines[:_SHOWN]:
        _say(console, f"  {line}" if many else f"{title}: {line}")
    if len(lines) > _SHOWN and not many:
        _say(console, f"{title}: {len(lines) - _SHOWN:,} more; --json lists them")


def _say(console: Console, words: str) -> None:
    console.print(Text("".join(c for c in words if c.isprintable())), soft_wrap=True)


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
