"""Rows on the drives of a controller's volume: programs that let one fail, bring it back, and print its state."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BeforeValidator, Field, StringConstraints

from paribus.knobs.catalog.printed import Argv, PrintedRow, checked_name
from paribus.model import CommandLines, VolumeMember

_State = Annotated[str, StringConstraints(min_length=1)]


class MemberRow(PrintedRow):
    """A drive that events may let fail, as written in a plan or in a file of knobs."""

    fail: Argv = Field(description="the argument list of the program that takes the drive out of its volume")
    replace: Argv = Field(description="the argument list of the program that begins to rebuild it")
    whole: _State = Field(description="the state of a drive whose data is complete, as `get` prints it")
    rebuilding: Annotated[tuple[_State, ...], Field(min_length=1)] = Field(
        description="the states of a drive that is rebuilt, as `get` prints them"
    )
    affects: Annotated[tuple[_State, ...], Field(min_length=1)] = Field(
        description="rows on health whose states follow the drive, such as that of its volume: they must be sound when "
        "it fails, and void no trial in which it does"
    )

    def member(self, name: str) -> VolumeMember:
        """The row as the model has it."""
        return VolumeMember(
            name=name,
            command=CommandLines(get=self.get, set=(), json=self.json_pointer, pattern=self.pattern),
            fail=self.fail,
            replace=self.replace,
            whole=self.whole,
            rebuilding=self.rebuilding,
            affects=self.affects,
            proved=self.proved,
        )


MemberRows = dict[Annotated[str, BeforeValidator(checked_name)], MemberRow]


def members_of(table: Mapping[str, MemberRow]) -> list[VolumeMember]:
    """The rows of a plan's `[member]`."""
    return [row.member(name) for name, row in table.items()]
