"""Effects that differ between starts of a server."""

import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import trial_samples as samples
from experiments import Laboratory

from paribus.analysis.paired.decision import next_look
from paribus.analysis.paired.effects import Pair, PairSeries, pair_series
from paribus.analysis.paired.finding import EffectInterval, Pairs
from paribus.analysis.paired.questions import arrays
from paribus.analysis.paired.reasons import starts_text
from paribus.analysis.screening.screen_look import next_look_at_screen
from paribus.model import SERVER_STARTED
from paribus.stats.foldover import replicate
from paribus.units import LoadLevel

LAB = Laboratory()


def _series(starts: list[float]) -> PairSeries:
    pairs = tuple(
        Pair(number, LoadLevel(1), 100.0, 101.0 + number % 3, 1, ((2 * number,), (2 * number + 1,)), 0, start=start)
        for number, start in enumerate(starts)
    )
    return samples.series(pairs)


def test_starts_that_disagree_widen_the_interval() -> None:
    pairs = LAB.draw(np.random.default_rng(5), 0.0)
    start = np.arange(80) // 4
    differs = np.random.default_rng(6).normal(0, 0.03, 20)[start]
    disagreeing = replace(pairs, difference=pairs.difference + differs)
    plain, nested = (next_look(replace(disagreeing, start=s), LAB.question(), over=True) for s in (None, start))
    assert nested.interval.high - nested.interval.low > 1.3 * (plain.interval.high - plain.interval.low)
    assert nested.estimate == plain.estimate
    assert nested.scale > 1.2 * plain.scale  # so that more pairs are said to be needed
    assert (nested.error, nested.freedom) > (plain.error, 19) and nested.freedom == 19


def test_starts_never_narrow_the_interval() -> None:
    for seed in range(20):
        pairs = LAB.draw(np.random.default_rng(seed), 0.02).first(32)
        plain, nested = (
            next_look(replace(pairs, start=s), LAB.question(), over=True).interval for s in (None, np.arange(32) // 4)
        )
        assert nested.low <= plain.low and plain.high <= nested.high


@pytest.mark.parametrize(
    ("starts", "reason", "are_units"),
    [
        ([0.0] * 16, "", False),  # no server, or a start for each trial
        ([50.0] * 16, "measured within one start of the server", False),
        ([50.0, 51.0] * 8, "measured within one start of the server", False),  # stated to a second only
        ([50.0, 60.0, 70.0, 70.0] * 4, "measured within 3 starts of the server; the interval does not allow", False),
        ([50.0, 60.0, 70.0, 80.0] * 4, "the pairs span 4 starts of the server", True),
        ([0.0, 60.0, 70.0, 80.0] * 4, "the pairs span 4 starts of the server", True),  # one build did not record them
    ],
)
def test_a_verdict_states_the_starts_that_it_spans(starts: list[float], reason: str, are_units: bool) -> None:
    series = _series(starts)
    finding = next_look(arrays(series), LAB.question(), over=True)
    assert finding.spans_starts == are_units
    text = starts_text(series, allowed_for=finding.spans_starts)
    assert text.startswith(reason) and bool(text) == bool(reason)


def test_applications_do_not_allow_for_starts() -> None:
    series = _series([50.0, 60.0, 70.0, 80.0] * 4)
    assert starts_text(replace(series, split=True), allowed_for=False) == ""


def _half_widths(rng: np.random.Generator, judge: Callable[[Pairs], EffectInterval]) -> tuple[float, float]:
    """Half widths of an interval without and with the starts of pairs whose effect differs between these."""
    pairs, start = LAB.draw(rng, 0.0), np.arange(80) // 4
    disagreeing = replace(pairs, difference=pairs.difference + rng.normal(0, 0.05, 20)[start])
    plain, nested = (judge(replace(disagreeing, start=at)) for at in (None, start))
    return (plain.high - plain.low) / 2, (nested.high - nested.low) / 2


def test_open_ended_looks_allow_for_starts() -> None:
    question = replace(LAB.question(), method="open-ended")
    plain, nested = _half_widths(np.random.default_rng(5), lambda pairs: next_look(pairs, question).interval)
    assert nested > 1.3 * plain


def test_a_load_level_with_several_pairs_of_a_start_allows_for_starts() -> None:
    def of_first_level(pairs: Pairs) -> EffectInterval:
        return next_look(replace(pairs, level=np.arange(80) % 2), LAB.question(), over=True).levels[0].interval

    plain, nested = _half_widths(np.random.default_rng(5), of_first_level)
    assert nested > 1.1 * plain


def test_a_screen_allows_for_starts() -> None:
    rng = np.random.default_rng(5)
    settings = np.array([row for n in range(3) for row in replicate(3, random.Random(n))][:80], dtype=float)
    for number, differs in ((0, True), (1, False)):  # only the first factor's effect differs between starts

        def of_factor(pairs: Pairs, number: int = number) -> EffectInterval:
            difference = settings[:, 0] * pairs.difference
            found = next_look_at_screen(replace(pairs, difference=difference), settings, LAB.question(), over=True)
            assert found.factors[number].spans_starts == (pairs.start is not None)
            return found.factors[number].interval

        plain, nested = _half_widths(rng, of_factor)
        assert nested > 1.3 * plain if differs else nested < 1.3 * plain


def test_the_start_of_a_pair_is_that_of_all_its_trials() -> None:
    trials = [samples.trial(n + 1, "ab"[n % 2], block=n // 2, position=n % 2 + 1) for n in range(6)]
    at = {1: 10.0, 2: 11.0, 3: 10.0, 4: 20.0, 5: None, 6: None}
    measured = {
        order: {"throughput_per_s": samples.measured(100.0)}
        | ({SERVER_STARTED: samples.measured(start, SERVER_STARTED)} if start else {})
        for order, start in at.items()
    }
    (series,) = pair_series(trials, measured, {"w": "throughput_per_s"})
    assert [pair.start for pair in series.pairs] == [10.0, 0.0, 0.0]
