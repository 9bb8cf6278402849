"""A whole experiment on a bench that is not there, so that faults can be written into it."""

import itertools
from collections import Counter

import numpy as np
import pytest
from plan_samples import FILEIO, checked, simple
from scripted import MACHINE, Bench, make_trials
from sqlalchemy.engine import Engine as Store

from paribus.errors import EngineError
from paribus.experiment import interim_analysis, walk
from paribus.experiment.evidence import analyse, evidence
from paribus.model import Effect, Experiment, Look, Purpose, Tag, Trial, TrialState, Verdict
from paribus.store import read

FOUR = """
"vm.swappiness" = [60, 1]
"vm.dirty" = ["20%", "10%"]
"block.rq_affinity" = [1, 2]
"block.read_ahead_kb" = [128, 0]
"""


def _begin(store: Store, factors: str = '"vm.swappiness" = [60, 1]', protocol: str = 'budget = "8h"') -> Experiment:
    plan = checked(simple(factors, FILEIO, f"[protocol]\n{protocol}"))
    return walk.begin(plan, {}, MACHINE, {}, store)


def _looks(store: Store, begun: Experiment) -> list[Look]:
    return read.looks(store, begun.id)


def test_reruns_get_new_trial_numbers(store: Store) -> None:
    """Reruns are numbered after all that was planned; of that, rounds then prove needless."""
    begun = _begin(store)
    again = Counter[int]()

    def spoils(trial: Trial) -> bool:
        again[trial.block] += 1
        return trial.purpose is not Purpose.CALIBRATE and trial.position == 1 and again[trial.block] == 1

    planned = len(read.trials(store, begun.id))
    trials = make_trials(store, begun, Bench(store, lambda _trial: 0.0, spoils))
    assert max(trial.order for trial in trials) > planned
    assert len(trials) < max(trial.order for trial in trials)
    (look,) = [look for look in _looks(store, begun) if look.verdict]
    assert look.verdict is Verdict.EQUIVALENT


def test_a_decided_arm_is_not_run_again_and_a_waiting_block_takes_no_looks(store: Store) -> None:
    """A trial of each second block is invalid once: the leading block that waits holds up the count of blocks."""
    begun = _begin(store, '"vm.swappiness" = [60, 1, 10]', 'settle = "10s"\nrounds = 6')
    again = Counter[int]()

    def spoils(trial: Trial) -> bool:
        again[trial.block] += trial.arm == "1"
        return (
            trial.purpose is Purpose.COMPARE and trial.arm == "1" and trial.block % 2 == 0 and again[trial.block] == 1
        )

    bench = Bench(store, lambda trial: 0.05 * (trial.arm == "10"), spoils)
    trials = make_trials(store, begun, bench)
    looks = [look for look in _looks(store, begun) if look.purpose is Purpose.COMPARE]
    decided = {look.arm: look.pairs for look in looks if look.verdict}
    assert set(decided) == {"1", "10"}
    for arm in decided:
        pairs = [look.pairs for look in looks if look.arm == arm]
        assert all(after - before >= 8 for before, after in itertools.pairwise(pairs)), pairs
    assert not [trial for trial in trials if trial.state is TrialState.PLANNED]
    after = {arm: max(t.started or 0 for t in trials if t.arm == arm) for arm in ("1", "10")}
    assert after["10"] < after["1"], "the arm with an effect is decided first, and spared from then on"


def test_calibrated_settle_time_is_used_now_and_in_the_next_experiment(store: Store) -> None:
    begun = _begin(store)
    assert read.plan(store, begun.id).protocol.settle_s == 30.0
    bench = Bench(store, lambda _trial: 0.0)
    trials = make_trials(store, begun, bench)
    assert bench.followed[-1] == read.plan(store, begun.id).protocol.settle_s == 5.0
    assert {t.purpose for t in trials} == {Purpose.CALIBRATE, Purpose.COMPARE}
    later = read.plan(store, _begin(store).id).protocol
    assert (later.settle_s, later.settled) == (5.0, "calibrated")


def test_a_screen_is_confirmed_within_the_same_experiment_once(store: Store) -> None:
    begun = _begin(store, FOUR, 'budget = "30h"')
    bench = Bench(store, lambda trial: 0.05 * (trial.settings["vm.dirty"] == "10%"))
    trials = make_trials(store, begun, bench)
    assert {t.factor for t in trials if t.purpose is Purpose.CONFIRM} == {"vm.dirty"}
    effects = {
        e.factor: e for e in analyse(evidence(store, begun.id), begun, store, finished=True).effects if e.load is None
    }
    assert {key: effect.verdict for key, effect in effects.items()} == {
        "vm.swappiness": Verdict.EQUIVALENT,
        "vm.dirty": Verdict.BETTER,
        "block.rq_affinity": Verdict.EQUIVALENT,
        "block.read_ahead_kb": Verdict.EQUIVALENT,
    }
    averaged = {key for key, effect in effects.items() if Tag.AVERAGE in effect.tags}
    assert averaged == set(effects) - {"vm.dirty"}
    before = len(bench.made)
    assert make_trials(store, begun, bench) == trials
    assert len(bench.made) == before


def _effects(store: Store, begun: Experiment) -> dict[str, Effect]:
    effects = analyse(evidence(store, begun.id), begun, store, finished=True).effects
    return {effect.arm: effect for effect in effects if effect.load is None}


def test_an_arm_that_is_always_refused_costs_the_others_nothing(store: Store) -> None:
    """The arm is given up in the runs that show settling, before anything is compared."""
    begun = _begin(store, '"vm.swappiness" = [60, 1, 10]', 'budget = "12h"')
    bench = Bench(store, lambda trial: 0.05 * (trial.arm == "10"), refuses=lambda trial: trial.arm == "1")
    make_trials(store, begun, bench)
    effects = _effects(store, begun)
    assert set(effects) == {"10"}
    assert effects["10"].verdict is Verdict.BETTER


def test_an_experiment_whose_baseline_is_refused_stops_at_once(store: Store) -> None:
    begun = _begin(store, '"vm.swappiness" = [60, 1, 10]', 'settle = "10s"\nrounds = 4')
    with pytest.raises(EngineError, match="the baseline cannot be set, so nothing can be compared: the machine"):
        make_trials(store, begun, Bench(store, lambda _trial: 0.0, refuses=lambda _trial: True))
    tried = [trial for trial in read.trials(store, begun.id) if trial.state is TrialState.FAILED]
    assert sum(trial.baseline for trial in tried) == 2
    assert len(tried) < 8


def test_a_setting_that_is_refused_once_takes_no_pairs_from_what_was_made(store: Store) -> None:
    begun = _begin(store, '"vm.swappiness" = [60, 1]', 'settle = "10s"\nrounds = 6')
    trials = read.trials(store, begun.id)
    refused = next(t.order for t in trials if t.round == 5 and t.baseline)
    noisy = np.random.default_rng(2)
    bench = Bench(store, lambda _trial: noisy.normal(0, 0.05), refuses=lambda trial: trial.order == refused)
    make_trials(store, begun, bench)
    looks = _looks(store, begun)
    assert [look.pairs for look in looks] == sorted(look.pairs for look in looks)
    (effect,) = _effects(store, begun).values()
    assert effect.pairs == 47


@pytest.mark.parametrize("cuts", [(1, 40, 100, 160), (5, 72, 150)], ids=str)
def test_an_experiment_that_is_cut_off_anywhere_goes_on_to_the_same_end(store: Store, cuts: tuple[int, ...]) -> None:
    class PowerCutError(Exception):
        pass

    begun, to_come = _begin(store, FOUR, 'budget = "30h"'), list(cuts)

    def effect(trial: Trial) -> float:
        return 0.05 * (trial.settings["vm.dirty"] == "10%")

    def cut_off(_trial: Trial) -> bool:
        if to_come and len(bench.made) == to_come[0]:
            to_come.pop(0)
            raise PowerCutError
        return False

    bench = Bench(store, effect, cut_off)
    for _ in cuts:
        with pytest.raises(PowerCutError):
            make_trials(store, begun, bench)
    trials = make_trials(store, begun, bench)
    counting = [t for t in trials if t.state not in (TrialState.SUPERSEDED, TrialState.SPARED)]
    assert {t.state for t in counting} == {TrialState.DONE}
    assert set(Counter((t.block, t.arm) for t in counting).values()) == {1}
    assert {t.factor for t in trials if t.purpose is Purpose.CONFIRM} == {"vm.dirty"}
    verdicts = {(look.factor, look.purpose): look.verdict for look in _looks(store, begun) if look.verdict}
    assert verdicts["vm.dirty", Purpose.CONFIRM] is Verdict.BETTER
    assert len(verdicts) == 5


def test_an_arm_that_cannot_act_costs_no_more_trials_after_its_reach_test(store: Store) -> None:
    """Direct I/O has no buffered reads: four passes over both load levels show it, and the other factor continues."""
    workload = '[[workload]]\nkind = "fileio"\ntotal_size = "1MiB"\nthreads = [1, 4]\ndirect = true\n'
    factors = '"block.read_ahead_kb" = [128, 0]\n"block.rq_affinity" = [1, 2]'
    plan = checked(simple(factors, workload, '[protocol]\nrounds = 8\nbudget = "9h"\ndesign = "one-at-a-time"'))
    begun = walk.begin(plan, {}, MACHINE, {}, store)
    trials = make_trials(store, begun, Bench(store, lambda _trial: 0.0, noise=0.02))
    decided = {look.factor: look for look in _looks(store, begun) if look.verdict}
    assert decided["block.read_ahead_kb"].verdict is Verdict.NO_EFFECT_POSSIBLE
    assert decided["block.read_ahead_kb"].pairs < 16
    made = Counter(trial.factor for trial in trials if trial.state is TrialState.DONE)
    assert made["block.read_ahead_kb"] == 2 * decided["block.read_ahead_kb"].pairs
    assert made["block.rq_affinity"] >= 32
    assert Counter(t.factor for t in trials if t.state is TrialState.SPARED)["block.read_ahead_kb"] > 32


def test_an_effect_in_spite_of_the_reach_test_is_reported_as_one(store: Store) -> None:
    workload = '[[workload]]\nkind = "fileio"\ntotal_size = "1MiB"\nthreads = [1, 4]\ndirect = true\n'
    plan = checked(simple('"block.read_ahead_kb" = [128, 0]', workload, "[protocol]\nrounds = 4"))
    begun = walk.begin(plan, {}, MACHINE, {}, store)
    make_trials(store, begun, Bench(store, lambda trial: 0.2 if trial.arm == "0" else 0.0))
    (look,) = [look for look in _looks(store, begun) if look.verdict]
    assert look.verdict is Verdict.BETTER


def test_an_experiment_that_ends_with_few_valid_pairs_still_has_its_reach_test(store: Store) -> None:
    """Most blocks are spoilt twice, so that no look is due; four pairs show that the setting cannot act."""
    workload = '[[workload]]\nkind = "fileio"\ntotal_size = "1MiB"\nthreads = [1]\ndirect = true\n'
    plan = checked(simple('"block.read_ahead_kb" = [128, 0]', workload, "[protocol]\nrounds = 2"))
    begun = walk.begin(plan, {}, MACHINE, {}, store)
    bench = Bench(store, lambda _trial: 0.0, lambda trial: trial.block % 3 != 0 and trial.purpose is Purpose.COMPARE)
    trials = make_trials(store, begun, bench)
    interim_analysis.take_due_looks(plan, begun, store, trials, over=True)
    (look,) = [look for look in _looks(store, begun) if look.verdict]
    assert look.verdict is Verdict.NO_EFFECT_POSSIBLE
    assert look.pairs < 16
