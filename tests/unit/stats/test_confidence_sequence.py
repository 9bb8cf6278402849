import math

import numpy as np
import pytest

from paribus.stats.confidence_sequence import half_width


@pytest.mark.parametrize("sd", [1e-6, 1.0, 1e6])
def test_sequence_holds_at_a_look_after_every_value(sd: float) -> None:
    drawn = np.random.default_rng(11).normal(0, sd, (2000, 200))
    n = np.arange(1, 201)
    means = drawn.cumsum(1) / n
    deviations = np.sqrt(np.maximum((drawn**2).cumsum(1) / n - means**2, 0))
    widths = np.array([half_width(int(k), 1.0, 0.05) for k in n])
    first = int(np.isfinite(widths).argmax())
    outside = np.abs(means[:, first:]) > deviations[:, first:] * widths[first:]
    assert outside.any(1).mean() <= 0.05


def test_one_value_excludes_nothing_and_more_exclude_more() -> None:
    widths = [half_width(n, 1.0, 0.05) for n in (1, 10, 30, 100, 1000)]
    assert widths[0] == math.inf
    assert widths[1:] == sorted(widths[1:], reverse=True)
