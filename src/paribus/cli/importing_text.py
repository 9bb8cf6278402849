"""The document of an import as text."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from paribus.lab.importing import CellDocument, FileDocument, ImportDocument

_ROWS, _LOADS = 30, 8


_SHOWN = 5  # lines of each sort on a terminal; the document and the report have all


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
