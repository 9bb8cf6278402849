"""Cells with several figures, as in `1234 / 5.2`: each becomes a column or a row of its own.

As many measures must be named in the same form, as in `TPS / p95 (ms)`: by the head, the first cell of the row, or the
title.
"""

import re
from collections.abc import Callable, Sequence
from itertools import chain

from paribus.parsers.tables.cells import Style, cell_of, empty
from paribus.parsers.tables.columns import is_load
from paribus.parsers.tables.heads import head_of

Row = tuple[int, list[str]]
_SLASH = re.compile(r"\s*/\s*")
_SUFFIX = re.compile(r",? \b(?:by|per|for|under|on|with|at)\b|[:;]", re.IGNORECASE)
_LONGEST, _MAX_FIGURES = 120, 8


def is_divided(cell: str) -> bool:
    """Return whether a cell has several figures with slashes between them."""
    return "/" in cell and len(_figures(cell)) > 1


def undivided(heads: Sequence[Row], rows: Sequence[Row], title: str) -> tuple[list[Row], list[Row], str]:
    """Return the heads, rows and title of a table with one figure in each cell.

    They are as they were where no names fit the figures. Measures that the columns have taken from the title are not in
    it any more.
    """
    counts = {len(_figures(cell)) for _line, row in rows for cell in row[1:] if is_divided(cell)}
    if len(counts) != 1:
        return list(heads), list(rows), title
    (count,) = counts
    rows = [(line, divided) for line, row in rows for divided in _rows(row, count)]
    line, bottom = heads[-1]
    columns = [index for index in range(1, len(bottom)) if _is_column(index, rows, count)]
    names = {index: _names(bottom[index], count) for index in columns}
    if columns and not any(names.values()) and _may_have_measures_of_title(bottom, rows, columns):
        measures, suffix = _measures(title.strip("# "), count)
        title = suffix if measures else title
        names = {index: [f"{bottom[index]} {name}".strip() for name in measures] for index in columns}

    def across(row: Sequence[str], parts_of: Callable[[int, str], list[str]]) -> list[str]:
        parts = [parts_of(index, cell) if names.get(index) else [cell] for index, cell in enumerate(row)]
        return list(chain.from_iterable(parts))

    above = [(number, across(row, lambda _index, cell: [cell] * count)) for number, row in heads[:-1]]
    head = (line, across(bottom, lambda index, _cell: names[index]))
    below = [(number, across(row, lambda _index, cell: _parts(cell, count))) for number, row in rows]
    return [*above, head], below, title


def _figures(cell: str) -> list[str]:
    """The figures of a cell, of which some may be marked as absent; none where a part is anything else."""
    parts = _SLASH.split(cell.strip().strip("*`")) if len(cell) <= _LONGEST else []
    numbers = [part for part in parts if cell_of(part, Style.POINT) or cell_of(part, Style.COMMA)]
    others = [part for part in parts if part not in numbers]
    return parts if numbers and len(parts) <= _MAX_FIGURES and all(map(empty, others)) else []


def _is_column(index: int, rows: Sequence[Row], count: int) -> bool:
    """Return whether some cells of a column have so many figures, and no others have a single one."""
    cells = [row[index] for _line, row in rows if index < len(row) and not empty(row[index])]
    divided = [cell for cell in cells if len(_figures(cell)) == count]
    return bool(divided) and all("/" in cell for cell in cells)


def _names(text: str, count: int) -> list[str]:
    """Return the names of so many measures, each with what follows all of them."""
    measures, suffix = _measures(text, count)
    return [name + suffix for name in measures]


def _measures(text: str, count: int) -> tuple[list[str], str]:
    """Return the names of so many measures between slashes, and what follows them: TPS / p95 (ms), at 8 threads.

    The last measure lends its words to others that are none without, as in min / avg / max latency (ms).
    """
    plain = text.strip().strip("*`")[:_LONGEST]
    suffix = plain[match.start() :] if (match := _SUFFIX.search(plain)) else ""
    parts = _SLASH.split(plain.removesuffix(suffix))
    if len(parts) != count:
        return [], ""
    shared = parts[-1].partition(" ")[2]
    names = [_with_words(part, shared) for part in parts[:-1]] + parts[-1:]
    is_alike = len({head_of(name).qualifier for name in names}) == 1  # words of a single one would make it a level
    return (names, suffix) if is_alike and all(map(_is_measure, names)) else ([], "")


def _is_measure(name: str) -> bool:
    """Return whether a name is that of a measure, beyond a word such as `read` that may be one."""
    head = head_of(name)
    return head.metric is not None and not (head.metric.loose and head.unit is None)


def _with_words(part: str, shared: str) -> str:
    """Return a measure with the words and the unit of the last one, where it is incomplete without them."""
    plain, longer = head_of(part), head_of(f"{part} {shared}")
    if longer.metric is None or not shared:
        return part
    if plain.metric is None or plain.metric.loose:
        return f"{part} {shared}"
    lacks_unit = plain.unit is None and longer.unit is not None and longer.unit.base == plain.metric.expects
    return f"{part} {shared}" if lacks_unit and longer.metric.name == plain.metric.name else part


def _may_have_measures_of_title(bottom: Sequence[str], rows: Sequence[Row], columns: Sequence[int]) -> bool:
    """Return whether all columns of figures are divided, and no head is of a measure or divided itself."""
    heads = [bottom[index] for index in columns]
    others = [index for index in range(1, len(bottom)) if index not in columns and not is_load(bottom[index])]
    figures = any(_is_single(row[index]) for _line, row in rows for index in others if index < len(row))
    return not figures and not any("/" in head or head_of(head).metric for head in (*heads, *bottom[1:]))


def _is_single(cell: str) -> bool:
    return cell_of(cell, Style.POINT) is not None or cell_of(cell, Style.COMMA) is not None


def _rows(row: Sequence[str], count: int) -> list[list[str]]:
    """Return the rows that a row becomes, if its first cell names the measures."""
    names = _names(row[0], count)
    if not names or not all(empty(cell) or len(_figures(cell)) == count for cell in row[1:]):
        return [list(row)]
    return [[name, *(_parts(cell, count)[index] for cell in row[1:])] for index, name in enumerate(names)]


def _parts(cell: str, count: int) -> list[str]:
    figures = _figures(cell)
    return figures if len(figures) == count else [cell] * count
