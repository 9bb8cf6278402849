"""Rules yield levels, workloads, loads and repetitions; mistakes are reported with their location."""

import re
from pathlib import Path

import pytest

from paribus.errors import PlanError, UsageError
from paribus.imports.rules import Rules, RunPlacement, format_of, place, read_rules
from paribus.parsers.log import LogRun

RUN = LogRun(tool="sysbench", workload="oltp", load=8, options={"mysql-host": "db2", "tables": "4"}, lines=(1, 9))


def _rules(tmp_path: Path, text: str) -> Rules:
    path = tmp_path / "rules.toml"
    path.write_text(text)
    return read_rules(path)


def test_groups_are_levels_and_reserved_names_are_not(tmp_path: Path) -> None:
    rules = _rules(
        tmp_path,
        r"""
        [[rule]]
        path = '(?P<scheduler>noop|cfq)/(?P<workload>\w+)-t(?P<load>\d+)-r(?P<repetition>\d+)'
    """,
    )
    placement = place(RUN, "logs/cfq/rw-t32-r2.log", rules.rule, {})
    assert placement == RunPlacement(labels={"scheduler": "cfq"}, workload="rw", load=32, repetition=2)
    assert place(RUN, "logs/other.log", rules.rule, {}) == RunPlacement(workload="oltp", load=8)


def test_texts_are_filled_and_a_group_within_one_is_no_factor(tmp_path: Path) -> None:
    rules = _rules(
        tmp_path,
        r"""
        [[rule]]
        path = '-(?P<s>\w+)\.log$'
        options = { mysql-host = 'db(?P<host>\d)' }
        labels = { "block.scheduler" = "{s}", platform = "machine {host}" }
    """,
    )
    placement = place(RUN, "a-noop.log", rules.rule, {})
    assert placement.labels == {"block.scheduler": "noop", "platform": "machine 2"}


def test_later_rules_override_and_common_labels_override_all(tmp_path: Path) -> None:
    rules = _rules(
        tmp_path,
        """
        [[rule]]
        labels = { x = "a", y = "a" }
        [[rule]]
        path = "b"
        labels = { x = "b" }
    """,
    )
    assert place(RUN, "b.log", rules.rule, {"y": "c"}).labels == {"x": "b", "y": "c"}


def test_an_option_that_is_not_there_matches_nothing(tmp_path: Path) -> None:
    rules = _rules(tmp_path, '[[rule]]\noptions = { engine = ".*" }\nlabels = { x = "a" }')
    assert place(RUN, "a.log", rules.rule, {}).labels == {}


def test_runs_are_left_out_and_formats_forced(tmp_path: Path) -> None:
    rules = _rules(tmp_path, "[[rule]]\npath = 'warm'\nskip = true\n[[rule]]\npath = 'fio$'\nformat = 'fio'")
    assert place(RUN, "warm-1.log", rules.rule, {}).skip
    assert format_of(rules.rule, "a.fio") == "fio"
    assert format_of(rules.rule, "a.log") == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[rule]]\npath = '('\nload = 1", r"rule\.1\.path: is not a regular expression"),
        ("[[rule]]\npath = 'a'", "has no effect"),
        ("[[rule]]\npath = 'a'\nlabels = { x = '{y}' }", r"\{y\}, which is no group"),
        ("[[rule]]\npth = 'a'\nskip = true", r"rule\.1\.pth: is no key here"),
        ("rulez = []", "known: name, levels, rule"),
        ("[[rule]", "is not TOML"),
    ],
)
def test_a_mistake_is_reported_with_its_location(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        _rules(tmp_path, text)


def test_a_count_that_is_none_is_refused(tmp_path: Path) -> None:
    rules = _rules(tmp_path, "[[rule]]\npath = '(?P<load>.*)'")
    with pytest.raises(UsageError, match=re.escape("load 'a.log' of a.log is not a whole number")):
        place(RUN, "a.log", rules.rule, {})


def test_names_contain_no_unprintable_characters() -> None:
    run = LogRun(tool="t", workload="a\x00b", labels={"x\x1b": "noop\x00", "y": "\x00"}, lines=(1, 1))
    placed = place(run, "path", (), {})
    assert (dict(placed.labels), placed.workload) == ({"x": "noop"}, "a b")
