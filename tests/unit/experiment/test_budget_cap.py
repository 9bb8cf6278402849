"""A budget ends an experiment: it leaves out rounds, or stops it before its verdicts."""

import dataclasses
import functools

import pytest
from plan_samples import FILEIO, checked, simple
from scripted import MACHINE, Bench, Silent, make_trials
from sqlalchemy.engine import Engine as Store

from paribus.experiment import block_hooks, walk
from paribus.experiment.budget_cap import needed_budget, needed_s
from paribus.model import Experiment, Trial, TrialState, machine_s
from paribus.plan.schedule.design import schedule_hash
from paribus.store import read, write

MARGIN = 'margin = "2%"'
HOUR_S = 3600.0
FOUR = """
"vm.swappiness" = [60, 1]
"vm.dirty" = ["20%", "10%"]
"block.rq_affinity" = [1, 2]
"block.read_ahead_kb" = [128, 0]
"""


def _begin(store: Store, protocol: str = "", factors: str = '"vm.swappiness" = [60, 1]') -> Experiment:
    plan = checked(simple(factors, FILEIO, f'[protocol]\nsettle = "10s"\nbudget = "10h"\n{MARGIN}\n{protocol}'))
    return walk.begin(plan, {}, MACHINE, {}, store)


def _bench(store: Store, takes_s: float) -> Bench:
    return Bench(store, lambda _trial: 0.0, noise=0.1, takes_s=takes_s)


def _notes(store: Store, begun: Experiment) -> list[str]:
    return [str(note) for note in read.find(store, begun.id).notes if "budget" in str(note)]


def _pairs(trials: list[Trial]) -> int:
    return sum(trial.baseline and trial.state is TrialState.DONE and bool(trial.factor) for trial in trials)


def _needed(store: Store, begun: Experiment) -> str:
    return needed_budget(read.plan(store, begun.id), read.trials(store, begun.id))


def test_trials_that_take_longer_than_planned_end_with_the_budget(store: Store) -> None:
    begun = _begin(store)
    bench = _bench(store, 10 * HOUR_S / 100)
    trials = make_trials(store, begun, bench)
    assert 100 <= len(bench.made) <= 110
    assert {trial.state for trial in trials} == {TrialState.DONE}
    after = read.find(store, begun.id)
    [note] = [note for note in _notes(store, begun) if "used up" in note]
    assert f"used up after {after.rounds} rounds" in note
    assert after.schedule_hash == schedule_hash(trials)
    assert not _needed(store, begun)


def test_a_round_that_would_take_much_longer_than_the_budget_is_cut_off(store: Store) -> None:
    """A round has sixteen trials of half an hour: the fewest pairs are made at the end of the budget."""
    begun = _begin(store)
    trials = make_trials(store, begun, _bench(store, 10 * HOUR_S / 33))
    assert _pairs(trials) == 17
    assert {trial.state for trial in trials} == {TrialState.DONE}


def test_the_fewest_pairs_are_made_where_a_tenth_more_is_enough(store: Store) -> None:
    trials = make_trials(store, _begin(store), _bench(store, 10 * HOUR_S / 30))
    assert _pairs(trials) == 16


@pytest.mark.parametrize("protocol", ["", "rounds = 5", 'rounds = 5\nmethod = "fixed"'])
@pytest.mark.parametrize("hours", [1.0, 4.0])
def test_an_experiment_stops_at_its_budget_and_goes_on_with_more(store: Store, protocol: str, hours: float) -> None:
    begun = _begin(store, protocol)
    bench = _bench(store, hours * HOUR_S)
    trials = make_trials(store, begun, bench)
    used_s = machine_s(trials)
    assert 10 <= used_s / HOUR_S < 10 + 2 * hours, "the block that is underway ends"
    assert [trial for trial in trials if trial.state is TrialState.PLANNED]
    assert any("used up before everything can be judged" in note for note in _notes(store, begun))
    needed = _needed(store, begun)
    fewest = 5 * 8 if protocol else 16
    assert 2 * fewest * hours * 60 * 0.9 <= float(needed.removesuffix("min")) <= 2 * fewest * hours * 60 * 1.3
    made = list(bench.made)
    assert make_trials(store, begun, bench) == trials, "the same budget is used up still"
    assert bench.made == made
    plan = read.plan(store, begun.id)
    protocol_after = dataclasses.replace(plan.protocol, budget_s=60 * float(needed.removesuffix("min")))
    write.set_plan(store, begun.id, dataclasses.replace(plan, protocol=protocol_after))
    trials = make_trials(store, begun, bench)
    assert _pairs(trials) >= fewest
    assert not [trial for trial in trials if trial.state is TrialState.PLANNED]


def test_a_screen_stops_at_the_budget(store: Store) -> None:
    begun = _begin(store, 'design = "screen"\ntrial = "10s"', FOUR)
    trials = make_trials(store, begun, _bench(store, 10 * HOUR_S / 20))
    assert 20 <= sum(trial.took_s > 0 for trial in trials) <= 26
    assert _needed(store, begun)


def test_a_pace_that_will_not_do_is_told_early(store: Store) -> None:
    begun = _begin(store)
    told: list[tuple[int, str]] = []
    bench = _bench(store, 10 * HOUR_S / 16)

    class Listening(Silent):
        def on_notes(self, notes: list[str]) -> None:
            told.extend((len(bench.made), str(note)) for note in notes)

    after_block = functools.partial(block_hooks.after_block, begun, store, Listening(), bench)
    walk._make_trials(read.trials(store, begun.id), store, bench, Listening(), lambda: False, after_block)  # type: ignore[arg-type]
    [early] = [made for made, note in told if note.startswith("trials take longer than planned")]
    [late] = [made for made, note in told if "used up before" in note]
    assert early < 8 < late == 16


def test_an_arm_that_was_given_up_needs_no_time(store: Store) -> None:
    begun = _begin(store, "rounds = 2", '"vm.swappiness" = [60, 1]\n"block.rq_affinity" = [1, 2]')
    bench = _bench(store, 10 * HOUR_S / 40)
    bench.refuses = lambda trial: trial.settings["vm.swappiness"] == 1
    trials = make_trials(store, begun, bench)
    assert {t.factor for t in trials if t.state is TrialState.DONE and not t.baseline} == {"block.rq_affinity"}
    assert any(trial.state is TrialState.PLANNED for trial in trials), "blocks of the refused arm are never run"
    assert needed_s(read.plan(store, begun.id), trials) == machine_s(trials)
    assert not [note for note in _notes(store, begun) if "used up before" in note]


def test_a_note_is_renewed_with_another_budget(store: Store) -> None:
    begun = _begin(store)
    bench = _bench(store, HOUR_S)
    make_trials(store, begun, bench)
    plan = read.plan(store, begun.id)
    write.set_plan(
        store, begun.id, dataclasses.replace(plan, protocol=dataclasses.replace(plan.protocol, budget_s=15 * HOUR_S))
    )
    make_trials(store, begun, bench)
    assert [note.split(" is used up")[0] for note in _notes(store, begun) if "is used up before" in note] == [
        "the budget of 10 h 00 min",
        "the budget of 15 h 00 min",
    ]


def test_two_rounds_of_a_matrix_are_made(store: Store) -> None:
    matrix = '[[workload]]\nkind = "iomatrix"\ntotal_size = "8MiB"\nfiles = 1\nthreads = [0, 1]\nlarge = [0, 1]\n'
    plan = checked(simple("", matrix, '[protocol]\nsettle = "10s"\nbudget = "10h"'))
    begun = walk.begin(plan, {}, MACHINE, {}, store)
    trials = make_trials(store, begun, _bench(store, 10 * HOUR_S / 3))
    assert [trial for trial in trials if trial.state is TrialState.PLANNED], "it stops, and can be resumed"
    assert _needed(store, begun)
