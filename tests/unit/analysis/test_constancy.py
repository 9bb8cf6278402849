"""What of the machine should be alike in all trials, and was or was not."""

import dataclasses

from test_judge import _experiment

from ceteris.analysis.conditions import constancy, unlike
from ceteris.findings import Held
from ceteris.model import TrialState

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
    assert unlike((1, 2), FACTS) == {"b"}
    assert unlike((1, 9), FACTS) == set()
    assert unlike((8, 9), FACTS) == set()
