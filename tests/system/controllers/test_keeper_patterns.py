"""Patterns of the rows in the keeper, which reads back with another implementation of regular expressions."""

import dataclasses
from pathlib import Path

import controllers_output
import drives_output
import pytest

from paribus.engine.find import binary
from paribus.hosts.local import LocalHost
from paribus.knobs.catalog.own_rows import rows_in_file
from paribus.knobs.journal import Journal
from paribus.model import SetByCommand

EXAMPLES = Path(__file__).parents[3] / "examples" / "knobs"
COMMANDS = {row.name: row.command for file in EXAMPLES.glob("*.toml") for row in rows_in_file(file).knobs}


@pytest.mark.parametrize(("name", "text", "expected"), [*controllers_output.PRINTED, *drives_output.PRINTED])
def test_keeper_reads_back_the_value_that_the_row_finds(
    name: str, text: str, expected: str, tmp_path: Path, as_root: None
) -> None:
    command = COMMANDS[name]
    assert command is not None
    printed = tmp_path / "printed"
    printed.write_text(text, encoding="utf-8")
    undo = SetByCommand(
        set=("true",), get=("cat", str(printed)), json=command.json, pattern=command.pattern, value=expected
    )
    journal = Journal(LocalHost(), binary(), f"rows-{name}", [str(printed)], volatile=True)
    journal.intend(name, str(printed), expected, "another", [undo])
    journal.make(name, dataclasses.replace(undo, value="another"))
    journal.restore()  # raises where it reads back another value
