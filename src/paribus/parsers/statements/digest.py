"""Digests: statements that differ in their literals only, with how often they ran and how long they took."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median, median_low
from typing import Literal

_MOST_FORMS = 50  # of a digest; later ones count, and are not candidates
_MOST_NUMBERS = 200  # examples of a literal


@dataclass(slots=True)
class StatementForm:
    """A text of a digest with `?` for each literal; `numbers` are examples of numeric literals by position."""

    calls: int = 0
    numbers: list[list[float]] = field(default_factory=list)

    def add(self, numbers: Sequence[float | None], calls: int) -> None:
        """Count calls, and keep the numbers of the first ones."""
        self.calls += calls
        if not self.numbers:
            self.numbers = [[] for _ in numbers]
        for examples, number in zip(self.numbers, numbers, strict=False):  # a `?` may also be of the text itself
            if number is not None and len(examples) < _MOST_NUMBERS:
                examples.append(number)


@dataclass(slots=True)
class StatementDigest:
    """Statements that differ in their literals only. Texts of literals are never part of it.

    `rows` are rows examined, or returned where the source has no other figure; of all calls together.
    """

    database: str = ""
    calls: int = 0
    seconds: float = 0.0
    rows: int = 0
    forms: dict[str, StatementForm] = field(default_factory=dict)

    @property
    def sql(self) -> str:
        """The most frequent form: lists such as `IN (?, ?)` have different lengths."""
        return max(self.forms, key=lambda form: self.forms[form].calls)

    @property
    def has_numbers(self) -> bool:
        """Whether the source shows literals, as a log does: one without a number is a text then."""
        return any(form.numbers for form in self.forms.values())

    @property
    def first_word(self) -> str:
        """The first word of the statement, in capitals."""
        match = re.match(r"[\s(]*(\w+)", self.sql)
        return match[1].upper() if match else ""

    @property
    def rows_of_a_call(self) -> float:
        """Average number of rows of a call."""
        return self.rows / self.calls

    def number(self, position: int) -> float | None:
        """The median of the numeric literals at a position of the most frequent form, counted from 0."""
        numbers = self.forms[self.sql].numbers
        return median_low(numbers[position]) if position < len(numbers) and numbers[position] else None

    def width(self, low: int, high: int) -> float | None:
        """The median distance between the literals at two positions."""
        numbers = self.forms[self.sql].numbers
        if max(low, high) >= len(numbers) or not numbers[low] or len(numbers[low]) != len(numbers[high]):
            return None
        return median(right - left for left, right in zip(numbers[low], numbers[high], strict=True))

    def add(self, sql: str, *, calls: int, seconds: float, rows: int, numbers: Sequence[float | None] = ()) -> None:
        """Add calls of a statement of the digest."""
        self.calls += calls
        self.seconds += seconds
        self.rows += rows
        if sql in self.forms or len(self.forms) < _MOST_FORMS:
            self.forms.setdefault(sql, StatementForm()).add(numbers, calls)


@dataclass(frozen=True, slots=True)
class StatementRecord:
    """All digests of a source.

    `left_out` counts entries that are no statements, by reason; `notes` are for the user.
    """

    form: str
    protocol: Literal["mysql", "postgres"]
    digests: tuple[StatementDigest, ...]
    left_out: Counter[str]
    notes: tuple[str, ...] = ()

    def calls_of(self, words: Collection[str]) -> int:
        """Calls of the statements that begin with one of these words."""
        return sum(digest.calls for digest in self.digests if digest.first_word in words)


def total(digests: Iterable[StatementDigest]) -> tuple[int, float]:
    """The calls of all these digests, and their time in seconds."""
    summed = list(digests)
    return sum(digest.calls for digest in summed), sum(digest.seconds for digest in summed)
