"""Tables of web pages in rows of Markdown: cells that span several, titles between the rows, and heads in two lines."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

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

    `copies` is the number of cells that spanning cells may still fill beside their first.
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
        caption = self.caption[:_MAX_TEXT]
        heads: list[list[PageCell]] = []
        due: list[list[PageCell]] = []
        lines = [caption, ""]
        has_begun = False
        for row in grid:
            if (title := _title(row, width)) is not None:
                lines += ["", f"{caption} ({title})" if caption and "(" not in title else title]
                due = list(heads)
            elif not heads or (not has_begun and len(heads) < _MAX_HEADS and all(cell.is_head for cell in row)):
                heads = _with_head(heads, row)
                due = list(heads)
            else:
                has_begun = True
                lines += [_line(each, width) for each in (*due, row)]
                due = []
        return [*lines, *([] if has_begun else [_line(each, width) for each in due]), ""]

    def _grid(self) -> list[list[PageCell]]:
        """Return every row with the cells of earlier rows that reach into it, without rows that are empty."""
        grid: list[list[PageCell]] = []
        reaching: dict[int, tuple[PageCell, int]] = {}  # by column: a cell, and the number of rows that it goes on
        for row in self.rows:
            cells: list[PageCell] = []
            unplaced = iter(row)
            while len(cells) < _MAX_COLUMNS:
                cell, more = reaching.pop(len(cells), (None, 0))
                columns = 1
                if cell is None:
                    if (cell := next(unplaced, None)) is None:
                        break
                    more, columns = cell.rows - 1, cell.columns
                    follows_spanning = all(each.rows > 1 for each in cells)
                    if more + columns > 1:
                        cell.text = cell.text[:_MAX_TEXT]
                    if more and cell.is_number and not follows_spanning:
                        more = 0  # one figure of several runs is not repeated
                columns = min(columns, _MAX_COLUMNS - len(cells))
                for column in range(len(cells), len(cells) + columns):
                    cells.append(cell)
                    if more and self.copies > 0:
                        reaching[column] = (cell, more - 1)
                        self.copies -= 1
            grid.append(cells)
        return [row for row in grid if any(cell.text for cell in row)]


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
    body = [row for row in grid if not all(cell.is_head for cell in row)]
    numbers = [row[0].text for row in body if row[0].is_head]
    is_index = len(numbers) == len(body) > 1 and numbers in (_count(0, numbers), _count(1, numbers))
    if is_index and not any(row[0].text for row in grid if row not in body):
        return [row[1:] for row in grid]
    return grid


def _count(first: int, numbers: Sequence[str]) -> list[str]:
    return [str(number) for number in range(first, first + len(numbers))]


def _line(cells: Iterable[PageCell], width: int) -> str:
    texts = [cell.text.replace("|", "/") for cell in cells]
    return f"| {' | '.join([*texts, *[''] * (width - len(texts))])} |"
