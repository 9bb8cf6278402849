"""Removed variables that older advice still names, and what replaced them."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


def version_of(text: str) -> tuple[int, ...]:
    """The numbers of a version such as 10.11.14."""
    return tuple(int(part) for part in text.split(".") if part.isdecimal())


@cache
def _rows() -> list[dict[str, Any]]:
    text = (files(__package__) / "removed_variables.toml").read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = tomllib.loads(text)["gone"]
    return rows


def explain(kind: str, version: str, name: str) -> str:
    """Return the reason why a server of that kind and version lacks a variable; empty where that is unknown."""
    for row in _rows():
        since = row["since"].get(kind) if name in row["names"] else None
        if since == "never":
            return f"{kind} never had {name}: {row['why']}"
        if since is not None and version_of(version) >= version_of(since):
            return f"{name} is gone from {kind} since {since}: {row['why']}"
    return ""
