"""Changes of level: planted ones are found at their time with their size, and noise shows none."""

import math

import numpy as np
import pytest

from paribus.stats.change_points import change_points

COURSES = 300
SECONDS, AT, SIZE = 60, 20, math.log(0.7)


def _noise(generator: np.random.Generator, sd: float, correlation: float) -> np.ndarray:
    """Noise of a course; neighbours are correlated."""
    drawn = generator.normal(size=SECONDS) * sd
    for second in range(1, SECONDS):
        drawn[second] = correlation * drawn[second - 1] + math.sqrt(1 - correlation**2) * drawn[second]
    return drawn


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.5])
@pytest.mark.parametrize("sd", [0.01, 0.05])
def test_a_planted_step_is_found_and_noise_shows_none(sd: float, correlation: float) -> None:
    generator = np.random.default_rng(23)
    false = found = covered = 0
    errors: list[float] = []
    step = np.where(np.arange(SECONDS) >= AT, SIZE, 0.0)
    for _ in range(COURSES):
        false += bool(change_points(1000 * np.exp(_noise(generator, sd, correlation))))
        changes = change_points(1000 * np.exp(_noise(generator, sd, correlation) + step))
        near = [change for change in changes if abs(change.index - AT) <= 1]
        found += bool(near)
        covered += any(change.low <= SIZE <= change.high for change in near)
        errors += [abs(math.expm1(change.log_ratio - SIZE)) for change in near]
    assert false <= 0.07 * COURSES, "5 % at most, and two standard errors"
    assert found >= 0.99 * COURSES, "within a second"
    assert covered >= 0.87 * COURSES, "90 % at least, and two standard errors"
    if sd == 0.01:
        assert float(np.percentile(errors, 95)) < 0.03, "within 3 %"


def test_several_changes_need_no_number_of_them() -> None:
    course = [100.0, 101.0] * 10 + [40.0, 41.0] * 5 + [80.0, 79.0] * 10
    changes = change_points(course)
    assert [change.index for change in changes] == [20, 30]
    assert math.exp(changes[0].log_ratio) == pytest.approx(0.403, abs=0.01)
    assert math.exp(changes[1].log_ratio) == pytest.approx(1.963, abs=0.01)


def test_short_or_constant_series_have_no_changes() -> None:
    assert change_points([1.0, 9.0, 1.0]) == []
    assert change_points([0.0] * 20) == []
    assert change_points([5.0] * 20) == []


def test_a_stop_is_a_change() -> None:
    [stop, start] = change_points([500.0] * 10 + [0.0] * 5 + [500.0] * 10, least=1.0)
    assert (stop.index, start.index) == (10, 15)
    assert stop.log_ratio == pytest.approx(-math.log(500))
