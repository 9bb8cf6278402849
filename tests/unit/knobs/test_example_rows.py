"""The rows under examples/knobs, with what the programs print according to their manuals."""

from pathlib import Path

import controllers_output
import drives_output
import pytest

from paribus.knobs.catalog.own_rows import rows_in_file
from paribus.knobs.health import state_in, unsound
from paribus.knobs.kinds.by_command import extract
from paribus.knobs.recipe import check_command
from paribus.model import CommandLines

EXAMPLES = Path(__file__).parents[3] / "examples" / "knobs"
FILES = [rows_in_file(file) for file in sorted(EXAMPLES.glob("*.toml"))]
KNOBS = {knob.name: knob for file in FILES for knob in file.knobs}
HEALTH = {check.name: check for file in FILES for check in file.health}
MEMBERS = {member.name: member for file in FILES for member in file.members}
PRINTED = [*controllers_output.PRINTED, *drives_output.PRINTED]
STATES = [*controllers_output.STATES, *drives_output.STATES]


@pytest.mark.parametrize(("name", "text", "expected"), PRINTED)
def test_a_value_is_found_in_what_the_program_prints(name: str, text: str, expected: str) -> None:
    command = KNOBS[name].command
    assert isinstance(command, CommandLines)
    assert extract(command, text) == expected
    assert not KNOBS[name].allowed or expected in map(str, KNOBS[name].allowed)


@pytest.mark.parametrize(("name", "text", "expected", "counts"), STATES)
def test_a_state_is_found_in_what_the_program_prints(name: str, text: str, expected: str, *, counts: bool) -> None:
    check = HEALTH[name]
    assert state_in(check, text) == expected
    assert (unsound(check, expected) is None) is counts


@pytest.mark.parametrize(("name", "text", "expected"), controllers_output.DRIVE_STATES)
def test_the_state_of_a_drive_is_found_in_what_the_program_prints(name: str, text: str, expected: str) -> None:
    member = MEMBERS[name]
    assert extract(member.command, text) == expected
    assert set(member.affects) <= HEALTH.keys()


def test_reports_name_the_program_of_the_other_generation() -> None:
    old, new = check_command(KNOBS["megacli.write_policy"]), check_command(KNOBS["raid.write_policy"])
    assert old == "MegaCli64 -LDInfo -L0 -a0 -NoLog  # or: storcli64 /c0/v0 show"
    assert new == "storcli64 /c0/v0 show  # or: MegaCli64 -LDInfo -L0 -a0 -NoLog"
    both = check_command(KNOBS["raid.write_policy"], KNOBS["raid.disk_cache"])
    assert both.partition("  # or: ")[0] == "storcli64 /c0/v0 show && storcli64 /c0/v0 show all"
    assert both.count("MegaCli64") == 2


def test_rows_that_no_device_has_tried_say_so() -> None:
    assert {row.proved for row in (*KNOBS.values(), *HEALTH.values(), *MEMBERS.values())} == {"transcript"}


def test_every_row_has_such_a_case() -> None:
    assert {name for name, _, _ in PRINTED} == KNOBS.keys()
    assert {name for name, *_ in STATES} == HEALTH.keys()
    assert {name for name, *_ in controllers_output.DRIVE_STATES} == MEMBERS.keys()
