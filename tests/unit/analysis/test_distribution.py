"""Merged histograms of trials and their percentiles."""

import base64
import dataclasses

import numpy as np
import pytest
import trial_samples as samples
from hdrh.histogram import HdrHistogram

from paribus.analysis.diagnostics.distribution import distributions
from paribus.model import Trial, TrialState


def _trial(order: int, arm: str, block: int) -> Trial:
    return samples.trial(order, arm, 8, block=block, position=order % 2 + 1)


def _histogram(times_ns: np.ndarray, longest: int) -> bytes:
    histogram = HdrHistogram(1, longest, 3)
    for time in times_ns:
        histogram.record_value(int(time))
    return base64.b64decode(histogram.encode())


def test_percentiles_are_those_of_all_operations_together() -> None:
    rng = np.random.default_rng(1)
    times = [rng.lognormal(14, 0.5, size=4000) * scale for scale in (1, 20)]
    trials = [_trial(1, "a", 1), _trial(2, "b", 1), _trial(3, "a", 2), _trial(4, "b", 2)]
    histograms = {
        1: _histogram(times[0], 2**26), 3: _histogram(times[1], 2**32),
        2: _histogram(times[0], 2**26), 4: b"",
    }  # fmt: skip
    base, arm = distributions(trials, histograms)
    assert (base.arm, base.count, base.trials) == ("a", 8000, (1, 3))
    assert (arm.arm, arm.count, arm.trials) == ("b", 4000, (2,))
    together = np.sort(np.concatenate(times)) / 1e9
    for quantile, time in base.quantiles:
        expected = together[max(int(np.ceil(quantile * 8000)), 1) - 1]
        assert time == pytest.approx(expected, rel=0.002), quantile
    assert [quantile for quantile, _ in base.quantiles][-1] == pytest.approx(0.99975)


def test_unused_and_empty_histograms_are_left_out() -> None:
    trials = [_trial(1, "a", 1), dataclasses.replace(_trial(2, "b", 1), state=TrialState.FAILED), _trial(3, "a", 2)]
    histograms = {1: _histogram(np.array([5000]), 2**20), 3: _histogram(np.array([]), 2**20)}
    assert distributions(trials, histograms) == ()
