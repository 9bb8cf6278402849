"""Overload of open loops."""

import pytest

from paribus.analysis.diagnostics.overload import overloads
from paribus.model import Cell
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
