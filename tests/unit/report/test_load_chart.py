"""The curve over the load levels: which level is marked as the one to use."""

from dataclasses import replace
from typing import Any

from report_samples import typical

from paribus.findings import Estimate, Scaling
from paribus.report.charts import charts
from paribus.report.experiment_view import view


def _curves(*to_use: tuple[str, int]) -> dict[str, dict[str, Any]]:
    bench = typical().input()
    scalings = tuple(
        Scaling(
            factor="block.scheduler", workload="mixed", arm=arm, peak_at=128, peak_per_s=Estimate(1.0, None, None),
            knee=None, drive_at=load, drive_share=0.99, highest=128, law=None, trials=(),
        )
        for arm, load in to_use
    )  # fmt: skip
    shown = view(replace(bench, findings=(*bench.findings, *scalings)))
    section = next(each for each in shown.sections if each.factor == "block.scheduler")
    return {key.rpartition("-")[2]: spec for key, spec in charts.of_section(section).items()}


def test_level_to_use_is_filled_in_the_curve_of_throughput_alone() -> None:
    found = _curves(("none", 32), ("bfq", 128))
    assert found["throughput"]["title"]["subtitle"] == "filled: the load level to use"
    used = {(row["arm"], row["load"]) for row in found["throughput"]["data"]["values"] if "use" in row}
    assert used == {("none", 32)}, "of bfq more may pay: 128 is the highest"
    assert found["throughput"]["layer"][-1]["mark"]["filled"]
    assert "subtitle" not in found["p95"]["title"]


def test_curve_without_an_advised_level_has_no_filled_points() -> None:
    found = _curves()["throughput"]
    assert "subtitle" not in found["title"]
    assert not any(layer["mark"].get("filled") for layer in found["layer"])
