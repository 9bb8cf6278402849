"""Page of the JSON documents: what `--json` prints, and the protocol of the load engine."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from generator.markdown import literal, page, sentence, table
from generator.schema_types import Schema, reference, type_name
from generator.texts import introduction, json_fields

SCHEMAS = Path(__file__).parents[2] / "schema"
# Each document with the commands that print it, in the order of the page; the plan has a page of its own.
DOCUMENTS = {
    "check": ["paribus check PLAN --json"],
    "simulate": ["paribus simulate PLAN --json"],
    "report": ["paribus report --json", "run --json", "try --json", "again --json", "resume --json"],
    "status": ["paribus status --json"],
    "doctor": ["paribus doctor --json"],
    "audit": ["paribus audit --json"],
    "verify": ["paribus verify --json"],
    "fleet-check": ["paribus fleet check --json"],
    "fleet-run": ["paribus fleet run --json"],
    "fleet-report": ["paribus fleet report --json"],
    "fleet-apply": ["paribus fleet apply --json"],
    "fleet-undo": ["paribus fleet undo --json"],
    "apply": ["paribus apply EXPERIMENT --json"],
    "clean": ["paribus clean --json"],
    "delete": ["paribus delete EXPERIMENT --json"],
    "import": ["paribus import FILE… --json"],
    "export": ["paribus export --json"],
    "sandbox": ["paribus sandbox up --json", "paribus sandbox status --json"],
    "job": [],
    "event": [],
}
_PROTOCOL = {
    "job": "What Paribus sends to `paribus-engine` on stdin, one JSON object on one line.",
    "event": "What `paribus-engine` writes to stdout, one JSON object on each line. `event` names the kind.",
}


def render() -> str:
    """Returns the page."""
    rows = [("[plan](plan.md)", "the plan file, as TOML")]
    for name, commands in DOCUMENTS.items():
        source = ", ".join(f"`{command}`" for command in commands)
        rows.append((f"[{name}](#{name}-document)", source or "the engine protocol"))
    overview = table(("document", "printed by"), rows)
    return page("JSON documents", introduction("json"), overview, *map(_document, DOCUMENTS))


def schema_of(name: str) -> Schema:
    """Returns the JSON Schema of a document."""
    schema: Schema = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    return schema


def objects_of(name: str) -> Iterator[tuple[str, Schema]]:
    """Yields each object and enumeration of a document; the document itself comes first."""
    schema = schema_of(name)
    yield schema.get("title", name), schema
    yield from schema.get("$defs", {}).items()


def _document(name: str) -> str:
    (title, schema), *definitions = objects_of(name)
    command = DOCUMENTS[name]
    source = f"Printed by {', '.join(f'`{part}`' for part in command)}." if command else _PROTOCOL[name]
    undescribed = {keyword: value for keyword, value in schema.items() if keyword != "description"}
    parts = [f"## {name} document", source, *_object(name, title, undescribed if command else schema)]
    for definition, described in definitions:
        parts += [f"### {name}: {definition}", *_object(name, definition, described)]
    return "\n\n".join(parts)


def _object(document: str, name: str, schema: Schema) -> Iterator[str]:
    def link(definition: str) -> str:
        return f"[{definition}](#{document}-{definition.lower()})"

    if "description" in schema:
        yield from (sentence(literal(part)) for part in schema["description"].split("\n\n"))
    if "enum" in schema:
        yield f"One of {', '.join(f'`{value}`' for value in schema['enum'])}."
    if "oneOf" in schema:
        yield f"One of: {', '.join(link(reference(part)) for part in schema['oneOf'])}."
    if "properties" in schema:
        texts = json_fields()["common"] | json_fields().get(f"{document}.{name}", {}) if DOCUMENTS[document] else {}
        required = schema.get("required", ())
        rows = [
            (
                f"`{key}`",
                type_name(field, link),
                texts.get(key, "") or sentence(literal(field.get("description", ""))),
                "" if key in required or "default" not in field else f"`{json.dumps(field['default'])}`",
            )
            for key, field in schema["properties"].items()
        ]
        yield _field_table(rows)


def _field_table(rows: Sequence[tuple[str, str, str, str]]) -> str:
    """Returns a table of fields without its empty columns."""
    header = ("field", "type", "meaning", "default")
    used = [number for number in range(len(header)) if number < 2 or any(row[number] for row in rows)]
    return table([header[number] for number in used], [[row[number] for number in used] for row in rows])
