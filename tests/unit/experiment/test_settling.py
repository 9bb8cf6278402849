"""Settle times from long runs become part of the plan."""

import dataclasses
import math
import time
from collections.abc import Callable

import numpy as np
import pytest
from plan_samples import FILEIO, checked, simple
from sqlalchemy.engine import Engine as Store

from paribus.analysis.diagnostics.noise import fingerprint_digest, stack_of
from paribus.experiment import settling
from paribus.experiment.noise import plan_for_machine
from paribus.experiment.walk import begin
from paribus.model import Calibration, Experiment, Measurement, Plan, Purpose, Trial, TrialState
from paribus.plan.schedule.budget import cost_s
from paribus.plan.schedule.design import schedule_hash
from paribus.store import read, write

MACHINE = {"kernel": "k"}
PLAN = checked(simple('"vm.swappiness" = [60, 1]', FILEIO, '[protocol]\nbudget = "8h"'))
Course = Callable[[np.ndarray, Trial], np.ndarray]


def _plan(protocol: str, factors: str = '"vm.swappiness" = [60, 1]') -> Plan:
    return checked(simple(factors, FILEIO, f"[protocol]\n{protocol}"))


def _run(store: Store, course: Course, plan: Plan = PLAN) -> tuple[Experiment, Plan, list[Trial]]:
    """An experiment whose long runs had this course of log rates over time in seconds."""
    begun = begin(plan, {}, MACHINE, {}, store)
    plan = read.plan(store, begun.id)
    rng = np.random.default_rng(3)
    for trial in read.trials(store, begun.id):
        if trial.purpose is not Purpose.CALIBRATE:
            continue
        at = np.arange(600) + 0.5
        points = np.exp(9 + rng.normal(0, 0.01, 600)) * course(at, trial)
        done = dataclasses.replace(trial, state=TrialState.DONE, started=1.0, applied=1.0, ended=601.0)
        measured = Measurement(
            phase="measure",
            metric="throughput_per_s",
            unit="1/s",
            source="engine",
            n=600,
            mean=float(points.mean()),
            low=0.0,
            high=0.0,
            total=float(points.sum()),
            start_s=0.0,
            step_s=1.0,
            points=tuple(points.tolist()),
        )
        write.save_trial(store, done, (), [measured])
    return begun, plan, read.trials(store, begun.id)


def test_the_slowest_run_sets_the_time_for_all(store: Store) -> None:
    def course(at: np.ndarray, trial: Trial) -> np.ndarray:
        tau = 30 if trial.arm and trial.load.n == 4 else 5
        return np.exp(-0.3 * np.exp(-at / tau))

    begun, plan, trials = _run(store, course)
    assert settling.should_learn(plan, trials)
    note = settling.learn(plan, begun, store, trials)
    followed = read.plan(store, begun.id).protocol
    # tau ln(depth tau / (trial margin / 10)) = 30 ln(0.3 x 30 / (60 x 0.00198)) = 130 s
    assert followed.settle_s == pytest.approx(130, rel=0.1)
    assert followed.takeoff_s == followed.settle_s
    assert followed.toggle_s > plan.protocol.toggle_s
    assert "settling of vm.swappiness = 1 under fileio at 4 threads" in note
    remaining = read.trials(store, begun.id)
    assert 2 <= max(trial.round for trial in remaining) < max(trial.round for trial in trials)
    assert read.find(store, "last").schedule_hash == schedule_hash(remaining)
    assert not settling.should_learn(read.plan(store, begun.id), remaining)


def test_a_load_that_needs_no_time_gets_little_and_the_next_experiment_knows(store: Store) -> None:
    begun, plan, trials = _run(store, lambda at, _trial: np.ones(len(at)))
    settling.learn(plan, begun, store, trials)
    assert read.plan(store, begun.id).protocol.settle_s == 5.0
    again, _ = plan_for_machine(store, PLAN, MACHINE)
    assert (again.protocol.settle_s, again.protocol.settled, again.protocol.settle_runs) == (5.0, "calibrated", 0)
    estimated = dataclasses.replace(PLAN, protocol=dataclasses.replace(PLAN.protocol, apply_s={"layout": 40.0}))
    assert plan_for_machine(store, estimated, MACHINE)[0].protocol.apply_s["layout"] == 40.0  # until it is measured
    elsewhere, _ = plan_for_machine(store, PLAN, {"kernel": "other"})
    assert elsewhere.protocol.settled == "usual"
    margins = PLAN.protocol.margins | {"of_a_later_version_s": 0.1}
    newer = dataclasses.replace(PLAN, protocol=dataclasses.replace(PLAN.protocol, margins=margins))
    assert plan_for_machine(store, newer, MACHINE)[0].protocol.settled == "calibrated"
    longer = dataclasses.replace(PLAN, protocol=dataclasses.replace(PLAN.protocol, trial_s=30.0))
    assert plan_for_machine(store, longer, MACHINE)[0].protocol.settled == "usual"


def test_a_load_that_stood_still_at_first_is_given_that_time(store: Store) -> None:
    begun, plan, trials = _run(store, lambda at, _trial: np.where(at < 40, 0.0, 1.0))
    settling.learn(plan, begun, store, trials)
    assert 40 <= read.plan(store, begun.id).protocol.settle_s <= 120


def test_a_change_in_the_middle_of_a_run_is_no_settling(store: Store) -> None:
    """An exponential that has not come to its end within the run fits a step as well."""
    begun, plan, trials = _run(store, lambda at, trial: np.where((at > 300) & (trial.arm == "1"), 0.97, 1.0))
    settling.learn(plan, begun, store, trials)
    assert read.plan(store, begun.id).protocol.settle_s == 5.0


def test_the_budget_is_kept_whatever_the_load_would_need(store: Store) -> None:
    def slowly(at: np.ndarray, _trial: Trial) -> np.ndarray:
        return np.exp(-0.5 * np.exp(-at / 90))

    begun, plan, trials = _run(store, slowly, _plan('budget = "3h"'))
    note = settling.learn(plan, begun, store, trials)
    followed, remaining = read.plan(store, begun.id), read.trials(store, begun.id)
    assert "less than it needs" in note
    assert followed.protocol.settle_s <= 30
    assert cost_s(followed, remaining) <= followed.protocol.budget_s


def test_another_margin_or_factor_or_an_experiment_that_only_took_over_is_no_source(store: Store) -> None:
    begun, plan, trials = _run(store, lambda at, _trial: np.ones(len(at)))
    settling.learn(plan, begun, store, trials)
    assert plan_for_machine(store, PLAN, MACHINE)[0].protocol.settled == "calibrated"
    for other in (_plan('budget = "8h"\nmargin = "0.5%"'), _plan('budget = "8h"', '"vm.dirty" = ["20%", "10%"]')):
        assert plan_for_machine(store, other, MACHINE)[0].protocol.settled == "usual"
    taken_over = begin(PLAN, {}, MACHINE, {}, store)
    assert read.plan(store, taken_over.id).protocol.settle_runs == 0
    assert not settling.should_learn(read.plan(store, taken_over.id), read.trials(store, taken_over.id))


def test_without_a_valid_run_the_usual_time_stays(store: Store) -> None:
    begun = begin(PLAN, {}, MACHINE, {}, store)
    trials = [
        dataclasses.replace(t, state=TrialState.FAILED) if t.purpose is Purpose.CALIBRATE else t
        for t in read.trials(store, begun.id)
    ]
    assert "do not show" in settling.learn(PLAN, begun, store, trials)
    assert not settling.should_learn(read.plan(store, begun.id), trials)
    assert math.isclose(read.plan(store, begun.id).protocol.settle_s, PLAN.protocol.settle_s)


@pytest.mark.parametrize(
    ("sds", "freedom", "weighted"), [((0.01, 0.03), 20, True), ((0.01, 0.012), 20, False), ((0.01, 0.03), 3, False)]
)
def test_load_levels_whose_noise_is_unlike_are_weighted_by_it(
    store: Store, sds: tuple[float, float], freedom: int, weighted: bool
) -> None:
    begin(PLAN, {}, MACHINE, {}, store)
    (workload,) = PLAN.workloads
    now = time.time()
    calibrations = [
        Calibration(
            host=fingerprint_digest(MACHINE),
            workload=stack_of(workload, PLAN.protocol),
            load=load,
            settle_s=30.0,
            pair_sd=sd,
            made=now,
            expires=now + 60,
            freedom=freedom,
        )
        for load, sd in zip(workload.levels, sds, strict=True)
    ]
    write.add_calibrations(store, calibrations)
    assert plan_for_machine(store, PLAN, MACHINE)[0].protocol.level_sd == ({"fileio": sds} if weighted else {})
