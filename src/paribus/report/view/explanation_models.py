"""What a report says beside its verdicts, why something came out as it did: part of what `shown` holds."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WordTable:
    """A table of words: `figures` says of each column whether it holds such, `note` how to read it."""

    title: str
    note: str
    head: tuple[str, ...]
    figures: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]
    trials: tuple[int, ...]
