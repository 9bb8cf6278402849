"""Types of a JSON Schema in words."""

from collections.abc import Callable
from typing import Any

Schema = dict[str, Any]
Link = Callable[[str], str]

_PLAIN = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "object",
    "array": "list",
    "null": "null",
}
# Types of values that a plan writes as text with a unit, by the example that the schema gives.
_WITH_UNITS = {"60s": "duration", "10GiB": "size", "16KiB": "size", "2%": "share", "10%": "share"}
_LEVEL = ["string", "number", "integer", "boolean"]
_OPTION = ["boolean", "integer", "number", "string"]


def reference(schema: Schema) -> str:
    """Returns the name of the definition that a schema refers to; empty for none."""
    return str(schema.get("$ref", "")).rpartition("/")[2]


def without_null(schema: Schema) -> tuple[Schema, bool]:
    """Returns the schema without the alternative null, and whether there was one."""
    alternatives = [part for part in schema.get("anyOf", []) if part != {"type": "null"}]
    if len(alternatives) == len(schema.get("anyOf", [])):
        return schema, False
    return (alternatives[0] if len(alternatives) == 1 else {**schema, "anyOf": alternatives}), True


def type_name(schema: Schema, link: Link) -> str:
    """Returns the type in words; `link` renders the name of a definition."""
    schema, nullable = without_null(schema)
    text = _type_name(schema, link)
    return f"{text}, or null" if nullable else text


def _type_name(schema: Schema, link: Link) -> str:
    if name := reference(schema):
        return link(name)
    if "const" in schema:
        return f"`{_literal(schema['const'])}`"
    if "enum" in schema:
        return f"one of {', '.join(f'`{_literal(value)}`' for value in schema['enum'])}"
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            return _alternatives(schema[keyword], link)
    for example in schema.get("examples", []):
        if isinstance(example, str) and example in _WITH_UNITS:
            return _WITH_UNITS[example]
    return _plain(schema, link)


def _alternatives(schemas: list[Schema], link: Link) -> str:
    first, *others = schemas
    if others == [{"items": first, "minItems": 1, "type": "array"}]:
        return f"{_type_name(first, link)}; or a list of them"
    if [schema.get("type") for schema in schemas] == _OPTION:
        return "text, number, true or false"
    return " or ".join(dict.fromkeys(_type_name(schema, link) for schema in schemas))


def _plain(schema: Schema, link: Link) -> str:
    written = schema.get("type", "")
    if written == _LEVEL:
        return "level"
    if isinstance(written, list):
        return " or ".join(_PLAIN[part] for part in written)
    if written == "array" and "prefixItems" in schema:
        return f"list of {', '.join(_type_name(part, link) for part in schema['prefixItems'])}"
    if written == "array" and schema.get("items"):
        count = f"{schema['minItems']} " if schema.get("minItems", 0) == schema.get("maxItems") else ""
        return f"list of {count}{_plural(_type_name(schema['items'], link))}"
    if written == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"table from name to {_type_name(schema['additionalProperties'], link)}"
    return _PLAIN.get(written, "any value")


def _plural(name: str) -> str:
    if name.startswith("[table]"):
        return name.replace("[table]", "[tables]")
    return name if name.startswith(("one of", "[", "`", "true", "list", "text", "table")) else f"{name}s"


def _literal(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
