"""Tables of web pages in rows of Markdown: cells that span several, titles between the rows, and heads in two lines."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from paribus.parsers.tables.columns import is_load

_MAX_COLUMNS, _MAX_HEADS, _MAX_TEXT = 256, 4, 200
_NUMBER = re.compile(r"[-+~≈]?[0-9][0-9.,' ]*%?")


@dataclass(slots=True)
class PageCell:
    """A cell, and the number of columns and rows that it spans."""

    is_head: bool = False
    columns: int = 1
    rows: int = 1
    text: str = ""

    @property
    def is_number(self) -> bool:
        """Whether it has a number and nothing else."""
        return _NUMBER.fullmatch(self.text) is not None


@dataclass(slots=True)
class PageTable:
    """The rows of a table so far; `is_frame` marks one that holds other tables, to place them on the page.

    `copies` is the number of cells that may still be written beside those that the page has.
    """

    copies: int
    caption: str = ""
    rows: list[list[PageCell]] = field(default_factory=list)
    is_frame: bool = False

    def lines(self) -> list[str]:
        """Return the rows; one that has only a spanning text is a title, under which the heads stand again."""
        grid = _without_numbers_of_rows(self._grid())
        width = max(map(len, grid), default=0)
        if width < 2:
            return [self.caption, *(cell.text for row in grid for cell in row)]
        has_cells = any(not cell.is_head for row in grid for cell in row)
        caption = self.caption[:_MAX_TEXT]
        heads: list[list[PageCell]] = []
        due: list[list[PageCell]] = []
        lines = [caption, ""]
        is_complete = False  # whether the heads are, since rows or a title have followed them
        for row in grid:
            if (title := _title(row, width)) is not None:
                lines += ["", f"{caption} ({title})" if caption and "(" not in title else title]
                due, is_complete = list(heads), bool(heads)
            elif not heads or (has_cells and _are_heads(row, has_begun=is_complete) and len(heads) < _MAX_HEADS):
                lines += [""] if is_complete else []
                heads = _with_head([] if is_complete else heads, row)
                due, is_complete = list(heads), False
            else:
                self.copies -= sum(map(len, due))
                lines += [self._line(each, width) for each in (*(due if self.copies > 0 else []), row)]
                due, is_complete = [], True
        return [*lines, *([] if is_complete else [self._line(each, width) for each in due]), ""]

    def _line(self, cells: Sequence[PageCell], width: int) -> str:
        """Return a row of Markdown, filled up to the width of the table."""
        texts = [cell.text.replace("|", "/") for cell in cells]
        self.copies -= width - len(texts)
        return f"| {' | '.join([*texts, *[''] * (width - len(texts) if self.copies > 0 else 0)])} |"

    def _grid(self) -> list[list[PageCell]]:
        """Return every row with the cells of earlier rows that reach into it, without rows that are empty.

        A number stands in each of its rows only where it is a load, or all cells before it span rows too: one figure of
        several runs is not repeated.
        """
        grid: list[list[PageCell]] = []
        reaching: dict[int, tuple[PageCell, int]] = {}  # by column: a cell, and the number of rows that it goes on
        for row in self.rows:
            cells: list[PageCell] = []
            unplaced = iter(row)
            while len(cells) < _MAX_COLUMNS:
                cell, more = reaching.pop(len(cells), (None, 0))
                columns, below = 1, cell
                if cell is None:
                    if (cell := next(unplaced, None)) is None:
                        break
                    more, columns = cell.rows - 1, min(cell.columns, _MAX_COLUMNS - len(cells))
                    if more + columns > 1:
                        cell.text = cell.text[:_MAX_TEXT]
                    head = grid[0][len(cells)].text if grid and len(cells) < len(grid[0]) else ""
                    is_repeated = not cell.is_number or is_load(head) or all(each.rows > 1 for each in cells)
                    below = cell if is_repeated else PageCell(rows=cell.rows)
                for column in range(len(cells), len(cells) + columns):
                    cells.append(cell)
                    if more:
                        self.copies -= 1
                        reaching[column] = (below if below and self.copies > 0 else PageCell(), more - 1)
            grid.append(cells)
        return [row for row in grid if any(cell.text for cell in row)]


def _are_heads(row: Sequence[PageCell], *, has_begun: bool) -> bool:
    """Return whether a row has heads; within a table, heads are no numbers."""
    if not all(cell.is_head for cell in row) or len({id(cell) for cell in row}) < 2:
        return False
    return not has_begun or not any(cell.is_number for cell in row)


def _title(row: Sequence[PageCell], width: int) -> str | None:
    """Return the text of a row that has only a text over several columns; None for other rows."""
    filled = {id(cell): cell for cell in row if cell.text}
    if len(filled) != 1:
        return None
    (cell,) = filled.values()
    spans = sum(each is cell for each in row) > 1 and not (cell.rows > 1 and width > len(row))
    return cell.text if spans and not cell.is_number else None


def _with_head(heads: list[list[PageCell]], row: list[PageCell]) -> list[list[PageCell]]:
    """Add a line of heads; one with the name of the first column alone, as of pandas, completes the line above it."""
    names_rows = bool(row and row[0].text) and not any(cell.text for cell in row[1:])
    if heads and names_rows and not heads[-1][0].text:
        return [*heads[:-1], [row[0], *heads[-1][1:]]]
    return [*heads, row]


def _without_numbers_of_rows(grid: list[list[PageCell]]) -> list[list[PageCell]]:
    """Leave out a first column that numbers the rows under an empty head."""
    firsts = [(row[0], all(cell.is_head for cell in row)) for row in grid]
    numbers = [first.text for first, of_heads in firsts if not of_heads and first.is_head]
    is_index = len(numbers) > 1 and numbers in (_count(0, numbers), _count(1, numbers))
    is_whole = len(numbers) == sum(not of_heads for _first, of_heads in firsts)
    if is_index and is_whole and not any(first.text for first, of_heads in firsts if of_heads):
        return [row[1:] for row in grid]
    return grid


def _count(first: int, numbers: Sequence[str]) -> list[str]:
    return [str(number) for number in range(first, first + len(numbers))]
