"""Parts of a job with a user's own transactions: values drawn, rows filled, statements executed."""

from typing import Annotated, Literal

from pydantic import Field

from paribus.engine.protocol.message import Message


class IntDraw(Message):
    """A whole number from `low` to `high`."""

    draw: Literal["int"] = "int"
    low: int
    high: int
    distribution: Literal["uniform", "zipf", "pareto"] = "uniform"
    zipf_exponent: float = 0.8
    pareto_h: float = 0.2


class FloatDraw(Message):
    """A number from `low` to `high`."""

    draw: Literal["float"] = "float"
    low: float
    high: float


class TextDraw(Message):
    """So many letters."""

    draw: Literal["text"] = "text"
    least: int
    most: int


class DigitsDraw(Message):
    """A text in which each `#` is a digit."""

    draw: Literal["digits"] = "digits"
    pattern: str


class ChoiceDraw(Message):
    """One of some values."""

    draw: Literal["choice"] = "choice"
    values: list[int | float | str]


class SequenceDraw(Message):
    """Of rows, counted up from `start`; in a load, a number that no other draw of the data's loads has."""

    draw: Literal["sequence"] = "sequence"
    start: int


class SameDraw(Message):
    """Once more the value of an earlier argument, counted from 1."""

    draw: Literal["same"] = "same"
    argument: int


class NullDraw(Message):
    """No value."""

    draw: Literal["null"] = "null"


Draw = Annotated[
    IntDraw | FloatDraw | TextDraw | DigitsDraw | ChoiceDraw | SequenceDraw | SameDraw | NullDraw,
    Field(discriminator="draw"),
]


class Filling(Message):
    """So many rows, each by this statement."""

    count: int
    insert: str
    arguments: list[Draw] = Field([])


class MixStatement(Message):
    """A statement of a transaction, with one argument for each `?`."""

    sql: str
    arguments: list[Draw] = Field([])
    repeat: int = 1


class MixTransaction(Message):
    """One of a user's transactions."""

    name: str
    weight: float = 1.0
    rollback: float = 0.0
    transaction: bool = True
    statements: list[MixStatement]
