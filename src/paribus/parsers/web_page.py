"""Text of a web page as a reader sees it: headings, paragraphs, preformatted output, and tables in rows of Markdown.

In: HTML. Out: lines that the readers of tables and of tools take. Called where a file is opened, so that passwords are
found in the text that is kept.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape

_PAGE = re.compile(r"\s*<(?:!doctype html|html|head|body|table|pre|div|h[1-6]|p|!--)\b", re.IGNORECASE)
_TOKEN = re.compile(r"<!--|<(?P<end>/?)(?P<tag>[A-Za-z][A-Za-z0-9]*)(?P<attributes>[^<>]*)>|<[!?][^<>]*>|[^<]+|<")
_ATTRIBUTE = re.compile(r"""([A-Za-z-]+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+))?""")
_CODE = ("script", "style")  # their content is no HTML
_LEFT_OUT = (*_CODE, "template", "head", "svg", "noscript", "button", "select", "nav")
_LINES = ("p", "div", "li", "br", "hr", "section", "article", "dt", "dd", "blockquote", "ul", "ol", "figcaption")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_VOID = ("br", "hr", "img", "input", "col", "link", "meta", "wbr", "source", "area", "base", "embed", "track")
_HIDDEN = re.compile(r"display\s*:\s*none", re.IGNORECASE)
_MAX_COLUMNS, _MAX_ROWS_OF_CELL, _HEAD = 256, 1000, 1000


def is_page(text: str) -> bool:
    """Return whether a text begins as a web page, or as a part of one."""
    return _PAGE.match(text.removeprefix("\ufeff")[:_HEAD]) is not None


def text_of(page: str) -> str:
    """Return what a web page shows, line by line; a cell that spans several is repeated in each."""
    reader = _PageReader()
    for token in _tokens(page):
        if isinstance(token, str):
            reader.take(unescape(token))
        elif token["end"]:
            reader.end_element(token["tag"].lower())
        else:
            reader.begin_element(token["tag"].lower(), _attributes(token["attributes"]))
    reader.end()
    return "\n".join(reader.lines) + "\n"


def _tokens(page: str) -> Iterator[str | re.Match[str]]:
    """Yields tags and texts in time proportional to the length, whatever stays open; the standard parser does not."""
    position = 0
    while match := _TOKEN.match(page, position):
        position = match.end()
        tag = (match["tag"] or "").lower()
        if match[0] == "<!--":
            position = page.find("-->", position) + 3
            if position < 3:
                return
        elif tag:
            yield match
            if tag in _CODE and not match["end"]:
                end = re.compile(f"</{tag}", re.IGNORECASE).search(page, position)
                if end is None:
                    return
                position = end.start()
        elif not match[0].startswith(("<!", "<?")):
            yield match[0]


def _attributes(text: str) -> dict[str, str]:
    return {name.lower(): unescape(value.strip("\"'")) for name, value in _ATTRIBUTE.findall(text)}


@dataclass(slots=True)
class _Cell:
    """A cell, and the number of columns and rows that it spans."""

    is_head: bool
    columns: int
    rows: int
    text: str = ""


@dataclass(slots=True)
class _Table:
    """The rows of a table so far; `is_frame` marks one that holds other tables, to place them on the page."""

    caption: str = ""
    rows: list[list[_Cell]] = field(default_factory=list)
    is_frame: bool = False

    def lines(self) -> list[str]:
        """Return the rows; one that spans the table is a title, under which the heads stand again."""
        grid = self._grid()
        width = max(map(len, grid), default=0)
        if width < 2:
            return [self.caption, *(row[0].text for row in grid)]
        heads: list[str] = []
        due: list[str] = []
        lines = [self.caption, ""]
        has_begun = False
        for row in grid:
            if len(row) == width and all(cell is row[0] for cell in row):
                title = row[0].text
                lines += ["", f"{self.caption} ({title})" if self.caption and "(" not in title else title]
                due = list(heads)
                continue
            text = _row(row, width)
            if not heads or (not has_begun and all(cell.is_head for cell in row)):
                heads.append(text)
                due.append(text)
                continue
            has_begun = True
            lines += [*due, text]
            due = []
        return [*lines, *(due if not has_begun else []), ""]

    def _grid(self) -> list[list[_Cell]]:
        """Return every row with the cells of earlier rows that reach into it, without rows that are empty."""
        grid: list[list[_Cell]] = []
        reaching: dict[int, tuple[_Cell, int]] = {}  # by column: a cell, and the number of rows that it goes on
        for row in self.rows:
            cells: list[_Cell] = []
            unplaced = iter(row)
            while len(cells) < _MAX_COLUMNS:
                cell, more = reaching.pop(len(cells), (None, 0))
                columns = 1
                if cell is None:
                    if (cell := next(unplaced, None)) is None:
                        break
                    more, columns = cell.rows - 1, cell.columns
                for column in range(len(cells), min(len(cells) + columns, _MAX_COLUMNS)):
                    cells.append(cell)
                    if more:
                        reaching[column] = (cell, more - 1)
            grid.append(cells)
        return [row for row in grid if any(cell.text for cell in row)]


def _row(cells: Sequence[_Cell], width: int) -> str:
    texts = [cell.text.replace("|", "/") for cell in cells]
    return f"| {' | '.join([*texts, *[''] * (width - len(texts))])} |"


class _PageReader:
    """The lines of a page so far, and the elements that are open."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._text: list[str] = []
        self._tables: list[_Table] = []
        self._cell: list[_Cell | None] = []  # the open cell of each open table
        self._left_out = 0  # depth within elements that are not shown
        self._heading = ""
        self._in_output = False

    def begin_element(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Begin a line, a table, a row or a cell."""
        if tag not in _VOID and (self._left_out or tag in _LEFT_OUT or _is_hidden(attributes)):
            self._left_out += 1
        if self._left_out:
            return
        if tag == "table":
            self._leave_cell()
            self._tables.append(_Table())
            self._cell.append(None)
        elif tag == "tr" and self._tables:
            self._end_cell()
            self._tables[-1].rows.append([])
        elif tag in ("td", "th") and self._tables:
            self._end_cell()
            columns, rows = (_span(attributes.get(name)) for name in ("colspan", "rowspan"))
            self._cell[-1] = _Cell(tag == "th", columns, rows)
        elif tag == "pre":
            self._leave_cell()
            self._in_output = True
        elif tag == "sup":
            self._text.append("^")  # a footnote or a power would become digits of the number before it
        elif tag == "caption" and self._tables:
            self._text.clear()
        elif tag in (*_LINES, *_HEADINGS):
            self._end_line()
            self._heading = f"{'#' * int(tag[1])} " if tag in _HEADINGS else ""

    def end_element(self, tag: str) -> None:
        """End a line, a table, a row or a cell."""
        if self._left_out:
            self._left_out -= tag not in _VOID
        elif tag == "table" and self._tables:
            self._end_table()
        elif tag in ("td", "th", "tr") and self._tables:
            self._end_cell()
        elif tag == "pre":
            self.lines += "".join(self._text).splitlines()
            self._text.clear()
            self._in_output = False
        elif tag == "caption" and self._tables:
            self._tables[-1].caption = self._line()
        elif tag in (*_LINES, *_HEADINGS):
            self._end_line()
            self._heading = ""

    def take(self, text: str) -> None:
        """Take text that is shown."""
        if not self._left_out:
            self._text.append(text)

    def end(self) -> None:
        """End what the page leaves open."""
        while self._tables:
            self._end_table()
        self._end_line()

    def _line(self) -> str:
        """Return the text so far, which becomes a line of its own."""
        text = " ".join("".join(self._text).split())
        self._text.clear()
        return text

    def _end_line(self) -> None:
        """End a line of the page; within output it is a line of that, and within a cell a blank."""
        if self._in_output:
            self._text.append("\n")
        elif self._tables and not self._tables[-1].is_frame:
            self._text.append(" ")
        elif text := self._line():
            self.lines.append(self._heading + text)

    def _leave_cell(self) -> None:
        """Show the text before a table or output; a table around it only places it on the page."""
        if self._tables and not (table := self._tables[-1]).is_frame:
            table.is_frame = True
            self.lines += [cell.text for row in table.rows for cell in row]
            table.rows.clear()
        self._end_line()

    def _end_cell(self) -> None:
        cell, self._cell[-1] = self._cell[-1], None
        table = self._tables[-1]
        if table.is_frame:
            self._end_line()
            return
        text = self._line()  # where no cell is open: between the cells of a table
        if cell is not None:
            cell.text = text
            if not table.rows:
                table.rows.append([])
            table.rows[-1].append(cell)

    def _end_table(self) -> None:
        self._end_cell()
        table = self._tables.pop()
        self._cell.pop()
        self.lines += table.lines()


def _is_hidden(attributes: Mapping[str, str]) -> bool:
    return "hidden" in attributes or _HIDDEN.search(attributes.get("style", "")) is not None


def _span(text: str | None) -> int:
    """Return the number of columns or rows that a cell spans, at most as many rows as a browser allows."""
    return min(int(text), _MAX_ROWS_OF_CELL) if text and len(text) < 6 and text.isdecimal() and int(text) else 1
