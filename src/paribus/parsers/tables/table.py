"""Reader of plain tables (CSV, TSV, Markdown, aligned text): one number per line, or levels across."""

import csv
import re
from bisect import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from paribus.parsers.log import Log, LogRun
from paribus.parsers.numbers import decimals
from paribus.parsers.plain import plain_lines, unterminated_line
from paribus.parsers.repeats import drop_copies
from paribus.parsers.tables import long_table
from paribus.parsers.tables.cells import Style, cell_of, empty
from paribus.parsers.tables.clashes import told_apart
from paribus.parsers.tables.column_names import unit_of
from paribus.parsers.tables.descriptions import describes, listed_lines
from paribus.parsers.tables.divided_cells import is_divided, undivided
from paribus.parsers.tables.heads import head_of
from paribus.parsers.tables.markdown import cells_between_pipes, unescaped, without_links
from paribus.parsers.tables.sizes import in_one_size
from paribus.parsers.tables.wide_table import WideTable

FORMAT = "table"

_RULE = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
_BOX = re.compile(r"[|+=\-\s]{3,}")
_SCALED = re.compile("[kKMG] ")
_HEADING = re.compile(r"(#{1,6}) ?[^\s#|]")
_BLANKS = re.compile(r"\t|\s{2,}")
_MOST_CELL, _MOST_WORDS = 4000, 12


@dataclass(slots=True)
class _Block:
    """Consecutive lines with the same separator."""

    separator: str
    above: list[tuple[int, str]]
    over: Sequence[tuple[int, str]] = ()  # headings, the nearest last
    rows: list[tuple[int, list[str]]] = field(default_factory=list)

    @property
    def title(self) -> tuple[int, str]:
        """The line above that names a metric, else a heading, else the nearest line; (0, "") if there is none."""
        named = [line for line in self.above if head_of(line[1]).metric is not None]
        headings = [line for line in self.above if line[1].startswith(("#", "**", "Table", "Tab"))]
        return [(0, ""), *self.over[-1:], *filter(_is_title, self.above), *headings, *named][-1]

    @property
    def heading(self) -> tuple[int, str]:
        """The nearest heading other than the title; (0, "") if there is none."""
        return [(0, ""), *(line for line in self.over if line != self.title)][-1]

    def cells_of(self, line: str) -> list[str]:
        """Return the cells of a line with this table's separator and no stronger one; empty for other lines."""
        other = any(mark in line and mark != self.separator for mark in "\t|")
        return _cells(line, self.separator) if not other and (self.separator in line or self.separator == " ") else []

    @property
    def describes(self) -> bool:
        """Whether this is a list of settings, counters or properties."""
        return describes([row for _line, row in self.rows], self.above[-1][1] if self.above else "")

    def has_other_heads(self, cells: list[str]) -> bool:
        """Return whether the cells are heads of other measures below the rows of this table."""
        return (
            len(self.rows) > 1
            and len(cells) == len(self.rows[0][1])
            and not any(map(_number, cells))
            and any(head_of(cell).metric is not None for cell in cells[1:])
        )

    def continues_with(self, cells: list[str]) -> bool:
        """Return whether the cells belong to this table, even after a blank line or a remark."""
        widths = (len(self.rows[0][1]), len(self.rows[-1][1]))
        if len(cells) < 2 or len(cells) not in widths:
            return False
        return any(map(_number, reversed(cells))) or all(any(map(is_divided, row)) for row in (cells, self.rows[-1][1]))


def _is_title(line: tuple[int, str]) -> bool:
    """Return whether a line can be a title rather than a sentence."""
    return len(line[1].split()) <= _MOST_WORDS and not line[1].rstrip().endswith((".", "!", "?", ";"))


def _is_sentence(row: Sequence[str]) -> bool:
    """Return whether a row is a sentence with commas rather than heads."""
    return bool(row[0].strip()) and all(row) and not any(map(_number, row))


def recognises(text: str) -> float:
    """Score by the heads of a long table, or by rows of mostly numbers."""
    ends = "\n".join(plain_lines(text[:16384]))
    first = ends.split("\n", 1)[0].strip()
    if any(long_table.is_long(first.split(mark)) for mark in ",;\t"):
        return 0.95
    blocks, _other_lines = _blocks(ends.splitlines())
    best = 0.0
    for block in blocks:
        heads, rows = _heads(block.rows)
        cells = [cell for _line, row in rows for cell in row[1:] if not empty(cell)]
        numbers = sum(_number(cell) or is_divided(cell) for cell in cells)
        if heads and len(cells) >= 2 and numbers > len(cells) / 2:
            best = max(best, 0.6 if block.separator in ("|", "\t") else 0.5 if block.separator in ",;" else 0.35)
    return best


def read(text: str) -> Log:
    """Read a run per level and load, or per line if each line is a run."""
    lines = plain_lines(text)
    blocks, other_lines = _blocks(lines)
    wrong: set[int] = set()
    tables: list[tuple[str, list[LogRun]]] = []
    remarks: list[str] = []
    cut = unterminated_line(text, lines)
    first_lines: dict[object, int] = {}
    for block in blocks:
        cells = tuple(tuple(row) for _line, row in block.rows)
        begin = first_lines.setdefault((cells, block.title[1], block.heading[1]), block.rows[0][0])
        if begin != block.rows[0][0]:
            remarks.append(f"the table from line {block.rows[0][0]} on is the same as that from line {begin} on")
            continue
        unsure = _unsure(block, lines) if cut and block.rows[-1][0] == cut else ""
        block_runs, block_wrong, block_remarks, around = _read(block)
        block_runs, copies = drop_copies(block_runs)  # those of another table show which of its cells differ
        marked = [replace(run, missing=unsure) if unsure and cut == run.lines[1] else run for run in block_runs]
        tables.append((around, marked))
        remarks += [unsure] if unsure else []
        wrong |= block_wrong
        remarks += [*block_remarks, *copies]
    runs, size_remarks = in_one_size(_merged(told_apart(tables), [block.rows[0][0] for block in blocks]))
    remarks += size_remarks
    not_understood = [(line, lines[line - 1]) for line in sorted({*other_lines, *wrong})]
    return Log(
        format=FORMAT, runs=tuple(runs), not_understood=tuple(not_understood), remarks=tuple(dict.fromkeys(remarks))
    )


def _separator(line: str, following: str) -> str:
    """Return the cell separator that a line shares with the next one; empty outside a table."""
    if line.count("|") >= 2 or ("|" in line and "," not in line):
        return "|"
    marks = [mark for mark in ("\t", ";", ",") if mark in line]
    if re.search(r"[.!?]$|, [a-z]+ [a-z]+ ", line.strip()):
        marks = [mark for mark in marks if mark != ","]
    if marks:
        counts = {mark: (len(_cells(line, mark)), len(_cells(following, mark))) for mark in marks}
        return max(marks, key=lambda mark: (counts[mark][0] == counts[mark][1], counts[mark][0]))
    return " " if len(_BLANKS.split(line.strip())) > 1 else ""


def _cells(line: str, separator: str) -> list[str]:
    if separator == "|":
        return cells_between_pipes(line)
    if separator == " ":
        return [cell.strip() for cell in _BLANKS.split(line.strip())]
    if len(line) > _MOST_CELL and any(len(part) > _MOST_CELL for part in line.split(separator)):
        return [line]
    if '"' not in line:
        return [cell.strip() for cell in line.split(separator)]
    try:
        return [cell.strip() for cell in next(csv.reader([line.replace("\0", " ")], delimiter=separator), [])]
    except csv.Error:
        return [line]


def _blocks(lines: Sequence[str]) -> tuple[list[_Block], list[int]]:
    """Return the tables of a text and the lines outside them; a line above a table is its title."""
    if whole := _long(lines):
        return [whole], []
    lines = [without_links(line) for line in lines]
    blocks: list[_Block] = []
    listed = listed_lines(lines)
    other_lines = [*listed]
    above: list[tuple[int, str]] = []
    headings: list[tuple[int, str]] = []
    block: _Block | None = None
    for number, line in enumerate(lines, 1):
        is_rule = line[:4].strip(" |+:")[:1] in "-=" and (_RULE.fullmatch(line) or _BOX.fullmatch(line))
        if not line.strip() or is_rule or number in listed:
            continue
        if match := _HEADING.match(line):
            depth = len(match[1])
            headings = [heading for heading in headings if len(heading[1]) - len(heading[1].lstrip("#")) < depth]
            headings.append((number, unescaped(line.strip())))
        following = lines[number] if number < len(lines) else line
        if block is not None:
            cells = block.cells_of(line)
            if len(block.rows) > 1 and cells == block.rows[0][1]:
                block = None  # repeated heads start another table
            elif block.continues_with(cells):
                block.rows.append((number, cells))
                above = []
                continue
            elif block.has_other_heads(cells):
                block = None
            elif len(block.rows) > 1 and block.continues_with(block.cells_of(following)):
                other_lines.append(number)  # text between the lines of a table
                continue
        separator = _separator(line, following)
        cells = _cells(line, separator) if separator else [line.strip()]
        filled = [cell for cell in cells if cell]
        above = [*above[-2:], (number, unescaped(filled[0] if len(filled) == 1 else line.strip()))]
        if len(filled) < 2:  # includes a spreadsheet line with only its first cell
            other_lines.append(number)
            block = None
        else:
            if block is None or block.separator != separator or len(block.rows) > 1:
                block = _Block(separator=separator, above=above[:-1], over=tuple(headings))
                blocks.append(block)
            block.rows.append((number, cells))
    return _tables(blocks, other_lines)


def _long(lines: Sequence[str]) -> _Block | None:
    """Return a text that starts with the heads of a long table as one block."""
    heads = lines[0] if lines else ""
    separator = next((mark for mark in ",;\t" if long_table.is_long(heads.split(mark))), "")
    if not separator or any('"' in line and line.count('"') % 2 for line in lines):
        return None  # a cell may continue on the next line
    rows = [(number, _cells(line, separator)) for number, line in enumerate(lines, 1) if line.strip()]
    return _Block(separator=separator, above=[], rows=rows) if len(rows) > 1 else None


def _tables(blocks: list[_Block], other_lines: list[int]) -> tuple[list[_Block], list[int]]:
    """Keep tables of two lines or more; return the lines outside them, without used titles."""
    for block in blocks:
        widths = [len(row) for _line, row in block.rows[:3]]
        if len(widths) == 3 and widths[0] < widths[1] == widths[2] and _is_sentence(block.rows[0][1]):
            line, row = block.rows.pop(0)  # a title with a comma in it
            block.above.append((line, f"{block.separator} ".join(row)))
    whole = [block for block in blocks if len(block.rows) > 1 and not block.describes]
    used = {line for block in whole for line, _text in (block.title, block.heading)}
    dropped = [line for block in blocks if block not in whole for line, _cells in block.rows]
    beside = [line for block in whole for line, _text in block.above if line not in dropped and line not in other_lines]
    return whole, sorted({*other_lines, *dropped, *beside} - used)


def _heads(rows: list[tuple[int, list[str]]]) -> tuple[list[tuple[int, list[str]]], list[tuple[int, list[str]]]]:
    """Split rows into one or two lines of heads, and the others."""
    count = 0
    for _line, row in rows[:2]:
        cells = [cell for cell in row[1:] if not empty(cell)]
        numbers = [cell for cell in cells if _number(cell) and not _of_something(cell)]
        if len(numbers) > 0 and not (count == 0 and len(numbers) == len(cells) > 1 and _is_words(row[0])):
            break
        is_named = bool(row[0].strip()) and row[0] != rows[0][1][0]
        if count and (not cells or (is_named and any(map(is_divided, cells)))):
            break
        count += 1
    heads = rows[:count]
    if count > 1 and not heads[1][1][0].strip():  # the corner spans both lines
        heads[1] = (heads[1][0], [heads[0][1][0], *heads[1][1][1:]])
    return heads, rows[count:]


def _of_something(cell: str) -> bool:
    """Return whether words that are no unit follow a number: 8 threads."""
    parsed = cell_of(cell, Style.POINT) or cell_of(cell, Style.COMMA)
    return bool(parsed and len(parsed.unit) > 1 and unit_of(parsed.unit) is None and not _SCALED.match(parsed.unit))


def _unsure(block: _Block, lines: Sequence[str]) -> str:
    """Drop the last number of an unterminated text and return a remark, unless its column shows that it is complete."""
    line, row = block.rows[-1]
    index = len(row) - 1
    if lines[line - 1].rstrip().endswith(("|", '"')) or not re.search("[0-9]", row[-1]):
        return ""
    others = {
        decimals(cells[index]) for _line, cells in block.rows[1:-1] if len(cells) > index and _number(cells[index])
    }
    if (
        decimals(row[-1]) > 0
        and not any("," in cell for _line, cells in block.rows for cell in cells)
        and others == {decimals(row[-1])}
    ):
        return ""
    block.rows[-1] = (line, [*row[:-1], ""])
    return f"line {line} has no end: its last number may be cut, and is left out"


def _number(cell: str) -> bool:
    return any(cell_of(cell, style) is not None for style in (Style.POINT, Style.COMMA))


def _is_words(cell: str) -> bool:
    return not cell.strip() or (cell_of(cell, Style.POINT) is None and bool(re.search(r"[^\W\d]", cell)))


def _read(block: _Block) -> tuple[list[LogRun], set[int], list[str], str]:
    """Return runs, lines that were not understood, remarks, and what the heading above the title says."""
    header = block.rows[0][1]
    if long_table.is_long(header):
        runs, bad, remarks = long_table.runs(header, block.rows[1:], block.separator)
        return runs, set(bad), remarks, ""
    heads, rows = _heads(block.rows)
    if not rows or not heads:
        return [], {line for line, _row in block.rows}, [], ""
    heads, rows, title = undivided(heads, rows, block.title[1])
    table = WideTable(title=title, over=block.heading[1], heads=heads, rows=rows, separator=block.separator)
    table.read()
    if not table.runs:
        return [], {line for line, _row in block.rows}, table.remarks, ""
    return table.runs, table.wrong, table.remarks, table.around


def _merged(runs: Iterable[LogRun], starts: Sequence[int]) -> list[LogRun]:
    """Merge runs of equal levels and load from several tables with different metrics.

    Conflicting values from tables at different `starts` (first lines) are distinguished by the title.
    """
    merged: dict[tuple[object, ...], LogRun] = {}
    repeated: list[LogRun] = []
    for run in runs:
        options = {name: value for name, value in run.options.items() if name != "title"}
        key = (run.workload, run.load, *sorted(run.labels.items()), *sorted(options.items()))
        first = merged.setdefault(key, run)
        if first is run:
            continue
        measures, others = ({(reading.metric, reading.subject) for reading in each.readings} for each in (first, run))
        if run.labels and not run.courses and measures.isdisjoint(others):
            span = (min(first.lines[0], run.lines[0]), max(first.lines[1], run.lines[1]))
            merged[key] = replace(first, readings=(*first.readings, *run.readings), lines=span)
            continue
        table_index = bisect(starts, run.lines[0])
        title = run.options.get("title", "")
        if table_index != bisect(starts, first.lines[0]) and title == first.options.get("title", ""):
            title = ", ".join(filter(None, (title, f"from line {starts[table_index - 1]}")))
            repeated.append(replace(run, options={**run.options, "title": title}))
        else:
            repeated.append(run)
    return sorted([*merged.values(), *repeated], key=lambda run: run.lines)
