"""Files of rules: those of the program, those of a user, and wrong ones."""

import os
from pathlib import Path

import pytest

from paribus.audit import all_rules, built_in_rules
from paribus.errors import UsageError

SOURCE = """
[sources.s]
title = "T"
author = "A"
url = "https://example.org/"
evidence = "advice"
"""
RULE = """
[[rules]]
id = "users-rule"
setting = "block.scheduler"
advised = ["none"]
reason = "So."
source = "s"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setattr("paribus.audit.advice_rules._SYSTEM", tmp_path / "etc")
    path = tmp_path / "paribus/audit"
    path.mkdir(parents=True)
    return path


def test_rules_of_a_user_are_added(folder: Path) -> None:
    (folder / "more.toml").write_text(SOURCE + RULE)
    rules = all_rules()
    assert rules.rules[-1].id == "users-rule"
    assert len(rules.rules) == len(built_in_rules().rules) + 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (RULE, "names the source s, which is not there"),
        (SOURCE + RULE + RULE, "the rule users-rule exists twice"),
        (SOURCE + RULE + 'at_least = "1"', "either advised, or at_least and at_most, or direction"),
        (SOURCE + RULE + 'when = "import os"', "is no expression"),
        (SOURCE + RULE + 'colour = "red"', "rules.0.colour: Extra inputs are not permitted"),
        (SOURCE.replace("advice", "rumour") + RULE, "sources.s.evidence"),
        ("[[rules", "Expected ']]'"),
    ],
)
def test_wrong_files_are_refused_by_name_and_row(folder: Path, text: str, message: str) -> None:
    (folder / "more.toml").write_text(text)
    with pytest.raises(UsageError) as refused:
        all_rules()
    assert "more.toml" in str(refused.value)
    assert message in str(refused.value)


def test_a_pipe_in_the_folder_is_refused(folder: Path) -> None:
    os.mkfifo(folder / "pipe.toml")
    with pytest.raises(UsageError, match=r"pipe\.toml is no regular file"):
        all_rules()


def test_rules_of_the_program_are_at_least_150_with_a_source_each() -> None:
    rules = built_in_rules()
    assert len(rules.rules) >= 150
    assert {rule.source for rule in rules.rules} == set(rules.sources)
