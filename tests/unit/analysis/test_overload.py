"""Offered and served rates of open loops."""

from dataclasses import replace

import numpy as np
import pytest
import trial_samples as samples

from paribus.analysis.diagnostics.overload import hidden_capacity, overloads
from paribus.analysis.paired.checks.check_context import Timeline
from paribus.analysis.paired.decision import next_look
from paribus.analysis.paired.effect_records import effects_of
from paribus.analysis.paired.effects import Pair, PairSeries, pair_series
from paribus.analysis.paired.finding import Question
from paribus.analysis.paired.questions import arrays
from paribus.model import Cell, Look, Tag, Verdict
from paribus.units import LoadLevel, LoadUnit


def _cells(arm: str, rate: int, **metrics: float) -> list[Cell]:
    return [
        Cell(
            factor="k",
            arm=arm,
            workload="w",
            load=LoadLevel(rate, LoadUnit.RATE_PER_S),
            metric=metric,
            mean=mean,
            low=None,
            high=None,
            trials=(1,),
        )
        for metric, mean in metrics.items()
    ]


def test_overload_is_reported_level_by_level() -> None:
    cells = [
        *_cells("a", 5000, offered_per_s=5001.2, throughput_per_s=3200.4, backlog_at_end=9000.0),
        *_cells("a", 4000, offered_per_s=4000.0, throughput_per_s=3199.6, backlog_at_end=4000.0),
        *_cells("b", 4000, offered_per_s=4000.0, throughput_per_s=3990.0, backlog_at_end=3.0),
    ]
    assert overloads(cells) == {
        ("k", "w", "a"): [
            "a: offered 4,000/s, achieved 3,200/s: overloaded",
            "a: offered 5,001/s, achieved 3,200/s: overloaded",
        ]
    }


@pytest.mark.parametrize(
    "metrics",
    [
        {"throughput_per_s": 10.0},  # a closed loop offers nothing
        {"offered_per_s": 10.0, "throughput_per_s": 9.0, "backlog_at_end": 0.0},  # the rest is under way
    ],
)
def test_served_load_is_not_reported(metrics: dict[str, float]) -> None:
    assert not overloads(_cells("a", 10, **metrics))


def _series(asked: int, capacity: float, unit: LoadUnit = LoadUnit.RATE_PER_S) -> PairSeries:
    """Equal arms that deliver what is asked for, or what they can, which varies by 1 %."""
    logs = np.random.default_rng(3).normal(np.log(capacity), 0.01, (40, 2))
    served = np.minimum(np.exp(logs), asked).tolist()
    pairs = [
        Pair(
            number,
            LoadLevel(asked, unit),
            baseline,
            compared,
            1,
            ((2 * number,), (2 * number + 1,)),
            0,
            served=(baseline / asked, compared / asked) if unit is LoadUnit.RATE_PER_S else (),
        )
        for number, (baseline, compared) in enumerate(served)
    ]
    return samples.series(pairs)


def test_each_trial_of_an_open_loop_tells_the_share_that_was_served() -> None:
    """Whatever response is judged, such as bytes or New-Orders."""
    trials = [samples.trial(n, "ab"[n % 2], LoadLevel(1000, LoadUnit.RATE_PER_S), block=1) for n in (0, 1)]
    values = {
        n: {"throughput_per_s": samples.measured(990.0 + n), "bytes_per_s": samples.measured(4.0, "bytes_per_s")}
        for n in (0, 1)
    }
    (series,) = pair_series(trials, values, {"w": "bytes_per_s"})
    assert series.pairs[0].served == (0.99, 0.991)
    assert hidden_capacity(series).startswith("2 of 2 trials")


def test_a_served_rate_hides_what_is_left() -> None:
    assert hidden_capacity(_series(1000, 1500)).startswith("80 of 80 trials delivered the rate")
    assert hidden_capacity(_series(1000, 990)).startswith("67 of 80 trials")
    assert hidden_capacity(_series(1000, 900)) == ""
    assert hidden_capacity(_series(1000, 1500, LoadUnit.OUTSTANDING)) == ""
    assert hidden_capacity(replace(_series(1000, 1500), response="response_p99_s")) == ""


def test_equivalence_below_a_served_rate_is_tagged() -> None:
    question = Question(margin=0.02, planned=40)
    series = _series(1000, 990)
    finding = next_look(arrays(series), question, over=True)
    last = Look(
        factor="k",
        arm="b",
        workload="w",
        response=series.response,
        number=1,
        pairs=40,
        alpha_spent=0.05,
        low=0.0,
        high=0.0,
        estimate=0.0,
        verdict=finding.verdict,
    )
    timeline = Timeline({}, {}, {})
    effect, *_ = effects_of(finding, question, series, last, (), timeline, finished=True)
    assert (effect.verdict, effect.tags) == (Verdict.EQUIVALENT, (Tag.CAPPED,))
    assert any("judge the response time too" in reason for reason in effect.reasons)
