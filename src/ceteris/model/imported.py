"""What others measured: the files that were imported, and where each trial of such a set comes from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file that was imported, by its `number` in the set; `sha256` is of its bytes as they were found.

    `format` is what it was read as, empty where nothing was recognised. `not_understood` are lines with their numbers.
    """

    number: int
    path: str
    sha256: str
    size_bytes: int
    format: str
    runs: int
    not_understood: tuple[tuple[int, str], ...]
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a trial comes from: the number of its source, the lines there, and all that these state.

    `said` is the run as its reader made it, without courses and histogram; `missing` says what a text that was cut off
    lacks.
    """

    trial: int
    source: int
    lines: tuple[int, int]
    missing: str
    said: Mapping[str, Any]
