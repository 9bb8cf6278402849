"""Conditions of an imported run: what its tool was asked, and what its figures imply about the test."""

from collections.abc import Mapping
from typing import Final

READS: Final = "reads per transaction"
WRITES: Final = "writes per transaction"
OTHERS: Final = "other statements per transaction"
READ_SHARE: Final = "share of reads"
DURATION: Final = "duration (s)"
_RELATIVE = {READS: 0.15, WRITES: 0.15, OTHERS: 0.15, DURATION: 0.05}
"""Ratios by which implied figures of equal tests differ: retried statements, and the last transactions of a run."""
_ABSOLUTE = {READS: 0.1, WRITES: 0.1, OTHERS: 0.1, READ_SHARE: 0.05}
IMPLIED: Final = frozenset({*_RELATIVE, *_ABSOLUTE})


def different_conditions(first: Mapping[str, str], second: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return the conditions that differ, by name; a condition that only one of the two states is unknown."""
    shared = (name for name in first if name in second)
    return {name: (first[name], second[name]) for name in shared if not _equal(name, first[name], second[name])}


def _equal(name: str, first: str, second: str) -> bool:
    if first == second or name not in IMPLIED:
        return first == second
    a, b = float(first), float(second)
    return abs(a - b) <= max(_ABSOLUTE.get(name, 0.0), _RELATIVE.get(name, 0.0) * max(a, b))
