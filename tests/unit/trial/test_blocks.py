"""Choice of the next block, whatever happened to the ones before."""

import dataclasses
import random

from hypothesis import given
from hypothesis import strategies as st
from plan_samples import checked, simple
from test_machine import TRIAL

from paribus.model import FailureClass, Purpose, Trial, TrialState, arm_of
from paribus.plan.schedule.design import schedule
from paribus.trial.blocks import MOST_RERUNS, blocks_over, lost_preconditioning, next_block, rerun_of

S = TrialState


def _trial(order: int, block: int, arm: str, state: TrialState, round_: int = 1, **fields: object) -> Trial:
    return dataclasses.replace(
        TRIAL, order=order, block=block, arm=arm, state=state, round=round_, position=1 + (arm == "b"), **fields
    )  # type: ignore[arg-type]


def _blocks(*states: tuple[TrialState, TrialState], rounds: tuple[int, ...] = (1, 1, 1)) -> list[Trial]:
    return [
        _trial(1 + 2 * n + side, n + 1, "ab"[side], pair[side], rounds[n])
        for n, pair in enumerate(states)
        for side in (0, 1)
    ]


def _next(trials: list[Trial]) -> int | None:
    block = next_block(trials)
    return block[0].block if block else None


def test_blocks_come_in_order() -> None:
    assert _next(_blocks((S.DONE, S.DONE), (S.PLANNED, S.PLANNED), (S.PLANNED, S.PLANNED))) == 2
    assert _next(_blocks((S.DONE, S.DONE))) is None


def test_trial_without_comparison_is_a_block_and_is_rerun_like_any_other() -> None:
    alone = [_trial(1, 1, "", S.DONE), _trial(2, 2, "", S.INVALID), _trial(3, 3, "", S.PLANNED)]
    assert _next(alone) == 3
    assert _next([alone[0], alone[1], dataclasses.replace(alone[2], state=S.DONE)]) == 2
    refused = [
        dataclasses.replace(alone[1], state=S.FAILED, failure=FailureClass.SETTING_REJECTED, order=n) for n in (4, 5)
    ]
    assert _next([alone[0], *refused]) is None


def test_a_block_cut_off_anywhere_comes_first() -> None:
    for cut in ((S.APPLYING, S.PLANNED), (S.SETTLING, S.PLANNED), (S.DONE, S.PLANNED), (S.DONE, S.MEASURING)):
        assert _next(_blocks((S.PLANNED, S.PLANNED), cut)) == 2


def test_an_interrupted_trial_is_no_fault_of_its_block() -> None:
    trials = _blocks((S.PLANNED, S.PLANNED), (S.DONE, S.FAILED))
    trials[3] = dataclasses.replace(trials[3], failure=FailureClass.INTERRUPTED)
    assert _next(trials) == 2


def test_a_broken_block_waits_for_the_end_of_its_round() -> None:
    trials = _blocks((S.INVALID, S.PLANNED), (S.PLANNED, S.PLANNED), (S.PLANNED, S.PLANNED), rounds=(1, 1, 2))
    assert _next(trials) == 2
    done = _blocks((S.INVALID, S.PLANNED), (S.DONE, S.DONE), (S.PLANNED, S.PLANNED), rounds=(1, 1, 2))
    assert _next(done) == 1


def test_a_block_is_rerun_at_most_twice() -> None:
    trials = _blocks((S.INVALID, S.PLANNED))
    for attempt in range(1, MOST_RERUNS + 1):
        block = next_block(trials)
        assert block is not None
        rerun = rerun_of(block, trials[-1].order)
        assert [t.attempt for t in rerun] == [attempt + 1] * 2
        old = [dataclasses.replace(t, state=S.SUPERSEDED, invalid_because=("x",)) for t in block]
        remaining = [t for t in trials if t.order not in {o.order for o in old}]
        trials = sorted(
            remaining + old + [dataclasses.replace(t, state=S.INVALID) for t in rerun], key=lambda t: t.order
        )
    assert next_block(trials) is None


def test_renewed_trials_go_on_counting_and_name_what_they_replace() -> None:
    block = _blocks((S.DONE, S.APPLYING))
    rerun = rerun_of(block, 40)
    assert [(t.order, t.supersedes, t.state) for t in rerun] == [(41, 1, S.PLANNED), (42, 2, S.PLANNED)]
    assert rerun_of(_blocks((S.PLANNED, S.PLANNED)), 40) == []


def test_an_arm_refused_twice_is_given_up_and_the_others_go_on() -> None:
    refused = {"state": S.FAILED, "failure": FailureClass.SETTING_REJECTED}
    trials = _blocks((S.DONE, S.PLANNED), (S.DONE, S.PLANNED), (S.PLANNED, S.PLANNED))
    once = [dataclasses.replace(t, **refused) if t.order == 2 else t for t in trials]
    assert _next(once) == 2
    twice = [dataclasses.replace(t, **refused) if t.order == 4 else t for t in once]
    assert _next(twice) is None
    third = [_trial(10 + block, block, "c", S.DONE if block < 3 else S.PLANNED) for block in (1, 2, 3)]
    assert _next(twice + third) == 3
    done = [dataclasses.replace(t, state=S.DONE) if t.block == 3 and t.arm != "b" else t for t in twice + third]
    assert _next(done) is None


def _preconditioned(state: TrialState, trials: list[Trial], **fields: object) -> list[Trial]:
    first = {"factor": "", "arm": "", "purpose": Purpose.PRECONDITION, "order": 90}
    return [*trials, dataclasses.replace(_trial(90, 0, "", state, 0), **first, **fields)]  # type: ignore[arg-type]


def test_data_is_preconditioned_before_any_block() -> None:
    blocks = _blocks((S.PLANNED, S.PLANNED))
    assert _next(_preconditioned(S.PLANNED, blocks)) == 0
    assert _next(_preconditioned(S.DONE, blocks)) == 1


def test_no_block_is_made_on_data_that_could_not_be_preconditioned() -> None:
    blocks = _blocks((S.DONE, S.PLANNED), (S.PLANNED, S.PLANNED))
    for state in (S.FAILED, S.INVALID, S.MEASURING, S.APPLYING):
        assert _next(_preconditioned(state, blocks)) == 0
    assert _next(_preconditioned(S.FAILED, blocks, failure=FailureClass.LOAD_ERROR)) == 0
    assert _next(_preconditioned(S.FAILED, blocks, failure=FailureClass.SETTING_REJECTED)) == 1


def test_preconditioning_ends_with_the_last_block() -> None:
    done = _blocks((S.DONE, S.DONE))
    assert next_block(_preconditioned(S.PLANNED, done)) is None
    assert lost_preconditioning(_preconditioned(S.DONE, done)) == []


def test_a_resumed_experiment_has_lost_what_was_begun_before() -> None:
    blocks = _blocks((S.DONE, S.PLANNED))
    for state in (S.DONE, S.FAILED, S.MEASURING):
        trials = _preconditioned(state, blocks)
        (lost,) = lost_preconditioning(trials)
        (again,) = rerun_of([lost], trials[-1].order)
        assert (again.order, again.supersedes, again.state) == (91, 90, S.PLANNED)
    assert lost_preconditioning(_preconditioned(S.PLANNED, blocks)) == []
    assert lost_preconditioning(_preconditioned(S.SUPERSEDED, blocks)) == []


def test_a_trial_is_called_by_what_it_is_made_for() -> None:
    trials = _preconditioned(S.PLANNED, _blocks((S.PLANNED, S.PLANNED)))
    assert [trial.subject for trial in trials] == ["k = a", "k = b", "preconditioning"]
    assert dataclasses.replace(trials[-1], arm="w.files = 2").subject == "preconditioning with w.files = 2"


@given(st.lists(st.tuples(st.sampled_from(list(S)), st.sampled_from(list(S))), min_size=3, max_size=3))
def test_any_states_lead_to_a_block_that_is_not_whole_or_to_the_end(
    states: list[tuple[TrialState, TrialState]],
) -> None:
    block = next_block(_blocks(*states))
    assert block is None or any(trial.state is not S.DONE for trial in block)


def test_blocks_are_over_when_none_of_them_will_be_tried_again() -> None:
    place = (TRIAL.factor, TRIAL.workload)
    assert blocks_over(_blocks((S.DONE, S.DONE), (S.DONE, S.DONE), (S.PLANNED, S.PLANNED))) == {place: 2}
    assert blocks_over(_blocks((S.DONE, S.DONE), (S.DONE, S.INVALID), (S.DONE, S.DONE))) == {place: 1}
    assert blocks_over(_blocks((S.DONE, S.PLANNED), (S.DONE, S.DONE))) == {place: 0}
    given_up = _blocks((S.DONE, S.INVALID), (S.PLANNED, S.PLANNED))
    again = [
        dataclasses.replace(given_up[1], state=S.SUPERSEDED, attempt=n, order=90 + n, invalid_because=("errors",))
        for n in range(MOST_RERUNS)
    ]
    assert blocks_over(given_up + again) == {place: 1}


def test_an_arm_that_is_decided_leaves_its_blocks_to_the_others() -> None:
    trials = [*_blocks((S.PLANNED, S.SPARED)), _trial(3, 1, "c", S.PLANNED)]
    assert [trial.arm for trial in next_block(trials) or ()] == ["a", "c"]
    assert _next(_blocks((S.SPARED, S.SPARED))) is None


def test_a_block_is_not_run_again_for_an_arm_that_is_decided() -> None:
    broken = [*_blocks((S.DONE, S.INVALID)), _trial(3, 1, "c", S.DONE)]
    b, c = arm_of(broken[1]), arm_of(broken[2])
    assert _next(broken) == 1
    assert next_block(broken, {b}) is None
    assert blocks_over(broken, {b}) == {b[:2]: 1}
    assert {trial.arm for trial in next_block(broken, {c}) or ()} == {"a", "b", "c"}
    again = rerun_of(broken, 3, {c})
    assert [trial.state for trial in again] == [S.PLANNED, S.PLANNED, S.SPARED]
    stored = [dataclasses.replace(trial, state=S.SUPERSEDED) for trial in broken] + again
    assert next_block(stored, {c}) == again[:2]


@given(st.integers(0, 10**6))
def test_a_crash_at_any_trial_leaves_the_same_schedule_and_a_block_that_is_made_anew_whole(seed: int) -> None:
    """All trials up to the cut are done; the one at the cut was under way."""
    plan = checked(simple('"vm.swappiness" = [60, 1, 10]'))
    planned = list(schedule(plan, "e", 2))
    cut = random.Random(seed).randrange(len(planned))
    under_way = random.Random(seed).choice([S.APPLYING, S.SETTLING, S.MEASURING])
    states = [S.DONE] * cut + [under_way] + [S.PLANNED] * (len(planned) - cut - 1)
    stored = [dataclasses.replace(trial, state=state) for trial, state in zip(planned, states, strict=True)]
    following = []
    while (block := next_block(stored)) is not None:
        made = rerun_of(block, stored[-1].order) or block
        old = {trial.order for trial in block} if made is not block else set()
        stored = [dataclasses.replace(t, state=S.SUPERSEDED) if t.order in old else t for t in stored]
        stored = [t for t in stored if t not in made] + [dataclasses.replace(t, state=S.DONE) for t in made]
        stored.sort(key=lambda trial: trial.order)
        following += [(trial.block, trial.arm, trial.settings) for trial in made]
    first = planned[cut].block
    assert following == [(trial.block, trial.arm, trial.settings) for trial in planned if trial.block >= first]
