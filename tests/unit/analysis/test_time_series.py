"""Shortening of a time series keeps its means."""

import dataclasses

import numpy as np
import pytest
from test_checks import _time_series
from test_judge import _experiment

from paribus.analysis.diagnostics.time_series import shortened


def test_a_short_series_stays_and_a_long_one_keeps_the_mean_of_each_third() -> None:
    trials, _ = _experiment(lambda _load: 0.0)
    series = next(iter(_time_series(trials).values()))
    assert shortened(series) is series
    points = tuple(np.random.default_rng(1).uniform(1, 2, 600))
    long = dataclasses.replace(series, points=points, step_s=1.0)
    shortened_series = shortened(long)
    assert (len(shortened_series.points), shortened_series.step_s) == (60, 10.0)
    for part in (slice(20), slice(-20, None)):
        assert np.mean(shortened_series.points[part]) == pytest.approx(
            np.mean(points[part.start and -200 : part.stop and 200])
        )
    odd = shortened(dataclasses.replace(long, points=points[: 601 - 24]))
    assert np.mean(odd.points[:-1]) == pytest.approx(np.mean(points[: 10 * (len(odd.points) - 1)]))
