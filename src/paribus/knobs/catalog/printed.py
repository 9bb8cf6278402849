"""Common part of user-defined rows: a program that prints a value, and the value's place in its output."""

import re
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

_NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+")
_BACKTRACKING = re.compile(r"\(\?[=!<(]|\\[1-9]")  # what the keeper, which reads back after an undo, does not have
DEVICE = "{device}"
"""Word of an argument list that stands for a disk under test."""

Argv = Annotated[tuple[str, ...], Field(min_length=1)]


class PrintedRow(BaseModel):
    """A value that a program prints, as written in a plan or in a file of knobs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    get: Argv = Field(description="the argument list of the program that prints the value")
    json_pointer: str = Field(
        "", alias="json", pattern=r"^(/.*)?$", description="where the value is, if it prints JSON"
    )
    pattern: str = Field("", description="a regular expression, whose first group is the value")
    unit: str = Field("", description="unit of its values")
    summary: str = Field(description="what it is")
    documentation: str = Field("", description="what its values do")
    proved: Literal["", "device", "transcript"] = Field(
        "", description="device: tried on a real one; transcript: only with what a manual says that is printed"
    )

    @model_validator(mode="after")
    def _finds_a_value(self) -> "PrintedRow":
        if bool(self.json_pointer) == bool(self.pattern):
            raise ValueError("write either json, a pointer such as /cache/policy, or pattern, with one group")
        try:
            groups = re.compile(self.pattern).groups
        except re.error as error:
            raise ValueError(f"pattern {self.pattern!r} is no regular expression: {error}") from error
        if self.pattern and groups < 1:
            raise ValueError(f"pattern {self.pattern!r} has no group: put the value in parentheses")
        if _BACKTRACKING.search(self.pattern):
            raise ValueError(f"pattern {self.pattern!r} has a lookaround or a reference to a group: write it without")
        return self


def checked_name(name: str) -> str:
    """A name such as `raid.write_policy`. Raises ValueError."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a knob: write subsystem.name, as in raid.write_policy")
    return name
