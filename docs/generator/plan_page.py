"""Page of the plan: every key with its type, default, allowed values, meaning and an example."""

import typing
from collections.abc import Iterator
from typing import Any

from pydantic.fields import FieldInfo

from generator.markdown import code, fenced, literal, page, sentence
from generator.plan_sections import Key, Section, sections
from generator.schema_types import reference, type_name, without_null
from generator.texts import introduction, plan_keys
from paribus.registry import workload_kinds
from paribus.units import show_size

_LINKS = {
    "TargetTable": "table-target",
    "BoundTable": "table-targetbound",
    "LoadTable": "table-load",
    "SandboxTable": "table-sandbox",
    "DatabaseTable": "table-database",
    "OwnRow": "tables-knobname",
    "HealthRow": "tables-healthname",
    "MemberRow": "tables-membername",
    "CombinationTable": "tables-combination",
    "EventTable": "tables-event",
    "WorkDoneTable": "key-after-of-an-event",
    "PreconditionTable": "table-precondition-of-a-workload",
    "ProtocolTable": "table-protocol",
    "LimitsTable": "table-limits",
    "RowsTable": "tables-workloadrows-of-sqlmix",
    "TransactionTable": "tables-workloadtransactions-of-sqlmix",
    "StatementTable": "tables-statements-of-a-transaction",
    "Argument": "tables-arguments-of-rows-and-statements",
}
_MINUTE, _HOUR = 60, 3600


def render() -> str:
    """Returns the page."""
    return page("Plan", introduction("plan"), *map(_section, sections()))


def _section(section: Section) -> str:
    parts = [f"## {section.title}", section.introduction]
    if section.header:
        parts.append(fenced(section.header, "text" if "…" in section.header else "toml"))
    return "\n\n".join([*parts, *map(_entry, section.listed_keys())])


def _entry(key: Key) -> str:
    texts = _texts(key.name)
    text = texts.get("text") or sentence(literal(key.field.description or ""))
    facts = "; ".join(filter(None, _facts(key, texts.get("unit", ""))))
    return "\n\n".join([f"### {literal(key.name)}", f"*{facts}*", text, fenced(texts["example"], "toml")])


def _texts(name: str) -> dict[str, str]:
    """Returns the texts of a key. Raises KeyError where it has no example."""
    texts = plan_keys().get(name) or plan_keys().get(f"files.{name.partition('.')[2]}", {})
    if "example" not in texts:
        raise KeyError(f"the plan key {name} needs an example: add it to docs/generator/plan_keys/")
    return texts


def _facts(key: Key, unit: str) -> Iterator[str]:
    if key.name == "workload":
        yield "list of [tables](#tables-workload); required"
        return
    kind = f"one of {', '.join(map(code, workload_kinds))}" if key.name == "workload.kind" else _type(key)
    yield f"{kind} ({unit})" if unit else kind
    yield _default(key)
    yield _bounds(key)


def _type(key: Key) -> str:
    return type_name(without_null(key.schema)[0], _link)


def _link(definition: str) -> str:
    return f"[table](#{_LINKS[definition]})"


def _default(key: Key) -> str:
    if key.field.is_required():
        return "required"
    default = key.field.default
    if default is None or reference(key.schema):
        return "optional"
    kind = _type(key)
    return f"default {code(_written(default, kind))}"


def _written(value: Any, kind: str) -> str:
    """Returns a default as a plan writes it."""
    if isinstance(value, list):
        return f"[{', '.join(_written(item, kind.removeprefix('list of ').removesuffix('s')) for item in value)}]"
    if kind == "duration":
        scale, unit = next((s, u) for s, u in ((_HOUR, "h"), (_MINUTE, "min"), (1, "s")) if value >= 2 * s or s == 1)
        return f'"{value / scale:g}{unit}"'
    if kind == "size":
        return f'"{show_size(value).replace(" ", "")}"'
    if kind == "share":
        return f'"{value * 100:g}%"'
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


def _bounds(key: Key) -> str:
    kind = _type(key)
    limits: dict[str, str] = {}
    for constraint in _constraints(key.field):
        values = {name: getattr(constraint, name, None) for name in ("ge", "gt", "le", "lt")}
        limits |= {name: _bound(value, kind) for name, value in values.items() if value is not None}
    if limits.keys() == {"ge", "le"}:
        return f"from {limits['ge']} to {limits['le']}"
    words = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
    return ", ".join(f"{phrase} {limits[name]}" for name, phrase in words.items() if name in limits)


def _bound(value: Any, kind: str) -> str:
    if "size" in kind and value:
        return show_size(value)
    if "share" in kind:
        return f"{value * 100:g} %"
    if "duration" in kind:
        return f"{value:g} s"
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _constraints(field: FieldInfo) -> Iterator[Any]:
    """Yields the constraints of a field's values, or of the items of its list."""
    pending: list[Any] = [*field.metadata, field.annotation]
    while pending:
        part = pending.pop()
        if isinstance(part, FieldInfo):
            pending += part.metadata
        elif typing.get_args(part):
            pending += [*typing.get_args(part), *getattr(part, "__metadata__", ())]
        else:
            yield part
