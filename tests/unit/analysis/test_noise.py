"""Calibration of a machine's noise from an experiment, and differences of the baseline from itself."""

import dataclasses

from test_judge import LOADS, PROTOCOL, _experiment, _workload

from paribus.analysis.diagnostics.noise import baseline_difference, calibrations
from paribus.model import Purpose
from paribus.units import LoadLevel


def test_the_noise_is_kept_for_planning() -> None:
    trials, values = _experiment(lambda _load: 0.05, sd=0.02)
    noise = calibrations(trials, values, [_workload()], PROTOCOL, "db1", 0.0)
    assert [calibration.load for calibration in noise] == [LoadLevel(n) for n in LOADS]
    assert all(0.01 < calibration.pair_sd < 0.06 for calibration in noise)


def test_noise_is_known_from_two_pairs_at_each_of_many_load_levels() -> None:
    trials, values = _experiment(lambda _load: 0.0, sd=0.02, passes=2)
    noise = calibrations(trials, values, [_workload()], PROTOCOL, "db1", 0.0)
    assert [calibration.load for calibration in noise] == [LoadLevel(n) for n in LOADS]
    assert all(calibration.pair_sd > 0 for calibration in noise)


def test_the_largest_clear_difference_of_the_baseline_from_itself_counts_in_the_response_that_is_judged() -> None:
    trials, values = [], {}
    for number, (gain, sd) in enumerate(((0.01, 0.0005), (0.25, 0.02), (0.0, 0.02)), start=1):
        more, more_values = _experiment(lambda _load, gain=gain: gain, sd=sd)
        first = len(trials)
        trials += [
            dataclasses.replace(trial, order=trial.order + first, purpose=Purpose.PLACEBO, factor=f"placebo {number}")
            for trial in more
        ]
        values |= {order + first: figures for order, figures in more_values.items()}
    difference = baseline_difference(trials, values, "w", "throughput_per_s", Purpose.PLACEBO)
    assert difference is not None
    assert 0.2 < difference.size < 0.3
    assert difference.p < 0.01
    assert baseline_difference(trials, values, "w", "response_p99_s", Purpose.PLACEBO) is None
