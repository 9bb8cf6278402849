"""Knobs of the user: rows in a plan, beside it, and in folders of configuration.

In: TOML. Out: rows of the catalogue whose values programs print and set. Raises UsageError with the file and the row.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from paribus.errors import UsageError
from paribus.files import distrust
from paribus.knobs.catalog.health_rows import HealthRow
from paribus.knobs.catalog.member_rows import MemberRow
from paribus.knobs.catalog.printed import Argv, PrintedRow, checked_name
from paribus.model import CommandLines, HealthCheck, Knob, VolumeMember
from paribus.user_folders import config_folder

FOLDER = "knobs"
KIND = "command"
"""The kind of knobs that the user adds."""
_SYSTEM = Path("/etc/paribus") / FOLDER
_OF_KNOBS, _OF_MEMBERS = {"set", "levels"}, {"fail", "replace"}


class OwnRow(PrintedRow):
    """A knob that programs read and set, as written in a plan or in a file of knobs."""

    set: Argv = Field(description="the argument list of the program that sets the value, with {value} in it")
    levels: tuple[str | int, ...] = Field((), description="the values that it takes, as `get` prints them")
    minimum: int | None = Field(None, description="the lowest value")
    maximum: int | None = Field(None, description="the highest value")
    written: dict[str, str] = Field({}, description="how `set` takes a value, where `get` prints it in another way")
    takes_effect: Literal["live", "reload", "restart", "remount"] = Field(
        "live", description="when a value takes effect"
    )
    resets: tuple[str, ...] = Field((), description="other knobs that change when this one is set")
    danger: Literal["", "data_loss", "durability"] = Field("", description="what trying it may cost")
    survives_reboot: bool = Field(True, description="whether a value outlasts a reboot")
    keep: str = Field("", description="how a person makes a value last, in words or as a command")
    also: tuple[Annotated[str, Field(pattern=r"^[^\x00-\x1f]+$")], ...] = Field(
        (), description="lines that show the value with older or newer programs, which reports print for people"
    )

    @model_validator(mode="after")
    def _can_be_set(self) -> "OwnRow":
        if not any("{value}" in word for word in self.set):
            raise ValueError("set has no {value}")
        if not self.levels and self.minimum is None and self.maximum is None:
            raise ValueError("name its levels, or minimum and maximum")
        return self

    def knob(self, name: str) -> Knob:
        """The row of the catalogue."""
        is_number = not self.levels
        return Knob(
            name=name,
            kind=KIND,
            addresses=(" ".join(self.get),),
            type="integer" if is_number else "enumerated",
            summary=self.summary,
            documentation=self.documentation or f"{self.summary}.",
            unit=self.unit,
            allowed=self.levels,
            minimum=self.minimum,
            maximum=self.maximum,
            takes_effect=self.takes_effect,
            resets=self.resets,
            danger=self.danger,
            proved=self.proved,
            command=CommandLines(
                get=self.get,
                set=self.set,
                json=self.json_pointer,
                pattern=self.pattern,
                written=self.written,
                keep=self.keep,
                also=self.also,
                survives_reboot=self.survives_reboot,
            ),
        )


@dataclass(frozen=True, slots=True)
class RowFile:
    """The rows of a file, or of several: knobs, what of the machine's health is watched, and drives that may fail."""

    knobs: list[Knob]
    health: list[HealthCheck]
    members: list[VolumeMember]


OwnRows = dict[Annotated[str, BeforeValidator(checked_name)], OwnRow]


def rows_of(table: Mapping[str, OwnRow]) -> list[Knob]:
    """The rows of a plan's `[knob]`."""
    return [row.knob(name) for name, row in table.items()]


def rows_in(folders: Iterable[Path]) -> RowFile:
    """The rows in all TOML files of these folders, in the order of their names. Raises UsageError."""
    files = [rows_in_file(file) for folder in folders if folder.is_dir() for file in sorted(folder.glob("*.toml"))]
    return RowFile(
        [row for file in files for row in file.knobs],
        [row for file in files for row in file.health],
        [row for file in files for row in file.members],
    )


def rows_in_file(file: Path) -> RowFile:
    """The rows of a file: of drives those with `fail` or `replace`, on health others without `set` and `levels`.

    Raises UsageError where it is wrong, or where others may write to it.
    """
    rows = RowFile([], [], [])
    row_name = ""
    try:
        _refuse_untrusted(file)
        for name, row in _flat(tomllib.loads(file.read_text(encoding="utf-8"))):
            row_name = f"{name}: "
            if isinstance(row, Mapping) and not _OF_MEMBERS.isdisjoint(row):
                rows.members.append(MemberRow.model_validate(row).member(checked_name(name)))
            elif isinstance(row, Mapping) and _OF_KNOBS.isdisjoint(row):
                rows.health.append(HealthRow.model_validate(row).check(checked_name(name)))
            else:
                rows.knobs.append(OwnRow.model_validate(row).knob(checked_name(name)))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        place = f"{place}: " if place else ""
        message = f"{file}: {row_name}{place}{first['msg'].removeprefix('Value error, ')}"
        raise UsageError(message, "see docs/how-to/own-knobs.md") from error
    except (OSError, ValueError) as error:
        raise UsageError(f"{file}: {row_name}{error}", "see docs/how-to/own-knobs.md") from error
    return rows


def configuration_folders() -> list[Path]:
    """The folders of the system's and the user's knobs."""
    user = config_folder()
    return [_SYSTEM, user / FOLDER] if user else [_SYSTEM]


def _flat(table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The rows of a file, by name; `["raid.policy"]` and `[raid.policy]` are the same."""
    for name, value in table.items():
        if isinstance(value, Mapping) and "get" not in value:
            yield from ((f"{name}.{inner}", row) for inner, row in _flat(value))
        else:
            yield name, value


def _refuse_untrusted(file: Path) -> None:
    """Raise UsageError where another user could have written a command into the file."""
    if reason := distrust(file):
        raise UsageError(
            f"{file} is not read, since it names programs to run: {reason}", f"make it yours alone: chmod go-w {file}"
        )
