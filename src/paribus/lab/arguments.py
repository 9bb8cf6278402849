"""Arguments of the Python API in the form that the application layer takes."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from paribus.errors import UsageError
from paribus.lab.results.export_tables import FileFormat

PathLike = str | Path
Override = str | int | float | bool | Path | Sequence[str | int | float | bool]
Overrides = Mapping[str, Override]


def override_texts(overrides: Overrides | None) -> dict[str, str]:
    """Return the overrides as text, in the form of `--set KEY=VALUE`. Raises UsageError."""
    return {key: _override_text(key, value) for key, value in (overrides or {}).items()}


def _override_text(key: str, value: Override) -> str:
    if isinstance(value, str | Path):
        return str(value)
    if isinstance(value, int | float | list | tuple):  # JSON of these is TOML
        return json.dumps(value)
    raise UsageError(
        f"the override of {key} is a {type(value).__name__}", "give text, a number, a truth value, a path or a list"
    )


def name_list(names: str | Sequence[str]) -> list[str]:
    """Return a list of names; a lone text is one name."""
    return [names] if isinstance(names, str) else list(names)


def export_format(name: str) -> FileFormat:
    """Return the file format of that name. Raises UsageError."""
    try:
        return FileFormat(name)
    except ValueError as error:
        raise UsageError(f"unknown file format {name!r}", f"formats: {', '.join(FileFormat)}") from error
