"""The course of a response is shortened without moving its means."""

import dataclasses

import numpy as np
import pytest
from test_checks import _courses
from test_judge import _experiment

from paribus.analysis.diagnostics.time_series import shortened


def test_a_short_course_stays_and_a_long_one_keeps_the_mean_of_each_third() -> None:
    trials, _ = _experiment(lambda _load: 0.0)
    course = next(iter(_courses(trials).values()))
    assert shortened(course) is course
    points = tuple(np.random.default_rng(1).uniform(1, 2, 600))
    long = dataclasses.replace(course, points=points, step_s=1.0)
    found = shortened(long)
    assert (len(found.points), found.step_s) == (60, 10.0)
    for part in (slice(20), slice(-20, None)):
        assert np.mean(found.points[part]) == pytest.approx(np.mean(points[part.start and -200 : part.stop and 200]))
    odd = shortened(dataclasses.replace(long, points=points[: 601 - 24]))
    assert np.mean(odd.points[:-1]) == pytest.approx(np.mean(points[: 10 * (len(odd.points) - 1)]))
