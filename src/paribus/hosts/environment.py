"""Passwords in the environment, withheld from all programs but those that connect to a database."""

import contextlib
import os
from collections.abc import Iterator

USUAL = ("MYSQL_PWD", "PGPASSWORD")
_withheld: dict[str, str] = {}


def withhold(*names: str) -> None:
    """Take variables out of this program's environment, so that no program started from now on has them."""
    for name in names:
        if (value := os.environ.pop(name, None)) is not None:
            _withheld[name] = value


@contextlib.contextmanager
def withheld(*names: str) -> Iterator[None]:
    """As `withhold`, for as long as the context lasts."""
    values = {name: os.environ[name] for name in names if name in os.environ}
    withhold(*names)
    try:
        yield
    finally:
        for name in values:
            del _withheld[name]
        os.environ.update(values)


def has(name: str) -> bool:
    """Whether a variable is there, withheld or not."""
    return name in _withheld or name in os.environ


def of_child(*, connects: bool) -> dict[str, str]:
    """The environment of a program; with passwords where it connects to a database."""
    return {**os.environ, **(_withheld if connects else {})}
