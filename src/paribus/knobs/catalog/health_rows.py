"""Rows on the health of a machine: a value that a program prints, and when trials count. They set nothing."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator

from paribus.knobs.catalog.printed import DEVICE, PrintedRow, checked_name
from paribus.model import CommandLines, HealthCheck


class HealthRow(PrintedRow):
    """A state of the machine that is watched while trials run, as written in a plan or in a file of knobs."""

    sound: tuple[str | int, ...] = Field((), description="the values at which a trial counts; default: all")
    minimum: float | None = Field(None, description="the lowest number at which a trial counts")
    maximum: float | None = Field(None, description="the highest number at which a trial counts")
    constant: bool = Field(False, description="a trial during which it changes does not count")
    every: bool = Field(
        False, description="whether it is the state of all matches: their sum, or their different words"
    )

    disks: str = Field(
        "",
        pattern=r"^[a-z0-9*?\[\]-]*$",
        description="kernel names of the disks that have it, such as nvme*; default: all",
    )

    @model_validator(mode="after")
    def _is_of_disks(self) -> "HealthRow":
        if self.disks and not any(DEVICE in word for word in self.get):
            raise ValueError(f"disks is for a program that reads a disk: write {DEVICE} in get, or remove disks")
        return self

    @model_validator(mode="after")
    def _has_matches(self) -> "HealthRow":
        if self.every and not self.pattern:
            raise ValueError(
                "every is for the matches of a pattern, and the row has none: write pattern in place of json"
            )
        return self

    def check(self, name: str) -> HealthCheck:
        """The row as the model has it."""
        return HealthCheck(
            name=name,
            command=CommandLines(get=self.get, set=(), json=self.json_pointer, pattern=self.pattern),
            summary=self.summary,
            unit=self.unit,
            sound=self.sound,
            minimum=self.minimum,
            maximum=self.maximum,
            constant=self.constant,
            every=self.every,
            disks=self.disks,
            proved=self.proved,
        )


HealthRows = dict[Annotated[str, BeforeValidator(checked_name)], HealthRow]


def checks_of(table: Mapping[str, HealthRow]) -> list[HealthCheck]:
    """The rows of a plan's `[health]`."""
    return [row.check(name) for name, row in table.items()]
