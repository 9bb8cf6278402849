"""`paribus again`: what an experiment left open is asked anew, and nothing else."""

import random
import tomllib
from pathlib import Path

import pytest
import scripted
from plan_samples import FILEIO, checked
from typer.testing import CliRunner

from paribus.cli.main import app
from paribus.errors import PlanError, UsageError
from paribus.lab.plans.follow_up_plan import parsed_follow_up_plan
from paribus.model import Trial
from paribus.store.open import open_engine, store_url

FACTORS = '"vm.swappiness" = [60, 1, 30]\n"vm.dirty" = ["20%", "10%"]\n"block.rq_affinity" = [0, 2]\n'
COMBINATIONS = (
    '[[combination]]\nname = "clear"\nsettings = { "vm.swappiness" = 2 }\n'
    '[[combination]]\nname = "unclear"\nsettings = { "vm.swappiness" = 3 }\n'
)
PROTOCOL = '[protocol]\nbudget = "20h"\nrounds = 2\nmethod = "fixed"\nseed = 3\nmargin = "2%"\n'
CLEAR, UNCLEAR = ("1", "10%", "clear"), ("30", "2", "unclear")


def _effect(trial: Trial) -> float:
    """Clearly better, or so noisy that nothing can be said."""
    noise = random.Random(trial.order).gauss(0.0, 0.1) if trial.arm in UNCLEAR else 0.0
    return 0.3 * (trial.arm in CLEAR) + noise


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with an experiment in which every other question stays open."""
    file = tmp_path_factory.mktemp("again") / "s.db"
    opened = open_engine(store_url(str(file)), create=True)
    scope = '[factor_scope]\n"vm.dirty" = ["fileio"]\n"block.rq_affinity" = ["fileio"]\n'
    plan = checked(f'name = "n"\n[factors]\n{FACTORS}{scope}{COMBINATIONS}{FILEIO}{PROTOCOL}')
    scripted.carry_out(opened, plan, _effect, wobble=0.03)
    opened.dispose()
    return file


def _again(store: Path, budget: str = "") -> dict:
    opened = open_engine(store_url(str(store)), create=False)
    parsed = parsed_follow_up_plan(opened, "last", budget)
    opened.dispose()
    assert not parsed.problems
    return tomllib.loads(parsed.text)


def test_only_what_is_open_is_asked_again(store: Path) -> None:
    document = _again(store)
    assert document["factors"] == {"vm.swappiness": [60, 30], "block.rq_affinity": [0, 2]}
    assert [each["name"] for each in document["combination"]] == ["unclear"]
    assert document["factor_scope"] == {"block.rq_affinity": ["fileio"]}
    assert document["workload"][0]["kind"] == "fileio"
    assert document["hold"] == {"vm.dirty": "20%"}, "the baseline of what is decided stays as it was"


def test_follow_up_plan_has_a_sufficient_budget_and_a_new_order(store: Path) -> None:
    protocol = _again(store)["protocol"]
    assert protocol.keys() == {"method", "margin", "budget"}
    assert int(protocol["budget"].removesuffix("min")) >= 2
    assert _again(store, "3h")["protocol"]["budget"] == "3h"
    with pytest.raises(PlanError, match=r"--budget: 'nan'"):
        _again(store, "nan")


def test_the_report_names_the_command_and_it_prints_the_plan(store: Path) -> None:
    shown = CliRunner().invoke(app, ["report", "--store", str(store)])
    command = next(line.split() for line in shown.output.splitlines() if "paribus again" in line)
    printed = CliRunner().invoke(app, [*command[1:], "--store", str(store), "--print"])
    assert printed.exit_code == 0, printed.output
    assert tomllib.loads(printed.output)["name"] == "n"


def test_without_an_open_question_there_is_nothing_to_ask(store_file: Path) -> None:
    with pytest.raises(UsageError, match="no question that more pairs would answer"):
        _again(store_file)


def test_a_budget_that_answers_no_more_than_before_is_told_so(store: Path) -> None:
    opened = open_engine(store_url(str(store)), create=False)
    lines: list[str] = []
    parsed_follow_up_plan(opened, "last", "100h", lines.append)
    assert not lines
    parsed_follow_up_plan(opened, "last", "1s", lines.append)
    opened.dispose()
    [line] = lines
    assert line.startswith("a budget of 1s will hardly answer more than before: about ")
