"""Expressions of rules: values, unknown facts, and texts that are none."""

import pytest

from paribus.audit import Expression
from paribus.audit.expression import Scalar, version_of

FACTS: dict[str, Scalar] = {
    "kernel": "6.12.3-amd64",
    "memory": 8 * 2**30,
    "virtual": True,
    "device_kind": "nvme",
    "mysql.sync_binlog": 1,
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("memory * 0.5", 4 * 2**30),
        ("min(memory // 4, GiB(1))", 2**30),
        ("kernel >= '5.0'", True),
        ("kernel < '6.2'", False),
        ("'6.12' <= kernel < '6.13'", True),
        ("device_kind in ('nvme', 'ssd') and virtual", True),
        ("device_kind not in ('nvme', 'ssd')", False),
        ("virtual == false", False),
        ("mysql.sync_binlog == 1", True),
        ("-1 < mysql.sync_binlog", True),
        ("not virtual or memory > 2 * GiB(1)", True),
        ("kernel in ('6.12.3', '6.6')", True),
        ("kernel not in ('6.12.3', '6.6')", False),
    ],
)
def test_expressions_have_values(text: str, value: Scalar) -> None:
    assert Expression(text).checked().value(FACTS) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("numa_nodes > 1", None),
        ("numa_nodes > 1 and virtual", None),
        ("numa_nodes > 1 and not virtual", False),
        ("numa_nodes > 1 or virtual", True),
        ("not (numa_nodes > 1)", None),
        ("memory * numa_nodes", None),
        ("version >= '8.0'", None),
    ],
)
def test_an_unknown_fact_leaves_open_only_what_depends_on_it(text: str, value: Scalar | None) -> None:
    assert Expression(text).value(FACTS) is value


@pytest.mark.parametrize(
    "text",
    [
        "memory *",
        "__import__('os')",
        "memory.real()",
        "[1, 2]",
        "lambda: 1",
        "memory ** 9",
        "(x := 1)",
        "min(a, key=b)",
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"no expression|not allowed"):
        Expression(text).checked()


@pytest.mark.parametrize("text", ["not " * 300 + "true", "1" + " + 1" * 240 + "0" * 999, "not " * 90_000])
def test_an_expression_that_is_too_long_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"characters|too deeply"):
        Expression(text).checked()


def test_words_are_not_computed_with() -> None:
    with pytest.raises(ValueError, match="which is no number"):
        Expression("device_kind * 99999999999").value(FACTS)


def test_names_are_those_of_facts_and_settings() -> None:
    names = Expression("max(mysql.sync_binlog, 1) > numa_nodes and true").names
    assert sorted(names) == ["mysql.sync_binlog", "numa_nodes"]


def test_a_comparison_of_words_and_numbers_has_no_value() -> None:
    with pytest.raises(ValueError, match="has no value here"):
        Expression("device_kind > 3").value(FACTS)


@pytest.mark.parametrize(("text", "numbers"), [("10.11.14-MariaDB", (10, 11, 14)), ("15", (15,)), ("main", ())])
def test_versions_are_the_numbers_at_the_beginning(text: str, numbers: tuple[int, ...]) -> None:
    assert version_of(text) == numbers
