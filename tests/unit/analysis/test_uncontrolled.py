"""Uncontrolled machine conditions that are equal, or differ, between trials."""

import dataclasses

from test_checks import _checks, _timed
from test_judge import _experiment

from paribus.analysis.diagnostics.uncontrolled import constancy, differing_conditions
from paribus.findings import Held
from paribus.model import Settings, Tag, TrialState

FACTS = {1: {"a": "1", "b": "x"}, 2: {"a": "1", "b": "y"}, 3: {"a": "1"}}


def test_each_value_has_its_trials_and_absence_is_a_value() -> None:
    trials = _experiment(lambda _load: 0.0)[0][:4]
    constant = constancy(trials, FACTS)
    assert constant.same == {"a": "1"}
    assert constant.differed == {"b": (Held("x", (1,)), Held("y", (2,)), Held("absent", (3,)))}
    assert constant.trials == (1, 2, 3)


def test_invalid_trials_are_ignored() -> None:
    trials = _experiment(lambda _load: 0.0)[0][:3]
    trials[1] = dataclasses.replace(trials[1], state=TrialState.INVALID)
    trials[2] = dataclasses.replace(trials[2], state=TrialState.SUPERSEDED)
    constant = constancy(trials, FACTS)
    assert (constant.same, constant.differed, constant.trials) == (FACTS[1], {}, (1,))


def test_a_pair_with_one_recorded_trial_does_not_differ() -> None:
    settings: dict[int, Settings] = {order: {} for order in range(10)}
    assert differing_conditions((1, 2), FACTS, settings) == {"b"}
    assert differing_conditions((1, 9), FACTS, settings) == set()
    assert differing_conditions((8, 9), FACTS, settings) == set()


def test_a_change_within_a_pair_is_suspect_and_between_pairs_is_not() -> None:
    trials, values = _experiment(lambda _load: 0.0)
    trials = _timed(trials)
    for first_changed, alike in ((len(trials) // 2 + 1, True), (len(trials) // 2 + 2, False)):
        conditions = {
            t.order: {"vm.swappiness": "60" if t.order < first_changed else "10", "boot": "x"} for t in trials
        }
        checks, tags = _checks(trials, values, conditions=conditions)
        assert checks["conditions"].passed is alike
        assert (Tag.SUSPECT in tags) is not alike
    assert checks["conditions"].finding == "vm.swappiness differed within 1 of 24 pairs; the plan does not control this"


def test_conditions_that_follow_from_a_guests_definition_are_no_doubt() -> None:
    trials, values = _experiment(lambda _load: 0.0)
    trials = _timed([dataclasses.replace(t, settings={"guest.disk.cache": t.arm}) for t in trials])
    moved = {t.order: {"boot": str(t.order), "block.write_cache": str(t.order)} for t in trials}
    checks, _ = _checks(trials, values, conditions=moved)
    assert checks["conditions"].passed
    assert constancy(trials, moved).differed == {}
    held = [dataclasses.replace(t, settings={"guest.disk.cache": "unsafe"}) for t in trials]
    checks, _ = _checks(held, values, conditions=moved)
    assert checks["conditions"].finding.startswith("block.write_cache, boot differed within 24 of 24 pairs")
    scheduler = {order: facts | {"block.scheduler": str(order)} for order, facts in moved.items()}
    checks, _ = _checks(trials, values, conditions=scheduler)
    assert checks["conditions"].finding.startswith("block.scheduler differed within 24 of 24 pairs")


def test_two_platforms_are_not_checked_for_equal_conditions_and_the_report_has_them() -> None:
    trials, values = _experiment(lambda _load: 0.0)
    trials = _timed([dataclasses.replace(t, settings={"platform": t.arm}) for t in trials])
    kernels = {t.order: {"kernel": t.arm} for t in trials}
    checks, _ = _checks(trials, values, conditions=kernels)
    assert not {"conditions", "clock", "steal"} & set(checks)
    assert set(constancy(trials, kernels).differed) == {"kernel"}


def test_trials_without_conditions_have_no_check() -> None:
    trials, values = _experiment(lambda _load: 0.0)
    assert "conditions" not in _checks(_timed(trials), values)[0]
