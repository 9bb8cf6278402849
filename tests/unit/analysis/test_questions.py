"""From the pairs of a comparison to the arrays that are judged."""

from dataclasses import replace

import numpy as np
import pytest
import trial_samples as samples

from paribus.analysis.paired.decision import next_look
from paribus.analysis.paired.effects import Pair, PairSeries
from paribus.analysis.paired.finding import Question
from paribus.analysis.paired.questions import arrays
from paribus.stats.pairs import CannotJudge, step_between


def _series(counts: list[int]) -> PairSeries:
    pairs = tuple(
        Pair(
            block=block,
            load=4,
            baseline=100.0,
            compared=100.0 + block,
            later=1,
            sides=((2 * block,), (2 * block + 1,)),
            count=n,
        )
        for block, n in enumerate(counts)
    )
    return samples.series(pairs)


@pytest.mark.parametrize(
    ("counts", "resolution"),
    [
        ([500] * 15 + [20], 1 / 500),  # one starved trial makes no response coarse
        ([20] * 12 + [500] * 4, 1 / 20),
        ([500] * 15 + [0], 0.0),  # unknown
    ],
)
def test_the_resolution_of_a_count_is_that_of_most_pairs(counts: list[int], resolution: float) -> None:
    pairs = arrays(_series(counts))
    assert pairs.resolution == pytest.approx(resolution)
    assert pairs.count == min(counts)


def _rounded(step: float, noise: float) -> PairSeries:
    """Pairs of trials that vary by `noise` and are reported in steps."""
    rng = np.random.default_rng(7)
    made = _series([0] * 32)
    values = np.exp(rng.normal(np.log(33), noise, (32, 2)))
    if step:
        values = np.round(values / step) * step
    pairs = [replace(pair, baseline=a, compared=b) for pair, (a, b) in zip(made.pairs, values.tolist(), strict=True)]
    return replace(made, pairs=tuple(pairs))


@pytest.mark.parametrize("noise", [0.01, 0.02, 0.05])
def test_a_response_in_coarse_steps_is_refused(noise: float) -> None:
    question = Question(margin=0.02, planned=32)
    with pytest.raises(CannotJudge, match="coarser than half the margin"):
        next_look(arrays(_rounded(1.0, noise)), question, over=True)  # 33, 34: steps of 3 %
    assert next_look(arrays(_rounded(0.01, noise)), question, over=True).verdict is not None
    assert arrays(_rounded(0.0, noise)).resolution == 0.0


def test_steps_are_seen_across_arms_where_each_arm_has_few_trials() -> None:
    rows = [(100.0, 103.0), (103.0, 103.0), (100.0, 100.0), (100.0, 103.0)]
    made = _series([0] * len(rows))
    pairs = [replace(pair, baseline=a, compared=b) for pair, (a, b) in zip(made.pairs, rows, strict=True)]
    assert arrays(replace(made, pairs=tuple(pairs))).resolution == pytest.approx(np.log(1.03))


def test_exact_trials_with_an_effect_or_a_stall_are_no_steps() -> None:
    made = _series([0] * 16)
    exact = [replace(pair, baseline=5000.0, compared=4850.0) for pair in made.pairs]
    assert arrays(replace(made, pairs=tuple(exact))).resolution == 0.0
    stalled = [replace(exact[0], baseline=4000.0), *exact[1:]]
    assert arrays(replace(made, pairs=tuple(stalled))).resolution == 0.0


def test_chance_ties_of_a_fine_response_are_no_steps() -> None:
    rng = np.random.default_rng(9)
    for _ in range(50):
        levels = np.round(np.exp(rng.normal(np.log(500), 0.02, (8, 2, 6)))).tolist()  # steps of 0.2 %
        assert step_between(levels) < 0.01
