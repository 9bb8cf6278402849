"""What iostat and mpstat print with -o JSON: the same numbers as their tables have, under shorter names."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from paribus.parsers.json_lines import Items, JsonDocument, Leaf, Members, documents, objects, text_of
from paribus.parsers.plain import tool_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic:
    """One look at a machine: rows of numbers, each with the table it is of (`disk`, `avg-cpu`, `cpu-load`)."""

    line: int
    timestamp: str
    rows: tuple[tuple[str, Members], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A host and what was seen of it, from its first to its last line."""

    options: Mapping[str, str]
    statistics: tuple[Statistic, ...]
    lines: tuple[int, int]
    missing: str


def is_json(text: str) -> bool:
    """Whether a text is such a document."""
    head = "\n".join(tool_lines(text[:1000])).lstrip()
    return head.startswith("{") and '"sysstat"' in head


def machines(lines: list[str]) -> tuple[list[Machine], list[tuple[int, str]]]:
    """The hosts of all documents, and the lines that are in none."""
    found, besides = documents(lines)
    return [one for document in found for one in _hosts(document)], besides


def _hosts(document: JsonDocument) -> Iterator[Machine]:
    top = document.top.get("sysstat")
    for host in objects(top.get("hosts") if isinstance(top, Members) else None):
        named = {"kernel": text_of(host.get("release")), "processors": text_of(host.get("number-of-cpus"))}
        yield Machine(
            options={name: word for name, word in named.items() if word},
            statistics=tuple(map(_statistic, objects(host.get("statistics")))),
            lines=(document.first, document.last),
            missing="" if document.top.whole else f"the document breaks off in line {document.last}",
        )


def _statistic(members: Members) -> Statistic:
    rows = []
    for table, value in members.items():
        if isinstance(value, Members):
            rows.append((table, value))
        elif isinstance(value, Items):
            rows += [(table, one) for one in objects(value)]
    return Statistic(line=members.line, timestamp=text_of(members.get("timestamp")), rows=tuple(rows))


def numbers(row: Members, columns: Mapping[str, object]) -> Iterator[tuple[str, Leaf]]:
    """The columns of a row, by their names in tables: `util` is `%util` there, and `intr` `intr/s`."""
    for name, leaf in row.items():
        known = next((one for one in (name, f"%{name}", f"{name}/s") if one in columns), None)
        if known is not None and isinstance(leaf, Leaf):
            yield known, leaf
