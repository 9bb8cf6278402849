"""Conditions of `--fail-on`, which a script may refuse."""

from types import SimpleNamespace
from typing import cast

import pytest
import typer

from paribus.analysis.paired.judge import Judgement
from paribus.cli.options import fail_if, read_conditions
from paribus.errors import UsageError
from paribus.lab.results.conditions import FailCondition, of_comparison, of_judgement
from paribus.model import Tag, Verdict
from paribus.report.comparison_view import ComparedDocument
from paribus.units import LoadLevel

WORSE, SUSPECT, UNDECIDED = FailCondition.WORSE, FailCondition.SUSPECT, FailCondition.UNDECIDED


def _effect(verdict: Verdict | None, *tags: Tag, load: LoadLevel | None = None) -> SimpleNamespace:
    return SimpleNamespace(verdict=verdict, tags=tags, load=load)


def _judgement(*effects: SimpleNamespace, unjudged: tuple[str, ...] = ()) -> Judgement:
    return cast("Judgement", SimpleNamespace(effects=effects, unjudged=unjudged, matrices=()))


@pytest.mark.parametrize(
    ("judgement", "holding"),
    [
        (_judgement(_effect(Verdict.BETTER), _effect(Verdict.EQUIVALENT)), set()),
        (_judgement(_effect(Verdict.BETTER), _effect(Verdict.WORSE)), {WORSE}),
        (_judgement(_effect(Verdict.BETTER), _effect(Verdict.WORSE, load=LoadLevel(4))), set()),
        (_judgement(_effect(Verdict.WORSE, Tag.SUSPECT)), {WORSE, SUSPECT}),
        (_judgement(_effect(Verdict.UNDECIDED)), {UNDECIDED}),
        (_judgement(_effect(None)), {UNDECIDED}),
        (_judgement(_effect(Verdict.BETTER), unjudged=("too few pairs",)), {UNDECIDED}),
        (_judgement(_effect(Verdict.DEPENDS_ON_LOAD)), set()),
    ],
)
def test_conditions_follow_from_verdicts_over_all_loads(judgement: Judgement, holding: set[FailCondition]) -> None:
    assert of_judgement(judgement) == holding


def test_a_comparison_of_experiments_without_a_common_workload_is_undecided() -> None:
    compared = cast("ComparedDocument", SimpleNamespace(between=[_effect(Verdict.WORSE)]))
    assert of_comparison(compared) == {WORSE}
    assert of_comparison(cast("ComparedDocument", SimpleNamespace(between=[]))) == {UNDECIDED}


def test_a_list_with_commas_is_read_and_a_wrong_word_is_refused() -> None:
    assert read_conditions("") == frozenset()
    assert read_conditions("worse, undecided") == {WORSE, UNDECIDED}
    with pytest.raises(UsageError, match="did you mean 'worse'"):
        read_conditions("worst")


def test_only_a_requested_condition_ends_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    fail_if(frozenset({SUSPECT}), frozenset({WORSE}))
    with pytest.raises(typer.Exit) as ended:
        fail_if(frozenset({SUSPECT, WORSE}), frozenset({WORSE}))
    assert ended.value.exit_code == 1
    assert "the result is worse" in capsys.readouterr().err
