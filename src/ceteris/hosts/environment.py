"""Passwords in the environment, withheld from every program but those that connect to a database."""

import os

USUAL = ("MYSQL_PWD", "PGPASSWORD")
_withheld: dict[str, str] = {}


def withhold(*names: str) -> None:
    """Take variables out of this program's environment, so that no program started from now on has them."""
    for name in names:
        if (value := os.environ.pop(name, None)) is not None:
            _withheld[name] = value


def has(name: str) -> bool:
    """Whether a variable is there, withheld or not."""
    return name in _withheld or name in os.environ


def of_child(*, connects: bool) -> dict[str, str]:
    """The environment of a program; with passwords where it connects to a database."""
    return {**os.environ, **(_withheld if connects else {})}
