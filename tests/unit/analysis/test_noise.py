"""Calibration of a machine's noise from an experiment."""

from test_judge import LOADS, PROTOCOL, _experiment, _workload

from paribus.analysis.diagnostics.noise import calibrations
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
