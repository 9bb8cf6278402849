"""TPC-C of arms from the figures of their trials, and what a report says of it."""

import pytest
from trial_samples import measured, trial

from paribus.analysis.diagnostics.tpcc import tpcc_figures
from paribus.findings import ArmTpcc
from paribus.model import Measurement
from paribus.report.sections.tpcc import tpcc
from paribus.report.view.blocks import WordTable


def _trial(new_orders_per_s: float, stock_level_p90_s: float = 0.5) -> dict[str, Measurement]:
    values = {
        "new_orders_per_s": new_orders_per_s,
        "payments_per_s": new_orders_per_s,
        "stock_levels_per_s": 0.5 * new_orders_per_s,
        "deliveries_per_s": 0.0,
        "new_order_p90_s": 5.1,
        "payment_p90_s": 0.1,
        "stock_level_p90_s": stock_level_p90_s,
        "skipped_deliveries": 3.0,
        "lost_new_orders": 1000.0,
    }
    return {metric: measured(value, metric) for metric, value in values.items()}


def _tables(found: tuple[ArmTpcc, ...]) -> tuple[WordTable, ...]:
    class Inputs:
        def of(self, kind: type) -> tuple[ArmTpcc, ...]:
            return found if kind is ArmTpcc else ()

    return tuple(tpcc(Inputs()))  # type: ignore[arg-type]


def test_trials_are_the_unit_and_limits_are_those_of_the_specification() -> None:
    trials = [trial(1, "a"), trial(2, "a"), trial(3, "b"), trial(4, "other")]
    summaries = {1: _trial(10.0), 2: _trial(40.0), 3: _trial(10.0, 19.0), 4: {}}
    first, second = found = tpcc_figures(trials, summaries, 0.95)
    assert first.new_orders_per_minute.value == pytest.approx(60 * 20.0)
    assert first.new_orders_per_minute.low is not None
    assert (first.skipped, first.lost, first.trials, second.trials) == (6, None, (1, 2), (3,))
    assert {kind.kind: kind.share for kind in first.kinds} == pytest.approx(
        {"new_order": 0.4, "payment": 0.4, "stock_level": 0.2}
    )
    arms, kinds = _tables(found)
    assert arms.rows[0][2].startswith("1,200 [") and arms.rows[0][3:] == ("6", "2")
    assert [row[2:] for row in kinds.rows[3:]] == [
        ("New-Order", "40.0%", "5.1 s!", "5 s"),
        ("Payment", "40.0%", "100 ms", "5 s"),
        ("Stock-Level", "20.0%", "19 s", "20 s"),
    ]


def test_orders_lost_by_killed_servers_are_summed() -> None:
    outage = {"outage_s": measured(0.4, "outage_s")}
    summaries = {1: _trial(10.0) | outage, 2: _trial(10.0) | outage, 3: _trial(10.0)}
    arms, _ = _tables(tpcc_figures([trial(1, "a"), trial(2, "a"), trial(3, "b")], summaries, 0.95))
    assert "lost" in arms.head
    assert [row[4] for row in arms.rows] == ["2,000", "–"]
