"""Progress of an experiment and its remaining time."""

import math
from dataclasses import replace

import web_samples as samples

from paribus.model import Purpose, Trial, TrialState
from paribus.web.pace import last_activity, may_be_cut_off, pace


def _made(count: int, *, length_s: float = 10.0, gap_s: float = 2.0, of: int = 20) -> list[Trial]:
    trials = [samples._trial("e", order) for order in range(1, of + 1)]
    for place in range(count):
        began = 1000 + place * (length_s + gap_s)
        trials[place] = replace(trials[place], state=TrialState.DONE, started=began, ended=began + length_s)
    return trials


def test_before_the_first_trial_nothing_is_known() -> None:
    assert pace(_made(0)).left_s is None


def test_the_rest_is_as_long_as_the_latest_trials_with_what_is_between() -> None:
    found = pace(_made(5))
    assert (found.made, found.counted) == (5, 20)
    assert found.left_s is not None
    assert math.isclose(found.left_s, 15 * 12.0)


def test_an_interruption_does_not_count_as_usual() -> None:
    trials = _made(6)
    for place in (3, 4, 5):
        late = trials[place]
        assert late.started and late.ended
        trials[place] = replace(late, started=late.started + 86400, ended=late.ended + 86400)
    assert math.isclose(pace(trials).left_s or 0, 14 * 12.0)


def test_preconditioning_does_not_count_in_the_pace() -> None:
    trials = _made(3)
    trials[0] = replace(trials[0], purpose=Purpose.PRECONDITION, started=1.0, ended=900.0)
    assert math.isclose(pace(trials).left_s or 0, 17 * 12.0)


def test_superseded_and_spared_trials_are_not_counted() -> None:
    trials = _made(4)
    trials[0] = replace(trials[0], state=TrialState.SUPERSEDED)
    trials[19] = replace(trials[19], state=TrialState.SPARED)
    trials[3] = replace(trials[3], state=TrialState.INVALID)
    found = pace(trials)
    assert (found.made, found.counted, found.unusable, found.spared) == (3, 18, 1, 1)


def test_silence_is_told_only_when_it_is_long() -> None:
    trials = _made(2)
    ended = trials[1].ended or 0.0
    last, longest = last_activity(trials)
    assert (last, longest) == (ended, max(trial.took_s for trial in trials))
    assert not may_be_cut_off(last, longest, 10, ended + 100)
    assert may_be_cut_off(last, longest, 10, ended + 200)
    assert not may_be_cut_off(last, longest, 60, ended + 200)
