"""Knobs of the user: rows, and values in the outputs of programs."""

import dataclasses
from pathlib import Path

import pytest

from paribus.errors import UsageError
from paribus.hosts.fake import FakeHost
from paribus.hosts.local import LocalHost
from paribus.knobs.catalog import Catalogue, level_of
from paribus.knobs.catalog.own_rows import OwnRow, rows_in, rows_in_file
from paribus.knobs.discovery import offer, place
from paribus.knobs.kinds import knob_kinds
from paribus.knobs.kinds.by_command import extract
from paribus.model import CommandLines, Location, SetByCommand

ROW = {
    "get": ["nvme", "get-feature", "{device}", "--feature-id=6"],
    "set": ["nvme", "set-feature", "{device}", "--value={value}"],
    "pattern": "value: *(0x[0-9a-f]+)",
    "levels": ["0x1", "0x0"],
    "written": {"0x0": "0"},
    "summary": "Volatile write cache",
}


def test_a_row_is_set_on_the_disk_under_test() -> None:
    knob = OwnRow.model_validate(ROW).knob("nvme.write_cache")
    placed = place(FakeHost({}), knob, Location("/dev/nvme0n1"))
    assert placed.addresses == ("nvme get-feature /dev/nvme0n1 --feature-id=6",)
    kind = knob_kinds.get(knob.kind)
    assert kind.runs(placed) == (("nvme", "get-feature", "/dev/nvme0n1", "--feature-id=6"),)
    [action] = kind.writes(placed, "0x0")
    assert isinstance(action, SetByCommand)
    assert action.set == ("nvme", "set-feature", "/dev/nvme0n1", "--value=0")
    assert action.value == "0x0"
    assert kind.parse(placed, ("... value: 0x1",)).value == "0x1"
    assert kind.set_by_hand(placed, "0x1") == "nvme set-feature /dev/nvme0n1 --value=0x1"
    for location, said in (
        (Location(), "needs a device"),
        (Location("/dev/a", None, ("/dev/b",)), "the files lie on several"),
    ):
        with pytest.raises(UsageError, match=said):
            place(FakeHost({}), knob, location)


def test_levels_are_checked_as_those_of_any_knob() -> None:
    word = OwnRow.model_validate(ROW).knob("nvme.write_cache")
    assert level_of(word, word.name, "0X1") == "0x1"
    number = OwnRow.model_validate({**ROW, "levels": [], "minimum": 0, "maximum": 9}).knob("nvme.power_state")
    assert level_of(number, number.name, 4) == 4
    for knob, wrong in ((word, "0x2"), (number, 10), (number, "x")):
        with pytest.raises(ValueError, match="is"):
            level_of(knob, knob.name, wrong)


@pytest.mark.parametrize(
    ("place_of_value", "text", "expected"),
    [
        ({"json": "/a/0/b~1c"}, '{"a": [{"b/c": "WB"}]}', "WB"),
        ({"json": "/on"}, '{"on": true}', "true"),
        ({"json": "/rate"}, '{"rate": 30}', "30"),
        ({"pattern": "^Rate *: ([0-9]+)"}, "Adapter\nRate : 30 %", "30"),
    ],
)
def test_a_value_is_taken_from_an_output(place_of_value: dict[str, str], text: str, expected: str) -> None:
    assert extract(CommandLines(get=("x",), set=("x",), **place_of_value), text) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("place_of_value", "text"),
    [
        ({"json": "/a"}, '{"a": {}}'),
        ({"json": "/a/1"}, '{"a": [0]}'),
        ({"json": "/a/b"}, '{"a": "text"}'),
        ({"json": "/a"}, "no JSON"),
        ({"pattern": "(x)"}, "y"),
        ({"pattern": "x(y)?"}, "x"),
        ({"pattern": "(.*)"}, "x" * 201),
    ],
)
def test_an_output_without_the_value_is_an_error(place_of_value: dict[str, str], text: str) -> None:
    with pytest.raises(ValueError, match=r"leads|matches|Expecting|finds 201 characters"):
        extract(CommandLines(get=("x",), set=("x",), **place_of_value), text)  # type: ignore[arg-type]


def test_a_pattern_that_the_keeper_cannot_read_back_by_is_refused() -> None:
    for pattern in ("(?=x)(.)", "(.)\\1", "(?<!x)(.)"):
        with pytest.raises(ValueError, match="lookaround or a reference"):
            OwnRow.model_validate({**ROW, "pattern": pattern})


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.toml"):
        rows_in_file(tmp_path / "none.toml")


def test_a_wrong_row_is_named_with_its_file(tmp_path: Path) -> None:
    file = tmp_path / "rows.toml"
    for row in ('get = ["a"]\nlevels = [1]\n', 'get = ["a"]\npattern = "(x"\nsummary = "s"\n'):
        file.write_text(f'["x.y"]\n{row}', encoding="utf-8")
        with pytest.raises(UsageError, match=r"rows\.toml: x\.y: "):
            rows_in_file(file)


def test_a_later_row_of_a_name_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    text = '["x.y"]\nget = ["a"]\nset = ["a", "{value}"]\npattern = "(.)"\nminimum = 0\nsummary = "SUMMARY"\n'
    for name in ("1", "2"):
        (tmp_path / f"{name}.toml").write_text(text.replace("SUMMARY", name), encoding="utf-8")
    rows = rows_in([tmp_path]).knobs
    assert [row.summary for row in rows] == ["1", "2"]
    knob = Catalogue(()).with_rows(rows).get("x.y")
    assert knob.summary == "2"
    assert dataclasses.asdict(knob)["command"]["get"] == ("a",)
    assert rows_in([tmp_path / "none"]).knobs == []
    (tmp_path / "2.toml").chmod(0o622)
    with pytest.raises(UsageError, match="can be written by"):
        rows_in_file(tmp_path / "2.toml")


def test_a_program_that_is_not_there_is_to_be_installed() -> None:
    knob = OwnRow.model_validate({**ROW, "get": ["no-such-program"], "set": ["no-such-program", "{value}"]}).knob("x.y")
    refused = offer(LocalHost(), Catalogue((knob,)), "x.y", Location(), root=True)
    assert "no-such-program" in refused.refused
    assert refused.todo.startswith("install that program, or the interpreter that its first line names")


def test_a_pattern_that_is_no_regular_expression_is_refused() -> None:
    with pytest.raises(ValueError, match=r"is no regular expression: missing \)"):
        OwnRow.model_validate({**ROW, "pattern": "value: (.*"})
