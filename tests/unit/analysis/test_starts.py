"""Effects that differ between starts of a server."""

from dataclasses import replace

import numpy as np
import pytest
import trial_samples as samples
from experiments import Laboratory

from paribus.analysis.paired.decision import next_look
from paribus.analysis.paired.effects import Faults, Pair, PairSeries, pair_series
from paribus.analysis.paired.questions import arrays
from paribus.analysis.paired.starts import starts_text
from paribus.model import SERVER_STARTED, Purpose
from paribus.units import LoadLevel

LAB = Laboratory()


def _series(starts: list[float]) -> PairSeries:
    pairs = tuple(
        Pair(number, LoadLevel(1), 100.0, 101.0 + number % 3, 1, ((2 * number,), (2 * number + 1,)), 0, start=start)
        for number, start in enumerate(starts)
    )
    return PairSeries(
        purpose=Purpose.COMPARE,
        factor="k",
        workload="w",
        response="throughput_per_s",
        baseline="a",
        arm="b",
        planned=len(pairs),
        pairs=pairs,
        faults=Faults(),
        split=False,
    )


def test_starts_that_disagree_widen_the_interval() -> None:
    pairs = LAB.draw(np.random.default_rng(5), 0.0)
    start = np.arange(80) // 4
    differs = np.random.default_rng(6).normal(0, 0.03, 20)[start]
    disagreeing = replace(pairs, difference=pairs.difference + differs)
    plain, nested = (next_look(replace(disagreeing, start=s), LAB.question(), over=True) for s in (None, start))
    assert nested.interval.high - nested.interval.low > 1.3 * (plain.interval.high - plain.interval.low)
    assert nested.estimate == plain.estimate
    assert nested.scale > 1.2 * plain.scale  # so that more pairs are said to be needed


def test_starts_never_narrow_the_interval() -> None:
    for seed in range(20):
        pairs = LAB.draw(np.random.default_rng(seed), 0.02).first(32)
        plain, nested = (
            next_look(replace(pairs, start=s), LAB.question(), over=True).interval for s in (None, np.arange(32) // 4)
        )
        assert nested.low <= plain.low and plain.high <= nested.high


@pytest.mark.parametrize(
    ("starts", "said", "are_units"),
    [
        ([0.0] * 16, "", False),  # no server, or a start for each trial
        ([5.0] * 16, "measured within one start of the server", False),
        ([5.0, 6.0, 7.0, 7.0] * 4, "measured within 3 starts of the server, too few", False),
        ([5.0, 6.0, 7.0, 8.0] * 4, "the pairs span 4 starts of the server", True),
        ([0.0, 6.0, 7.0, 8.0, 9.0] * 4, "measured within 4 starts of the server, too few", False),
    ],
)
def test_a_verdict_states_the_starts_that_it_spans(starts: list[float], said: str, are_units: bool) -> None:
    series = _series(starts)
    assert starts_text(series).startswith(said) and bool(starts_text(series)) == bool(said)
    assert (arrays(series).start is not None) == are_units


def test_the_start_of_a_pair_is_that_of_all_its_trials() -> None:
    trials = [samples.trial(n + 1, "ab"[n % 2], block=n // 2, position=n % 2 + 1) for n in range(6)]
    at = {1: 10.0, 2: 10.0, 3: 10.0, 4: 20.0, 5: None, 6: None}
    measured = {
        order: {"throughput_per_s": samples.measured(100.0)}
        | ({SERVER_STARTED: samples.measured(start, SERVER_STARTED)} if start else {})
        for order, start in at.items()
    }
    (series,) = pair_series(trials, measured, {"w": "throughput_per_s"})
    assert [pair.start for pair in series.pairs] == [10.0, 0.0, 0.0]
