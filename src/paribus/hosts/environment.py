"""Environments of programs; passwords are withheld from all but those that connect to a database."""

import contextlib
import os
from collections.abc import Iterator

USUAL = ("MYSQL_PWD", "PGPASSWORD")
_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
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


def independent(home: str, temporary: str) -> dict[str, str]:
    """The environment of a program that inherits nothing from this one."""
    return {"PATH": _SYSTEM_PATH, "LC_ALL": "C", "HOME": home, "TMPDIR": temporary}
