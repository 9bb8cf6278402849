"""The document of an import as text."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from paribus.cli.store_hints import with_store
from paribus.lab.store.importing import FileDocument, ImportDocument, ImportedCell

_ROWS, _LOADS, _MAX_LEVELS = 30, 8, 12


_SHOWN = 5  # lines of each kind on a terminal; the document and the report have all


def show(document: ImportDocument, console: Console) -> None:
    """Print the document for a person."""
    new_files = [file for file in document.files if file.kept]
    counts = f"{_count(document.kept, 'file')}, {_count(sum(cell.runs for cell in document.cells), 'run')}"
    destination = (
        f"set {document.experiment} ({document.name})" if document.experiment else f"{document.name}, nothing is kept"
    )
    _say(console, f"{destination}: {counts}")
    if document.cells:
        console.print(_table(document))
    _say_lines(
        console, [f"{file.path} ({_duplicate_of(file)})" for file in document.files if file.same_as], "already there"
    )
    for walked, title in ((False, "not read"), (True, "passed over")):
        lines = [f"{file.path} {file.refused}" for file in document.files if file.refused and file.walked is walked]
        _say_lines(console, lines, title)
    incomplete_runs = (
        (file.path, missing, "" if "breaks off" in missing else " lacks")
        for file in document.files
        for missing in file.cut_off
    )
    _say_lines(console, [f"{path}{verb}: {missing}" for path, missing, verb in incomplete_runs], "cut off")
    _say_lines(console, [f"{file.path}: {remark}" for file in new_files for remark in file.remarks], "remark")
    lines = [
        f"{file.path}:{line.line}: {line.text.strip()[:100]}" for file in new_files for line in file.not_understood
    ]
    _say_lines(console, lines, "not understood", summary="lines were not understood; all are kept, and in the report")
    if document.experiment:
        _say(console, with_store(f"see it with: paribus report {document.experiment}"))
        single_level_factors = [factor for factor, levels in document.factors.items() if len(levels) == 1]
        if document.factors and len(single_level_factors) == len(document.factors):
            _say(console, f"{single_level_factors[0]} has one level so far; import files of another to compare them")
    if document.proposed_rules:
        _propose(document, console)


def _propose(document: ImportDocument, console: Console) -> None:
    """Print rules that would give the runs factors, and how to use them."""
    _say(
        console,
        "runs without a factor are not compared; these rules make factors of the parts in which their paths differ:",
    )
    console.print(Text(f"\n{document.proposed_rules}"), soft_wrap=True)
    again = " --name " + (f"{document.name}-2" if document.experiment else document.name)  # a set has a file once
    _say(console, f"correct the names of the factors, save this as rules.toml, and import with --map rules.toml{again}")


def _duplicate_of(file: FileDocument) -> str:
    """The file and labels of which a file is a duplicate."""
    parts = [f"as {file.same_as}" if file.same_as != file.path else "", file.same_labels]
    return ", ".join(filter(None, parts)) or "the same bytes"


def _few(levels: Sequence[str]) -> str:
    """Return the levels of a factor; of many, the first ones and their number."""
    if len(levels) <= _MAX_LEVELS:
        return ", ".join(levels)
    return f"{', '.join(levels[: _MAX_LEVELS - 1])}, … ({len(levels)})"


def _table(document: ImportDocument) -> Table:
    """A row for each factor under each workload, with its levels."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for title in ("factor", "levels", "workload", "threads"):
        table.add_column(title, overflow="fold")
    table.add_column("runs", justify="right", no_wrap=True)
    rows: dict[tuple[tuple[str, ...], str], list[ImportedCell]] = {}
    for cell in document.cells:
        rows.setdefault((tuple(cell.labels), cell.workload), []).append(cell)
    for (factors, workload), cells in list(rows.items())[:_ROWS]:
        levels = (dict.fromkeys(cell.labels[factor] for cell in cells) for factor in factors)
        loads = {load for cell in cells for load in cell.loads}
        table.add_row(
            Text(" × ".join(factors)),
            Text(" × ".join(_few(list(each)) for each in levels)),
            Text(workload),
            _loads(loads),
            str(sum(cell.runs for cell in cells)),
        )
    if len(rows) > _ROWS:
        table.add_row(f"… {len(rows) - _ROWS} more")
    return table


def _loads(loads: set[int | None]) -> str:
    stated = sorted(load for load in loads if load is not None)
    texts = [str(load) for load in stated]
    if len(texts) > _LOADS:
        texts = [*texts[:2], "…", texts[-1]]
    return ", ".join([*texts, *(["not stated"] if None in loads else [])])


def _say_lines(console: Console, lines: Sequence[str], title: str, summary: str = "") -> None:
    """Print the first lines, and how many there are."""
    if not lines:
        return
    if summary:
        _say(console, f"{len(lines):,} {summary}; the first:" if len(lines) > 1 else f"{title}: {lines[0]}")
        if len(lines) == 1:
            return
    for line in lines[:_SHOWN]:
        _say(console, f"  {line}" if summary else f"{title}: {line}")
    if len(lines) > _SHOWN and not summary:
        _say(console, f"{title}: {len(lines) - _SHOWN:,} more; --json lists them")


def _say(console: Console, text: str) -> None:
    console.print(Text("".join(character for character in text if character.isprintable())), soft_wrap=True)


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
