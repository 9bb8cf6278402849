"""Output of iostat and mpstat with -o JSON: the numbers of their tables under shorter names."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from paribus.parsers.json_lines import Items, JsonDocument, Leaf, Members, documents, objects, text_of
from paribus.parsers.plain import tool_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic:
    """One sample of a machine: rows of numbers with the name of their table (`disk`, `avg-cpu`, `cpu-load`)."""

    line: int
    timestamp: str
    rows: tuple[tuple[str, Members], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A host with its samples and its first and last line."""

    options: Mapping[str, str]
    statistics: tuple[Statistic, ...]
    lines: tuple[int, int]
    missing: str


def is_json(text: str) -> bool:
    """Return whether the text is a sysstat JSON document."""
    head = "\n".join(tool_lines(text[:1000])).lstrip()
    return head.startswith("{") and '"sysstat"' in head


def machines(lines: list[str]) -> tuple[list[Machine], list[tuple[int, str]]]:
    """Return the hosts of all documents, and the lines outside them."""
    json_documents, other_lines = documents(lines)
    return [machine for document in json_documents for machine in _hosts(document)], other_lines


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
            rows += [(table, row) for row in objects(value)]
    return Statistic(line=members.line, timestamp=text_of(members.get("timestamp")), rows=tuple(rows))


def numbers(row: Members, columns: Mapping[str, object]) -> Iterator[tuple[str, Leaf]]:
    """Yield the columns of a row by their names in tables: `util` is `%util`, `intr` is `intr/s`."""
    for name, leaf in row.items():
        column = next((candidate for candidate in (name, f"%{name}", f"{name}/s") if candidate in columns), None)
        if column is not None and isinstance(leaf, Leaf):
            yield column, leaf
