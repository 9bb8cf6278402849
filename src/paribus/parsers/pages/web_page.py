"""Text of a web page as a reader sees it: headings, paragraphs, preformatted output, and tables in rows of Markdown.

In: HTML. Out: lines that the readers of tables and of tools take, without passwords that the page's layout sets apart
from their names. Called where a file is opened, so that this text is kept.
"""

import re
from collections.abc import Iterator, Mapping
from html import unescape

from paribus.parsers.pages.page_table import PageCell, PageTable
from paribus.parsers.redact import HIDDEN

_BEFORE = r"\ufeff?(?:\s|<\?xml[^<>]{0,200}\?>|<!--(?:(?!-->).){0,2000}-->)*"
_WHOLE = re.compile(rf"{_BEFORE}<(?:!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL)
_PART = re.compile(
    rf"{_BEFORE}<(?:head|meta|style|body|table|pre|div|center|section|h[1-6]|p)\b", re.IGNORECASE | re.DOTALL
)
_CLOSED = re.compile(r"</(?:table|pre)\s*>", re.IGNORECASE)
_OF_PARIBUS = '<meta name="generator" content="paribus">'
_TOKEN = re.compile(
    r"<!--|<(?P<end>/?)(?P<tag>[A-Za-z][A-Za-z0-9]*)"
    r"""(?:(?P<attributes>(?:[^<>"']|"[^"<]*"|'[^'<]*')*)|(?P<damaged>[^<>]*))>"""
    r"|<[!?][^<>]*>|[^<]+|<"
)
_ATTRIBUTE = re.compile(r"""([A-Za-z-]+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+))?""")
_LONG_NUMBER = re.compile(r"&#x?[0-9A-Fa-f]{8,};?")
_CODE = ("script", "style")  # their content is no HTML
_LEFT_OUT = (*_CODE, "template", "head", "svg", "noscript", "button", "select", "nav", "del", "s", "strike")
_LEFT_OPEN = ("button", "select", "nav", "del", "s", "strike")
_ENDS_HEAD = ("body", "table", "pre", "div", "p", "h1")
_OUTPUT = ("pre", "textarea")
_LINES = ("p", "div", "li", "br", "hr", "section", "article", "dt", "dd", "blockquote", "ul", "ol", "figcaption")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_VOID = ("br", "hr", "img", "input", "col", "link", "meta", "wbr", "source", "area", "base", "embed", "track")
_SHORT_LIVED = ("p", "li", "td", "th", "tr", "option", "dt", "dd")  # the next one ends them
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none", re.IGNORECASE)
_MARKS = {"sup": "^", "sub": "_"}  # a footnote or a power would become digits of the number before it
_NOTE = re.compile(r"\^\s*\[[^\[\]]{1,8}\]")
_BETWEEN = " ; "  # lines of a cell; a blank between two numbers would separate thousands
_SECRET = re.compile(
    r"(?P<key>(?<!enter )(?:passw(?:or)?d|passphrase|secret)[\"']?[ \t]{0,9}[:=](?:[ \t|]*+|[ \t]*+\n\s{0,20}(?!\|)))"
    r"""(?P<value>"[^"\n]*"|'[^'\n]*'|[^\s|]+)""",
    re.IGNORECASE,
)
_NAMED_SECRET = re.compile(
    r"(?P<key>^\|[ \t]*+[\w.-]{0,40}(?:passw(?:or)?d|passphrase)[ \t]*+\|[ \t]*+)(?P<value>[^|\n]+)",
    re.IGNORECASE | re.MULTILINE,
)
_MAX_COPIES = 20_000
_MAX_SPAN = 1000


def is_page(text: str) -> bool:
    """Return whether a text begins as a web page, or as a part of one that has a table or output."""
    if _WHOLE.match(text):
        return True
    return _PART.match(text) is not None and _CLOSED.search(text) is not None


def is_report(text: str) -> bool:
    """Return whether a page is a report of Paribus."""
    return _OF_PARIBUS in text[:2000]


def text_of(page: str) -> str:
    """Return what a web page shows, line by line; a text that spans several cells is repeated in each."""
    reader = _PageReader(keeps_lines=_WHOLE.match(page) is None)
    for token in _tokens(_LONG_NUMBER.sub("", page)):
        if isinstance(token, str):
            reader.take(unescape(token))
        elif token["end"]:
            reader.end_element(token["tag"].lower())
        else:
            attributes = token["attributes"] or token["damaged"] or ""
            if attributes.endswith("/") and token["tag"].lower() == "svg":
                continue
            reader.begin_element(token["tag"].lower(), _attributes(attributes))
    reader.end()
    text = "\n".join(reader.lines) + "\n"
    return _NAMED_SECRET.sub(_hidden, _SECRET.sub(_hidden, text))


def _hidden(match: re.Match[str]) -> str:
    return f"{match['key']}{HIDDEN}"


def _tokens(page: str) -> Iterator[str | re.Match[str]]:
    """Yield tags and texts in time proportional to the length, whatever stays open; the standard parser does not."""
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


class _PageReader:
    """The lines of a page so far, and the elements that are open; a part of a page may have lines of plain text."""

    def __init__(self, *, keeps_lines: bool) -> None:
        self.lines: list[str] = []
        self._keeps_lines = keeps_lines
        self._text: list[str] = []
        self._tables: list[PageTable] = []
        self._cell: list[PageCell | None] = []  # the open cell of each open table
        self._left_out = ""  # the element that is not shown
        self._depth = 0  # of elements of its kind within it
        self._heading = ""
        self._in_output = False
        self._copies = _MAX_COPIES

    def begin_element(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Begin a line, a table, a row or a cell."""
        if self._left_out and not self._is_ended_by(tag):
            self._depth += tag == self._left_out
            return
        self._left_out = ""
        if tag not in _VOID and (tag in _LEFT_OUT or _is_hidden(attributes)):
            self._left_out, self._depth = tag, 1
        elif tag == "table":
            self._leave_cell()
            self._tables.append(PageTable(self._copies))
            self._cell.append(None)
        elif tag == "tr" and self._tables:
            self._end_cell()
            self._tables[-1].rows.append([])
        elif tag in ("td", "th") and self._tables:
            self._end_cell()
            columns, rows = (_span(attributes.get(name)) for name in ("colspan", "rowspan"))
            self._cell[-1] = PageCell(tag == "th", columns, rows)
        elif tag in _OUTPUT:
            self._leave_cell()
            self._in_output = True
        elif tag in _MARKS:
            self._text.append(_MARKS[tag])
        elif tag == "caption" and self._tables:
            self._text.clear()
        elif tag == "small" and self._tables:
            self._end_line()
        elif tag in (*_LINES, *_HEADINGS):
            self._end_line()
            self._heading = f"{'#' * int(tag[1])} " if tag in _HEADINGS else ""

    def _is_ended_by(self, tag: str) -> bool:
        """Return whether an element without end of its own ends where another one begins."""
        if self._left_out == "head":
            return tag in _ENDS_HEAD
        if self._left_out in _LEFT_OPEN:
            return tag == "table"
        return self._left_out in _SHORT_LIVED and tag in (*_SHORT_LIVED, "table")

    def end_element(self, tag: str) -> None:
        """End a line, a table, a row or a cell."""
        if self._left_out:
            self._depth -= tag == self._left_out
            if self._depth == 0:
                self._left_out = ""
        elif tag == "table" and self._tables:
            self._end_table()
        elif tag in ("td", "th", "tr") and self._tables:
            self._end_cell()
        elif tag in _OUTPUT:
            self._end_output()
        elif tag == "caption" and self._tables:
            self._tables[-1].caption = self._line()
        elif tag in (*_LINES, *_HEADINGS):
            self._end_line()
            self._heading = ""

    def take(self, text: str) -> None:
        """Take text that is shown."""
        if not self._left_out:
            self._text.append(text.replace("\u00ad", ""))  # hyphens that are not shown

    def end(self) -> None:
        """End what the page leaves open."""
        if self._in_output:
            self._end_output()
        while self._tables:
            self._end_table()
        self._end_line()

    def _line(self) -> str:
        """Return the text so far, which becomes a line of its own."""
        text = " ".join(_NOTE.sub("", "".join(self._text)).split())
        self._text.clear()
        return text

    def _end_line(self) -> None:
        """End a line of the page, of output, or of a cell."""
        if self._in_output:
            self._text.append("\n")
        elif self._tables and not self._tables[-1].is_frame:
            self._text.append(_BETWEEN)
        elif self._keeps_lines:
            lines = "".join(self._text).strip("\n").splitlines()
            self._text.clear()
            self.lines += [self._heading + line if line.strip() else "" for line in lines]
        elif text := self._line():
            self.lines.append(self._heading + text)

    def _end_output(self) -> None:
        self.lines += "".join(self._text).splitlines()
        self._text.clear()
        self._in_output = False

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
            cell.text = _BETWEEN.join(filter(None, (part.strip() for part in text.split(_BETWEEN.strip()))))
            if not table.rows:
                table.rows.append([])
            table.rows[-1].append(cell)

    def _end_table(self) -> None:
        self._end_cell()
        table = self._tables.pop()
        self._cell.pop()
        self.lines += table.lines()
        self._copies = table.copies


def _is_hidden(attributes: Mapping[str, str]) -> bool:
    is_edit_link = "mw-editsection" in attributes.get("class", "")
    return is_edit_link or "hidden" in attributes or _HIDDEN_STYLE.search(attributes.get("style", "")) is not None


def _span(text: str | None) -> int:
    """Return the number of columns or rows that a cell spans, at most as many rows as a browser allows."""
    return min(int(text), _MAX_SPAN) if text and len(text) < 6 and text.isdecimal() and int(text) else 1
