"""Blocks: the lists and tables that sections are made of, and their places; every form prints them in its own way."""

from dataclasses import dataclass
from enum import IntEnum, auto

from paribus.i18n import gettext


class Place(IntEnum):
    """Places of a report where sections stand, in the order of reading."""

    OVERVIEW = auto()  # below the verdicts and what to do; every block has a title
    COMPARISON = auto()  # below the figures of each factor under each workload
    NOTES = auto()  # at the head of the part on trust
    CONDITIONS = auto()  # below the trials and the machine in that part
    APPENDIX = auto()  # at the end; every block has a title


@dataclass(frozen=True, slots=True, kw_only=True)
class Sparkline:
    """A small line of positive values from left to right; pages alone draw it."""

    title: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListItem:
    """A sentence, and the trial that it is about; `strong` calls for attention."""

    text: str
    strong: bool = False
    trial: int | None = None
    sparkline: Sparkline | None = None

    def with_trial(self, text: str) -> str:
        """Return the sentence, as a form has written it, with the number of its trial."""
        return text if self.trial is None else gettext("{sentence} (trial {trial})", sentence=text, trial=self.trial)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemList:
    """A list of sentences."""

    items: tuple[ListItem, ...]
    title: str = ""


@dataclass(frozen=True, slots=True)
class LayerStack:
    """A table cell of layers, the lowest first; pages draw them as stacked boxes."""

    layers: tuple[str, ...]

    def __str__(self) -> str:
        """In one line."""
        return " → ".join(self.layers)


@dataclass(frozen=True, slots=True, kw_only=True)
class WordTable:
    """A table of words: `figures` says of each column whether it holds numbers, `note` how to read it."""

    title: str
    note: str
    head: tuple[str, ...]
    figures: tuple[bool, ...]
    rows: tuple[tuple[str | LayerStack, ...], ...]
    trials: tuple[int, ...] = ()


Block = ItemList | WordTable
