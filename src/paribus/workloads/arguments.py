"""Generators of statement parameters: their form in a plan, and in an engine job."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_serializer, model_validator

from paribus.engine.protocol import (
    ChoiceDraw,
    DigitsDraw,
    Draw,
    FloatDraw,
    IntDraw,
    NullDraw,
    SameDraw,
    SequenceDraw,
    TextDraw,
)

_VALUE_BYTES = 12  # of a value, as databases store it
_LONGEST_TEXT = 2**20
_MOST_NUMBERS = 2**53
_INT64 = 2**63


def _length_pair(length: Any) -> Any:
    """A single length as a pair of equal minimum and maximum."""
    return [length, length] if isinstance(length, int) and not isinstance(length, bool) else length


def _portable_value(value: Any) -> Any:
    """Accept only values that every database supports."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("choice must be a list of numbers and texts")
    if isinstance(value, int) and not -_INT64 <= value < _INT64:
        raise ValueError("a whole number has at most 64 bits")
    return value


Int64 = Annotated[int, Field(ge=-_INT64, lt=_INT64)]
Choosable = Annotated[Any, BeforeValidator(_portable_value), WithJsonSchema({"type": ["number", "integer", "string"]})]
Two = Field(min_length=2, max_length=2)
Lengths = Annotated[
    list[Annotated[int, Field(ge=0, le=_LONGEST_TEXT)]],
    Two,
    BeforeValidator(_length_pair),
    WithJsonSchema({"type": ["integer", "array"], "items": {"type": "integer"}, "examples": [20, [5, 20]]}),
]
_ONE_OF = "int, float, text, digits, choice, sequence, same or null"


class SqlmixTable(BaseModel):
    """A table of the plan within a workload; strict, as all of a plan."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, serialize_by_alias=True)


class Argument(SqlmixTable):
    """Source of the value of a parameter: exactly one of its generators."""

    integer: Annotated[list[Int64], Two] | None = Field(
        None, alias="int", description="a whole number from the first to the second"
    )
    number: Annotated[list[float], Two] | None = Field(
        None, alias="float", description="a number from the first to the second"
    )
    text: Lengths | None = Field(None, description="so many random letters, or from the first to the second")
    digits: str | None = Field(None, max_length=1000, description="a text in which each # is a digit: ###-###")
    choice: list[Choosable] | None = Field(None, min_length=1, description="one of these values")
    sequence: Int64 | None = Field(
        None,
        description="of rows: counted up from this number; in a transaction: a number from it on that no other "
        "connection and no other trial on the same data draws, which needs a column of 64 bits",
    )
    same: int | None = Field(None, ge=1, description="once more the value of an earlier argument, counted from 1")
    null: Literal[True] | None = Field(None, description="NULL")
    distribution: Literal["uniform", "zipf", "pareto"] = Field("uniform", description="of int: which are preferred")
    zipf_exponent: float = Field(0.8, ge=0.01, le=10, description="of zipf: the larger, the more uneven")
    pareto_h: float = Field(0.2, ge=0.001, le=0.5, description="of pareto: at 0.2, four of five go to a fifth")

    @model_validator(mode="after")
    def _one_generator(self) -> Self:
        generators = self._present_generators()
        if len(generators) != 1:
            raise ValueError(f"{' and '.join(generators) or 'nothing'} is given: write one of {_ONE_OF}")
        for name in ("integer", "number", "text"):
            low, high = getattr(self, name) or (0, 0)
            if low > high:
                raise ValueError(
                    f"{generators[0]} from {low} to {high} is not a range: the first number must be the lowest"
                )
        if self.integer and self.integer[1] - self.integer[0] >= _MOST_NUMBERS:
            raise ValueError("int is a range of at most 2^53 numbers")
        if not self.integer and self.model_dump().keys() & {"distribution", "zipf_exponent", "pareto_h"}:
            raise ValueError(f"{generators[0]} has no distribution: it is for int")
        return self

    def _present_generators(self) -> list[str]:
        generators = [(name, field) for name, field in type(self).model_fields.items() if field.default is None]
        return [field.alias or name for name, field in generators if getattr(self, name) is not None]

    @model_serializer
    def _as_written(self) -> dict[str, Any]:
        fields = type(self).model_fields.items()
        values = ((field.alias or name, getattr(self, name), field.default) for name, field in fields)
        return {key: value for key, value, default in values if value != default}

    @property
    def bytes(self) -> int:
        """Approximate size of a value, in bytes."""
        return _VALUE_BYTES + (self.text[1] if self.text else 0) + len(self.digits or "")

    def draw(self) -> Draw:
        """The generator in the form of an engine job."""
        if self.integer:
            low, high = self.integer
            return IntDraw(
                low=low, high=high, distribution=self.distribution,
                zipf_exponent=self.zipf_exponent, pareto_h=self.pareto_h,
            )  # fmt: skip
        if self.number:
            return FloatDraw(low=self.number[0], high=self.number[1])
        if self.text:
            return TextDraw(least=self.text[0], most=self.text[1])
        if self.digits is not None:
            return DigitsDraw(pattern=self.digits)
        if self.choice:
            return ChoiceDraw(values=self.choice)
        if self.sequence is not None:
            return SequenceDraw(start=self.sequence)
        return SameDraw(argument=self.same) if self.same else NullDraw()


def draws(arguments: Sequence[Argument]) -> list[Draw]:
    """The generators of a statement in the form of an engine job."""
    return [argument.draw() for argument in arguments]
