"""The first pairs of a comparison decide how many rounds it has."""

import re

import numpy as np
import pytest
from plan_samples import FILEIO, checked, simple
from scripted import MACHINE, Bench, make_trials
from sqlalchemy.engine import Engine as Store

from paribus.experiment import walk
from paribus.model import Experiment, Purpose, Trial
from paribus.plan.schedule.budget import rounds_that_show
from paribus.plan.schedule.comparisons import comparisons
from paribus.plan.schedule.design import schedule_hash
from paribus.stats.planner import pairs_that_show_stalls, smallest_margin
from paribus.store import read

MARGIN = 'margin = "2%"'
TWO = '"vm.swappiness" = [60, 1]\n"block.rq_affinity" = [1, 2]'


def _begin(store: Store, protocol: str = "", factors: str = '"vm.swappiness" = [60, 1]', rest: str = "") -> Experiment:
    budget = "" if "budget" in protocol else 'budget = "48h"\n'
    plan = checked(simple(factors, FILEIO + rest, f'[protocol]\nsettle = "10s"\n{budget}{protocol}'))
    return walk.begin(plan, {}, MACHINE, {}, store)


def _pairs_of(trials: list[Trial], factor: str) -> int:
    return sum((trial.factor, trial.baseline) == (factor, True) for trial in trials)


@pytest.mark.parametrize(("noise", "pairs"), [(0.005, range(32, 33)), (0.04, range(33, 128)), (0.2, range(128, 129))])
def test_a_noisy_machine_gets_more_rounds(store: Store, noise: float, pairs: range) -> None:
    """At the margin of 2 %, 1.5 (3.29 sd / margin)² pairs are worthwhile, at least 32 and at most 128."""
    begun = _begin(store, MARGIN)
    assert _pairs_of(read.trials(store, begun.id), "vm.swappiness") == 128
    trials = make_trials(store, begun, Bench(store, lambda _trial: 0.0, noise=noise))
    assert _pairs_of(trials, "vm.swappiness") in pairs
    assert not [trial for trial in trials if trial.purpose is Purpose.NOISE_FLOOR]
    changed = read.find(store, begun.id)
    assert changed.schedule_hash == schedule_hash(read.trials(store, begun.id))
    assert changed.rounds == max(trial.round for trial in trials)


def test_a_margin_out_of_reach_is_told_with_the_rounds_and_the_time_that_show_it(store: Store) -> None:
    begun = _begin(store, MARGIN)
    make_trials(store, begun, Bench(store, lambda _trial: 0.0, noise=0.1))
    [note] = [str(note) for note in read.find(store, begun.id).notes if str(note).startswith("noise under fileio")]
    number = r"(\d+) rounds"
    told = re.search(
        f"; {number} find an effect of .*, not within 2.0%, which needs {number} \\(.* h .* min\\), more than", note
    )
    assert told, note
    planned, needed = map(int, told.groups())
    assert needed > 2 * planned


@pytest.mark.parametrize("sd", [0.01, 0.1, 0.4])
def test_the_rounds_that_show_a_margin_are_the_fewest_that_reach_it(sd: float) -> None:
    plan = checked(simple('"vm.swappiness" = [60, 1]', FILEIO, f"[protocol]\n{MARGIN}"))
    [comparison] = comparisons(plan)
    margin = plan.protocol.margins["throughput_per_s"]
    rounds = rounds_that_show(comparison, plan, sd)
    reached = [smallest_margin(sd, number * comparison.blocks_per_round) for number in (rounds, rounds - 1)]
    assert reached[0] <= margin
    assert reached[1] > margin or rounds * comparison.blocks_per_round <= pairs_that_show_stalls(margin) + 8


def test_the_noise_of_the_other_arm_counts_too(store: Store) -> None:
    noisy = np.random.default_rng(4)
    begun = _begin(store, MARGIN)
    bench = Bench(store, lambda trial: 0.0 if trial.baseline else noisy.normal(0, 0.1), noise=0.005)
    trials = make_trials(store, begun, bench)
    assert _pairs_of(trials, "vm.swappiness") > 80


def test_a_workload_is_noted_once_and_each_comparison_has_rounds_of_its_own(store: Store) -> None:
    noisy = np.random.default_rng(4)
    begun = _begin(store, f'design = "one-at-a-time"\n{MARGIN}', TWO)

    def effect(trial: Trial) -> float:
        return noisy.normal(0, 0.1) if trial.arm == "2" else 0.0

    trials = make_trials(store, begun, Bench(store, effect, noise=0.005))
    assert _pairs_of(trials, "vm.swappiness") == 32
    assert _pairs_of(trials, "block.rq_affinity") > 80
    assert sum(str(note).startswith("noise under fileio") for note in read.find(store, begun.id).notes) == 1


def test_accompanying_trials_end_with_the_comparisons(store: Store) -> None:
    alone = '\n[[workload]]\nkind = "iomatrix"\ntotal_size = "64MiB"\nthreads = [0, 2]\n'
    scope = '[factor_scope]\n"vm.swappiness" = ["fileio"]\n'
    begun = _begin(store, factors='"vm.swappiness" = [60, 1, 10, 20, 30, 40]', rest=alone + scope)
    planned = read.trials(store, begun.id)
    assert {Purpose.PLACEBO, Purpose.MEASURE} <= {trial.purpose for trial in planned}
    trials = make_trials(store, begun, Bench(store, lambda _trial: 0.0))
    last = max(trial.round for trial in trials if trial.purpose is Purpose.COMPARE)
    assert max(trial.round for trial in trials) == last < max(trial.round for trial in planned)


@pytest.mark.parametrize("protocol", ["rounds = 6", 'method = "open-ended"'])
def test_a_stated_number_of_rounds_stays(store: Store, protocol: str) -> None:
    begun = _begin(store, protocol)
    assert read.plan(store, begun.id).protocol.open_rounds == ()
    assert read.find(store, begun.id).rounds in (6, 126)


def test_the_open_comparisons_are_stored_until_they_are_decided(store: Store) -> None:
    begun = _begin(store)
    assert read.plan(store, begun.id).protocol.open_rounds == (("vm.swappiness", "fileio"),)
    make_trials(store, begun, Bench(store, lambda _trial: 0.0))
    assert read.plan(store, begun.id).protocol.open_rounds == ()


def test_a_machine_with_much_noise_has_a_wider_margin_where_none_is_stated(store: Store) -> None:
    for margin, expected in (("", 0.03), ('margin = "1%"', 0.01)):
        begun = _begin(store, margin)
        make_trials(store, begun, Bench(store, lambda _trial: 0.0, noise=0.1))
        assert read.plan(store, begun.id).protocol.margins["throughput_per_s"] == pytest.approx(np.log1p(expected))
