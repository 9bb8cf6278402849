"""Noise trials show how long trials must be for a setting to act."""

import dataclasses

import pytest
from plan_samples import FILEIO, checked, simple
from sqlalchemy.engine import Engine as Store

from paribus.analysis.diagnostics.noise import calibrations
from paribus.experiment import trial_length
from paribus.experiment.walk import begin
from paribus.model import Measurement, Plan, Protocol, Purpose, TrialState
from paribus.plan.schedule.budget import extent, spent_s
from paribus.store import read, write

MACHINE = {"kernel": "k"}
DIRTY = '"vm.dirty" = ["20%", "10%"]'  # of 8 GiB: a trial must write 410 MiB
LARGE = FILEIO.replace("1MiB", "1GiB")
MIB = 2**20


def _plan(protocol: str = 'budget = "24h"', factors: str = DIRTY) -> Plan:
    return checked(simple(factors, LARGE, f"[protocol]\n{protocol}"))


def _learned(store: Store, plan: Plan, rate: float | None = 2.0 * MIB) -> tuple[Protocol, list[str], str]:
    """The protocol after noise trials that dirtied `rate` bytes per second, the notes, and the experiment."""
    experiment = begin(plan, {}, MACHINE, {}, store)
    for trial in read.trials(store, experiment.id):
        if trial.purpose is Purpose.NOISE_FLOOR:
            done = dataclasses.replace(trial, state=TrialState.DONE, started=1.0, applied=1.0, ended=61.0)
            measured = [Measurement.of_value("throughput_per_s", "1/s", 100.0 + trial.order % 3, "measure", "engine")]
            if rate is not None:
                measured.append(Measurement.of_value("memory_dirtied_bytes_per_s", "B/s", rate, "measure", "sample"))
            write.save_trial(store, done, (), measured)
    stored = read.plan(store, experiment.id)
    trials = read.trials(store, experiment.id)
    assert trial_length.should_learn(trials)
    notes = trial_length.learn(stored, experiment, store, trials)
    return read.plan(store, experiment.id).protocol, [str(note) for note in notes], experiment.id


def test_trials_become_as_long_as_the_setting_needs(store: Store) -> None:
    protocol, notes, experiment = _learned(store, _plan())
    assert protocol.trial_s == 226  # 409.6 MiB at 2 MiB/s, and a tenth
    assert protocol.noise_trial_s == 60
    assert notes[0] == (
        "each trial lasts 3 min 46 s instead of 1 min: under fileio a trial must write at least 410 MiB to show an "
        "effect of vm.dirty"
    )
    plan, trials = read.plan(store, experiment), read.trials(store, experiment)
    noise_trials = [trial for trial in trials if trial.purpose is Purpose.NOISE_FLOOR]
    assert spent_s(plan, noise_trials) < len(noise_trials) * 2 * 60  # charged by the length that they had
    assert spent_s(plan, [dataclasses.replace(trial, state=TrialState.DONE) for trial in trials]) <= 24 * 3600


def test_learning_again_after_a_crash_changes_nothing(store: Store) -> None:
    protocol, _, name = _learned(store, _plan())
    plan, trials = read.plan(store, name), read.trials(store, name)
    assert trial_length.learn(plan, read.find(store, name), store, trials) == []
    assert read.plan(store, name).protocol == protocol
    assert read.trials(store, name) == trials


def test_a_budget_that_cannot_hold_longer_trials_is_said(store: Store) -> None:
    protocol, notes, _ = _learned(store, _plan('budget = "4h"'), rate=0.1 * MIB)
    assert protocol.trial_s == 60 and protocol.noise_trial_s is None
    assert notes[0].startswith("under fileio a trial must write at least 410 MiB to show an effect of vm.dirty; trials")
    assert "need a budget of" in notes[0] and notes[0].endswith("raise it, or set protocol.trial")


@pytest.mark.parametrize("rate", [None, 0.0, 50.0 * MIB])
def test_trials_keep_their_length_where_nothing_says_that_they_are_too_short(store: Store, rate: float | None) -> None:
    protocol, notes, _ = _learned(store, _plan(), rate=rate)
    assert protocol.trial_s == 60 and protocol.noise_trial_s is None
    assert not [note for note in notes if "must write" in note]


def test_a_length_that_the_plan_states_stays(store: Store) -> None:
    experiment = begin(_plan('budget = "24h"\ntrial = "60s"'), {}, MACHINE, {}, store)
    assert not trial_length.should_learn(read.trials(store, experiment.id))


def test_a_known_noise_does_not_spare_the_trials_that_show_the_length() -> None:
    known = {"fileio": 0.01}
    assert extent(_plan(), known).noise_rounds > 0
    assert extent(_plan('budget = "24h"\ntrial = "60s"'), known).noise_rounds == 0
    assert extent(_plan(factors='"vm.swappiness" = [60, 1]'), known).noise_rounds == 0


def test_short_noise_trials_say_nothing_of_the_noise_of_long_ones(store: Store) -> None:
    _, _, name = _learned(store, _plan())
    plan, trials = read.plan(store, name), read.trials(store, name)
    summaries = read.summaries(store, name)
    assert calibrations(trials, summaries, plan.workloads, plan.protocol, "host", 0.0) == []
    same_length = dataclasses.replace(plan.protocol, noise_trial_s=None)
    assert calibrations(trials, summaries, plan.workloads, same_length, "host", 0.0)
