"""The mechanisms that variables of servers act through."""

import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files


def of(family: str, name: str) -> tuple[str, ...]:
    """The mechanisms that a variable needs; empty where none is known."""
    return _rows().get((family, name), ())


def rows() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Every listed variable: family, name and mechanisms."""
    for (family, name), needs in _rows().items():
        yield family, name, needs


@cache
def _rows() -> dict[tuple[str, str], tuple[str, ...]]:
    text = (files(__package__) / "variable_needs.toml").read_text(encoding="utf-8")
    return {
        (family, name): tuple(needs) for family, table in tomllib.loads(text).items() for name, needs in table.items()
    }
