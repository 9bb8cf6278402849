"""States of health: rows, what programs print, and when trials count."""

from pathlib import Path

import pytest

from paribus.errors import Missing, TimedOut, UsageError
from paribus.hosts.transport import Completed
from paribus.knobs import health
from paribus.knobs.catalog.health_rows import HealthRow
from paribus.knobs.catalog.own_rows import rows_in_file
from paribus.model import CommandLines, HealthCheck

ROW = '["raid.battery"]\nget = ["raid", "show"]\npattern = "State (.+)"\nsound = ["Optimal"]\nsummary = "the battery"\n'


def check(name: str = "x.y", **fields: object) -> HealthCheck:
    command = CommandLines(get=("x", "{device}"), set=(), pattern="=(.*)")
    return HealthCheck(name=name, command=command, summary="", **fields)  # type: ignore[arg-type]


def test_a_row_that_sets_nothing_is_on_health(tmp_path: Path) -> None:
    file = tmp_path / "rows.toml"
    file.write_text(ROW, encoding="utf-8")
    rows = rows_in_file(file)
    assert not rows.knobs
    assert [(row.name, row.sound) for row in rows.health] == [("raid.battery", ("Optimal",))]
    file.write_text(ROW.replace("sound", "levels"), encoding="utf-8")
    with pytest.raises(UsageError, match=r"set.*required"):  # a knob that lacks its program
        rows_in_file(file)


def test_a_row_needs_a_place_of_its_value() -> None:
    with pytest.raises(ValueError, match="write either json"):
        HealthRow.model_validate({"get": ["a"], "summary": "x"})


def test_a_row_on_disks_is_read_of_each() -> None:
    placed = list(health.placed([check()], ["/dev/sda", "/dev/nvme0n1"]))
    assert [each.name for each in placed] == ["x.y sda", "x.y nvme0n1"]
    assert [each.command.get for each in placed] == [("x", "/dev/sda"), ("x", "/dev/nvme0n1")]
    of_nvme = list(health.placed([check(disks="nvme*")], ["/dev/sda", "/dev/nvme0n1"]))
    assert [each.name for each in of_nvme] == ["x.y nvme0n1"]


def test_a_row_on_some_disks_names_the_disk_in_its_program() -> None:
    with pytest.raises(ValueError, match="disks is for a program that reads a disk"):
        HealthRow.model_validate({"get": ["a"], "json": "/b", "summary": "x", "disks": "nvme*"})


@pytest.mark.parametrize(
    ("fields", "state", "reason"),
    [
        ({"sound": ("Optimal", 0)}, "Optimal", None),
        ({"sound": ("Optimal", 0)}, "0", None),
        ({"sound": ("Optimal",)}, "Learning", "x.y is Learning, and not Optimal"),
        ({"minimum": 10, "maximum": 70}, "70", None),
        ({"minimum": 10, "maximum": 70}, "1,071", "x.y is 1,071, more than 70"),
        ({"minimum": 10, "maximum": 70}, "9.5", "x.y is 9.5, less than 10"),
        ({"minimum": 10}, "unknown", "x.y is unknown, which is no number"),
        ({"maximum": 10}, "nan", "x.y is nan, which is no number"),
        ({}, "anything", None),
    ],
)
def test_trial_counts_only_in_a_sound_state(fields: dict[str, object], state: str, reason: str | None) -> None:
    assert health.unsound(check(**fields), state) == reason


def test_a_change_matters_only_of_what_is_constant() -> None:
    assert health.moved(check(), "1", "2") is None
    assert health.moved(check(constant=True), "1", "1") is None
    assert health.moved(check(constant=True), "1", "2") == "x.y changed from 1 to 2"


@pytest.mark.parametrize(
    ("text", "state", "is_sound"),
    [
        ("a=1\nb=2\nc=0\n", "3", True),
        ("a=0.5\nb=0.25\n", "0.75", True),
        ("a=20000000\nb=5\n", "20000005", True),
        ("a=Onln\nb=Onln\n", "Onln", True),
        ("a=Onln\nb=Rbld\nc=Onln\n", "Onln, Rbld", False),
        ("a=Onln\nb=GHS\n", "GHS, Onln", True),
        ("a=Onln\nb=7\n", "7, Onln", False),
    ],
)
def test_every_match_is_summed_or_must_be_sound(text: str, state: str, is_sound: bool) -> None:
    row = check(every=True, sound=() if state.replace(".", "").isdecimal() else ("Onln", "GHS"))
    assert health.state_in(row, text) == state
    assert (health.unsound(row, state) is None) is is_sound
    with pytest.raises(ValueError, match="nothing matches"):
        health.state_in(row, "another form")


def test_every_needs_a_pattern() -> None:
    row = {"get": ["a"], "json": "/x", "every": True, "summary": "x"}
    with pytest.raises(ValueError, match="write pattern in place of json"):
        HealthRow.model_validate(row)


class Programs:
    """A host with programs that print these texts, and counts their runs."""

    def __init__(self, **printed: str) -> None:
        self.printed = printed
        self.runs: list[str] = []

    def run(self, argv: list[str], **_options: object) -> Completed:
        self.runs.append(argv[0])
        if argv[0] not in self.printed:
            raise Missing(f"cannot start {argv[0]}: not found")
        if self.printed[argv[0]] == "hangs":
            raise TimedOut(f"{argv[0]} did not end within 10 s")
        if self.printed[argv[0]] == "127":  # over SSH a shell says it
            return Completed(127, "", "not found")
        return Completed(4, self.printed[argv[0]], "")


def test_a_program_runs_once_for_all_its_states() -> None:
    rows = [
        HealthCheck(name=f"{program}.{key}", command=CommandLines(get=(program,), set=(), json=f"/{key}"), summary="")
        for program, key in (("a", "x"), ("a", "y"), ("a", "z"), ("b", "x"), ("c", "x"))
    ]
    host = Programs(a='{"x": 1, "y": false}', c="127")
    x, y, z, missing, not_there = health.read_each(host, rows)  # type: ignore[arg-type]
    assert host.runs == ["a", "b", "c"]
    assert [each.lacks_program for each in (x, z, missing, not_there)] == [False, False, True, True]
    assert (x.state, y.state, z.state, missing.state) == ("1", "false", None, None)
    assert "`a` (exit code 4) does not print it: /z leads nowhere" in z.refused
    assert missing.refused == "cannot start b: not found"


def test_a_program_that_hangs_is_not_run_again() -> None:
    rows = [
        HealthCheck(name=f"{program}.{word}", command=CommandLines(get=(program, word), set=(), json="/x"), summary="")
        for program, word in (("a", "1"), ("a", "2"), ("b", "1"), ("a", "3"))
    ]
    host = Programs(a="hangs", b='{"x": 1}')
    readings = list(health.read_each(host, rows))  # type: ignore[arg-type]
    assert host.runs == ["a", "b"]
    assert [each.state for each in readings] == [None, None, "1", None]
    assert {each.refused for each in readings if each.state is None} == {"a did not end within 10 s"}
