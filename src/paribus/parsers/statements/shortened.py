"""Lists that digests of MySQL's family shorten to `...`, with a placeholder for each value."""

import re

from paribus.parsers.statements.literals import without_comments

_MOST_VALUES = 100
_LIST = re.compile(r"\bIN\s*\(\s*(?:\?\s*,\s*)?\.\.\.\s*\)", re.IGNORECASE)
_SELECTED = re.compile(r"\bSELECT\s+\?\s*,\s*\.\.\.", re.IGNORECASE)
_VALUES = re.compile(r"(?P<columns>\([^()]*\))\s*VALUES?\s*(?=\()", re.IGNORECASE)
# Names that MySQL takes for functions only without a space before the parenthesis.
_SPACED = re.compile(
    r"\b(BIT_(?:AND|OR|XOR)|CAST|COUNT|CUR(?:DATE|TIME)|(?:ADD|SUB|SYS)DATE|DATE_(?:ADD|SUB)|EXTRACT|GROUP_CONCAT|MAX|MID|MIN"
    r"|NOW|POSITION|(?:SESSION|SYSTEM)_USER|STD(?:DEV(?:_POP|_SAMP)?)?|SUBSTR(?:ING)?|SUM|TRIM|VARIANCE|VAR_(?:POP|SAMP)"
    r"|JSON_(?:ARRAY|OBJECT)AGG) \(",
    re.IGNORECASE,
)
_MORE_ROWS = re.compile(r"\s*/\*\s*,\s*\.\.\.\s*\*/")


def expanded(text: str, rows: float) -> str:
    """Return the text of a digest with as many values and rows in its lists as a call has `rows`.

    A list whose length does not follow from the statement stays as it is.
    """
    count = min(max(round(rows), 1), _MOST_VALUES)
    text = _LIST.sub(f"IN ({', '.join(['?'] * count)})", " ".join(text.split()))
    text = _SELECTED.sub("SELECT ?", text)
    if match := _VALUES.search(text):
        end = _closing(text, match.end())
        row = _filled(text[match.end() + 1 : end - 1], match["columns"].count(",") + 1)
        more = _MORE_ROWS.match(text, end)
        written = ", ".join([row] * (count if more else 1))
        text = f"{text[: match.start()]}{match['columns']} VALUES {written}{text[more.end() if more else end :]}"
    return _SPACED.sub(r"\1(", without_comments(text))


def _closing(text: str, start: int) -> int:
    """The position after the parenthesis that closes the one at `start`; the end of a text that is cut off."""
    depth = 0
    for position in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        if depth == 0:
            return position + 1
    return len(text)


def _filled(row: str, columns: int) -> str:
    """A row with a value for each column."""
    items = _items(row)
    if "..." in items:
        position = items.index("...")
        first = position - 1 if position and items[position - 1] == "?" else position
        others = items[:first], items[position + 1 :]
        count = max(columns - len(others[0]) - len(others[1]), 1)
        items = [*others[0], *["?"] * count, *others[1]]
    return f"({', '.join(items)})"


def _items(row: str) -> list[str]:
    """The parts of a text between commas that stand in no parentheses."""
    items, depth = [""], 0
    for letter in row:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            items.append("")
        else:
            items[-1] += letter
    return [item.strip() for item in items]
