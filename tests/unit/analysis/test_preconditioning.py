"""Preconditioning trials: excluded from effects, and reported with their results."""

import dataclasses

import trial_samples as samples
from test_judge import LOADS, PROTOCOL, _experiment, _judged, _workload

from paribus.analysis.diagnostics.noise import calibrations, stack_of
from paribus.analysis.diagnostics.preconditioning import preconditioned
from paribus.analysis.paired.effects import whole_blocks
from paribus.model import FailureClass, Measurement, Precondition, Purpose, Trial, TrialState, Workload

ASKED = Precondition(fills=2, round_s=60.0, most_rounds=25, window=5, most_spread=0.2, most_drift=0.1)
WORKLOAD = dataclasses.replace(_workload(), precondition=ASKED)
COURSE = (20_000.0, 12_000.0, 12_500.0, 12_400.0, 12_300.0, 12_300.0)


def _trial(order: int, state: TrialState = TrialState.DONE, **changes: object) -> Trial:
    first = {"round": 0, "block": 0, "factor": "", "baseline": True, "purpose": Purpose.PRECONDITION, "state": state}
    return samples.trial(order, **{"arm": "", "load": 16} | first | changes)


def _measured(**values: float) -> dict[str, Measurement]:
    return {name: samples.measured(v, name, points=COURSE) for name, v in values.items()}


def _summary(steady: float) -> dict[str, Measurement]:
    return _measured(throughput_per_s=13_583.0, steady_per_s=12_300.0, spread=0.04, drift=-0.01, steady=steady)


def _findings(trials: list[Trial], summaries: dict[int, dict[str, Measurement]], workload: Workload = WORKLOAD):  # type: ignore[no-untyped-def]
    courses = {order: measurements["throughput_per_s"] for order, measurements in summaries.items()}
    return preconditioned(trials, summaries, courses, [workload])


def test_they_enter_no_effect_cell_or_noise() -> None:
    trials, values = _experiment(lambda _load: 0.05)
    precondition_trials = [_trial(900), _trial(901, position=2, arm="k = b", baseline=False)]
    all_values = values | {trial.order: _summary(1.0) for trial in precondition_trials}
    for state in (TrialState.DONE, TrialState.FAILED, TrialState.INVALID):
        all_trials = [*trials, *(dataclasses.replace(trial, state=state) for trial in precondition_trials)]
        plain = _judged(trials, values)
        assert _judged(all_trials, all_values) == plain
        noise = (
            calibrations(t, v, [_workload()], PROTOCOL, "h", 0.0)
            for t, v in ((trials, values), (all_trials, all_values))
        )
        assert next(noise) == next(noise)
        assert len({cell.load.n for cell in plain.cells}) == len(LOADS)
    assert whole_blocks(precondition_trials) == {}


def test_noise_on_preconditioned_data_is_separate() -> None:
    assert stack_of(WORKLOAD, PROTOCOL) != stack_of(_workload(), PROTOCOL)


def test_the_result_is_read_from_the_measurements() -> None:
    (steady,) = _findings([_trial(1)], {1: _summary(1.0)})
    assert (steady.trial, steady.workload, steady.asked, steady.course) == (1, "w", ASKED, COURSE)
    assert (steady.average_per_s, steady.spread, steady.drift, steady.steady) == (12_300.0, 0.04, -0.01, True)
    (unsteady,) = _findings([_trial(1)], {1: _summary(0.0)})
    assert (unsteady.steady, unsteady.spread) == (False, 0.04)


def test_unfinished_preconditioning_has_a_reason() -> None:
    failed = _trial(1, TrialState.FAILED, failure=FailureClass.INTERRUPTED, failure_message="stopped")
    (result,) = _findings([failed], {})
    assert (result.state, result.reason, result.steady, result.course) == (TrialState.FAILED, "stopped", False, ())
    (planned,) = _findings([_trial(1, TrialState.PLANNED)], {})
    assert (planned.state, planned.average_per_s) == (TrialState.PLANNED, None)


def test_preconditioning_that_finished_before_an_interruption_counts() -> None:
    trials = [_trial(1, TrialState.SUPERSEDED), _trial(2, TrialState.SUPERSEDED), _trial(3, supersedes=2)]
    assert [result.trial for result in _findings(trials, {1: _summary(1.0), 3: _summary(0.0)})] == [1, 3]
