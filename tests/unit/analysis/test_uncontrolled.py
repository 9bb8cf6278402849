"""What of the machine should be alike in all trials, and was or was not."""

import dataclasses

from test_checks import _checks, _timed
from test_judge import _experiment

from paribus.analysis.diagnostics.uncontrolled import constancy, differing_conditions
from paribus.findings import Held
from paribus.model import Tag, TrialState

FACTS = {1: {"a": "1", "b": "x"}, 2: {"a": "1", "b": "y"}, 3: {"a": "1"}}


def test_each_value_has_its_trials_and_what_is_not_there_is_one() -> None:
    trials = _experiment(lambda _load: 0.0)[0][:4]
    found = constancy(trials, FACTS)
    assert found.same == {"a": "1"}
    assert found.differed == {"b": (Held("x", (1,)), Held("y", (2,)), Held("absent", (3,)))}
    assert found.trials == (1, 2, 3)


def test_trials_that_do_not_count_say_nothing() -> None:
    trials = _experiment(lambda _load: 0.0)[0][:3]
    trials[1] = dataclasses.replace(trials[1], state=TrialState.INVALID)
    trials[2] = dataclasses.replace(trials[2], state=TrialState.SUPERSEDED)
    found = constancy(trials, FACTS)
    assert (found.same, found.differed, found.trials) == (FACTS[1], {}, (1,))


def test_a_pair_of_which_one_looked_is_not_unlike() -> None:
    assert differing_conditions((1, 2), FACTS) == {"b"}
    assert differing_conditions((1, 9), FACTS) == set()
    assert differing_conditions((8, 9), FACTS) == set()


def test_what_changes_between_pairs_is_told_and_what_changes_within_one_is_suspect() -> None:
    trials, values = _experiment(lambda _load: 0.0)
    trials = _timed(trials)
    for first_of_others, alike in ((len(trials) // 2 + 1, True), (len(trials) // 2 + 2, False)):
        found = {t.order: {"vm.swappiness": "60" if t.order < first_of_others else "10", "boot": "x"} for t in trials}
        checks, tags = _checks(trials, values, conditions=found)
        assert checks["conditions"].passed is alike
        assert (Tag.SUSPECT in tags) is not alike
    assert checks["conditions"].finding == "vm.swappiness differed within 1 of 24 pairs, and no trial sets that"


def test_trials_that_did_not_look_have_no_check_of_conditions() -> None:
    trials, values = _experiment(lambda _load: 0.0)
    assert "conditions" not in _checks(_timed(trials), values)[0]
