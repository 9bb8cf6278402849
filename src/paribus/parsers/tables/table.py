"""Plain tables: CSV, TSV, Markdown, and columns set apart by blanks; one number in each line, or levels across."""

import csv
import re
from bisect import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from paribus.parsers.log import Log, LogRun
from paribus.parsers.numbers import decimals
from paribus.parsers.plain import plain_lines, unended
from paribus.parsers.repeats import once
from paribus.parsers.tables import long_table
from paribus.parsers.tables.cells import Style, cell_of, empty
from paribus.parsers.tables.column_names import unit_of
from paribus.parsers.tables.heads import head_of
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
    """Lines that stand together with the same separator."""

    separator: str
    above: list[tuple[int, str]]
    over: Sequence[tuple[int, str]] = ()  # headings, the nearest last
    rows: list[tuple[int, list[str]]] = field(default_factory=list)

    @property
    def title(self) -> tuple[int, str]:
        """The line above that names a measure, else one that is a heading, else the last; 0 where there is none."""
        named = [one for one in self.above if head_of(one[1]).metric is not None]
        headings = [one for one in self.above if one[1].startswith(("#", "**", "Table", "Tab"))]
        return [(0, ""), *self.over[-1:], *filter(_is_title, self.above), *headings, *named][-1]

    @property
    def heading(self) -> tuple[int, str]:
        """The nearest heading that is not its title; 0 where there is none."""
        return [(0, ""), *(one for one in self.over if one != self.title)][-1]

    def cells_of(self, line: str) -> list[str]:
        """The cells of a line that has this table's separator and no stronger one."""
        other = any(mark in line and mark != self.separator for mark in "\t|")
        return _cells(line, self.separator) if not other and (self.separator in line or self.separator == " ") else []

    def goes_on(self, cells: list[str]) -> bool:
        """Whether cells of numbers belong to this table, even after a blank line or something said between."""
        widths = (len(self.rows[0][1]), len(self.rows[-1][1]))
        return len(cells) > 1 and len(cells) in widths and any(map(_number, reversed(cells)))


def _is_title(line: tuple[int, str]) -> bool:
    """Whether a line may be a table's title, and not a sentence."""
    return len(line[1].split()) <= _MOST_WORDS and not line[1].rstrip().endswith((".", "!", "?", ";"))


def _is_sentence(row: Sequence[str]) -> bool:
    """Whether a line is words with a comma between them rather than heads."""
    return bool(row[0].strip()) and all(row) and not any(map(_number, row))


def recognises(text: str) -> float:
    """By heads of a long table, or by lines whose cells are mostly numbers."""
    ends = "\n".join(plain_lines(text[:16384]))
    first = ends.split("\n", 1)[0].strip()
    if any(long_table.is_long(first.split(mark)) for mark in ",;\t"):
        return 0.95
    blocks, _rest = _blocks(ends.splitlines())
    best = 0.0
    for block in blocks:
        heads, rows = _heads(block.rows)
        cells = [cell for _line, row in rows for cell in row[1:] if not empty(cell)]
        numbers = sum(
            cell_of(cell, Style.POINT) is not None or cell_of(cell, Style.COMMA) is not None for cell in cells
        )
        if heads and len(cells) >= 2 and numbers > len(cells) / 2:
            best = max(best, 0.6 if block.separator in ("|", "\t") else 0.5 if block.separator in ",;" else 0.35)
    return best


def read(text: str) -> Log:
    """A run for each level at each load, or for each line that is one."""
    lines = plain_lines(text)
    blocks, rest = _blocks(lines)
    wrong: set[int] = set()
    runs: list[LogRun] = []
    remarks: list[str] = []
    cut = unended(text, lines)
    for block in blocks:
        unsure = _unsure(block, lines) if cut and block.rows[-1][0] == cut else ""
        made, bad, told = _read(block)
        runs += [replace(one, missing=unsure) if unsure and cut == one.lines[1] else one for one in made]
        remarks += [unsure] if unsure else []
        wrong |= bad
        remarks += told
    runs, copies = once(runs)
    runs, told = in_one_size(_merged(runs, [block.rows[0][0] for block in blocks]))
    remarks += [*copies, *told]
    beside = [(line, lines[line - 1]) for line in sorted({*rest, *wrong})]
    return Log(format=FORMAT, runs=tuple(runs), not_understood=tuple(beside), remarks=tuple(dict.fromkeys(remarks)))


def _separator(line: str, following: str) -> str:
    """What stands between the cells of a line, as also in the next; empty where it is no line of a table."""
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
        return [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]
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
    """The tables of a text, and the lines that are in none. A line above a table is its title."""
    if whole := _long(lines):
        return [whole], []
    blocks: list[_Block] = []
    rest: list[int] = []
    above: list[tuple[int, str]] = []
    over: list[tuple[int, str]] = []
    now: _Block | None = None
    for number, line in enumerate(lines, 1):
        if not line.strip() or (line[:4].strip(" |+:")[:1] in "-=" and (_RULE.fullmatch(line) or _BOX.fullmatch(line))):
            continue
        if match := _HEADING.match(line):
            deep = len(match[1])
            over = [one for one in over if len(one[1]) - len(one[1].lstrip("#")) < deep] + [(number, line.strip())]
        following = lines[number] if number < len(lines) else line
        if now is not None:
            cells = now.cells_of(line)
            if len(now.rows) > 1 and cells == now.rows[0][1]:
                now = None  # its heads again: another table
            elif now.goes_on(cells):
                now.rows.append((number, cells))
                above = []
                continue
            elif len(now.rows) > 1 and now.goes_on(now.cells_of(following)):
                rest.append(number)  # said between the lines of a table
                continue
        separator = _separator(line, following)
        cells = _cells(line, separator) if separator else [line.strip()]
        filled = [cell for cell in cells if cell]
        above = [*above[-2:], (number, filled[0] if len(filled) == 1 else line.strip())]
        if len(filled) < 2:  # also a spreadsheet's line with nothing but its first cell
            rest.append(number)
            now = None
        else:
            if now is None or now.separator != separator or len(now.rows) > 1:
                now = _Block(separator=separator, above=above[:-1], over=tuple(over))
                blocks.append(now)
            now.rows.append((number, cells))
    return _tables(blocks, rest)


def _long(lines: Sequence[str]) -> _Block | None:
    """A text that begins with the heads of a long table, as one: its lines need not be looked at for others."""
    heads = lines[0] if lines else ""
    separator = next((mark for mark in ",;\t" if long_table.is_long(heads.split(mark))), "")
    if not separator or any('"' in line and line.count('"') % 2 for line in lines):
        return None  # a cell may go on in the next line
    rows = [(number, _cells(line, separator)) for number, line in enumerate(lines, 1) if line.strip()]
    return _Block(separator=separator, above=[], rows=rows) if len(rows) > 1 else None


def _tables(blocks: list[_Block], rest: list[int]) -> tuple[list[_Block], list[int]]:
    """Only tables of two lines or more; the lines of the others are in none, and neither are titles that were used."""
    for block in blocks:
        widths = [len(row) for _line, row in block.rows[:3]]
        if len(widths) == 3 and widths[0] < widths[1] == widths[2] and _is_sentence(block.rows[0][1]):
            line, row = block.rows.pop(0)  # a title with a comma in it
            block.above.append((line, f"{block.separator} ".join(row)))
    whole = [block for block in blocks if len(block.rows) > 1]
    used = {line for block in whole for line, _text in (block.title, block.heading)}
    dropped = [line for block in blocks if len(block.rows) < 2 for line, _cells in block.rows]
    beside = [line for block in whole for line, _text in block.above if line not in dropped and line not in rest]
    return whole, sorted({*rest, *dropped, *beside} - used)


def _heads(rows: list[tuple[int, list[str]]]) -> tuple[list[tuple[int, list[str]]], list[tuple[int, list[str]]]]:
    """The one or two lines of heads, and the others."""
    count = 0
    for _line, row in rows[:2]:
        cells = [cell for cell in row[1:] if not empty(cell)]
        numbers = [cell for cell in cells if _number(cell) and not _of_something(cell)]
        if len(numbers) > 0 and not (count == 0 and len(numbers) == len(cells) > 1 and _is_words(row[0])):
            break
        if count and not cells:
            break
        count += 1
    return rows[:count], rows[count:]


def _of_something(cell: str) -> bool:
    """Whether words stand behind a number that are no unit: 8 threads."""
    found = cell_of(cell, Style.POINT) or cell_of(cell, Style.COMMA)
    return bool(found and len(found.unit) > 1 and unit_of(found.unit) is None and not _SCALED.match(found.unit))


def _unsure(block: _Block, lines: Sequence[str]) -> str:
    """Leave out the last number of a text that ends within its line, unless others of its column show it is whole."""
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


def _read(block: _Block) -> tuple[list[LogRun], set[int], list[str]]:
    header = block.rows[0][1]
    if long_table.is_long(header):
        runs, bad, told = long_table.runs(header, block.rows[1:], block.separator)
        return runs, set(bad), told
    heads, rows = _heads(block.rows)
    if not rows or not heads:
        return [], {line for line, _row in block.rows}, []
    table = WideTable(title=block.title[1], over=block.heading[1], heads=heads, rows=rows, separator=block.separator)
    table.read()
    if not table.runs:
        return [], {line for line, _row in block.rows}, table.remarks
    return table.runs, table.wrong, table.remarks


def _merged(runs: Iterable[LogRun], starts: Sequence[int]) -> list[LogRun]:
    """Runs of the same levels and load are one where several tables tell of it, each with a measure of its own.

    What one table tells otherwise than another that begins at another of the lines `starts` is told apart by its title.
    """
    found: dict[tuple[object, ...], LogRun] = {}
    repeated: list[LogRun] = []
    for one in runs:
        options = {name: said for name, said in one.options.items() if name != "title"}
        key = (one.workload, one.load, *sorted(one.labels.items()), *sorted(options.items()))
        before = found.setdefault(key, one)
        if before is one:
            continue
        known = {(reading.metric, reading.subject) for reading in before.readings}
        if one.labels and not one.courses and known.isdisjoint((each.metric, each.subject) for each in one.readings):
            span = (min(before.lines[0], one.lines[0]), max(before.lines[1], one.lines[1]))
            found[key] = replace(before, readings=(*before.readings, *one.readings), lines=span)
            continue
        at = bisect(starts, one.lines[0])
        if at != bisect(starts, before.lines[0]) and one.options.get("title", "") == before.options.get("title", ""):
            title = ", ".join(filter(None, (one.options.get("title"), f"from line {starts[at - 1]}")))
            repeated.append(replace(one, options={**one.options, "title": title}))
        else:
            repeated.append(one)
    return sorted([*found.values(), *repeated], key=lambda one: one.lines)
