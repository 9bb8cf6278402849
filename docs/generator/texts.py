"""Texts of the reference that the code does not have: introductions, meanings and examples."""

import functools
import tomllib
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent


@functools.cache
def plan_keys() -> dict[str, dict[str, str]]:
    """Returns text, example and unit of plan keys, such as `fileio.mode`."""
    return _merged("plan_keys")


@functools.cache
def json_fields() -> dict[str, dict[str, str]]:
    """Returns the meanings of JSON fields, by object and field."""
    return _merged("json_fields")


@functools.cache
def plan_sections() -> list[dict[str, Any]]:
    """Returns the tables of a plan in the order of the page."""
    sections: list[dict[str, Any]] = _toml(_FOLDER / "plan_sections.toml")["section"]
    return sections


@functools.cache
def export_columns() -> dict[str, dict[str, str]]:
    """Returns the meanings of exported columns, by table and column."""
    return _toml(_FOLDER / "export_columns.toml")


@functools.cache
def import_keys() -> dict[str, dict[str, list[str]]]:
    """Returns type and meaning of the keys of rules and claims, by table and key."""
    return _toml(_FOLDER / "import_keys.toml")


@functools.cache
def introduction(name: str) -> str:
    """Returns the Markdown that begins a page or a part of it."""
    return (_FOLDER / "introductions" / f"{name}.md").read_text(encoding="utf-8").strip()


def _merged(folder: str) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for path in sorted((_FOLDER / folder).glob("*.toml")):
        tables = _toml(path)
        if repeated := merged.keys() & tables.keys():
            raise ValueError(f"{path}: {', '.join(sorted(repeated))} is in another file too")
        merged |= tables
    return merged


def _toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))
