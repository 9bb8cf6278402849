"""Dots of pairs: their values, what is drawn of many, and outliers."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from report_samples import Bench, many, typical

from paribus.model import PairChange, Verdict
from paribus.report.charts import charts
from paribus.report.render import html
from paribus.report.sections.pair_changes import most_dots
from paribus.report.view.pair_models import PairChart
from paribus.units import LoadLevel


def _bench(*log_ratios: float) -> Bench:
    """One comparison whose pairs changed by these log ratios, in blocks from 3 on."""
    bench = Bench().compare("vm.swappiness", "60", {"10": (0.03, 0.01, Verdict.BETTER)}, loads=(8,))
    changes = tuple(
        PairChange(3 + number, LoadLevel(8), log_ratio, (2 * number + 1, 2 * number + 2))
        for number, log_ratio in enumerate(log_ratios)
    )
    bench.effects = [replace(effect, pair_changes=() if effect.load else changes) for effect in bench.effects]
    return bench


def _chart(bench: Bench) -> PairChart:
    (chart,) = bench.view().sections[0].pairs
    return chart


def test_a_dot_is_the_change_of_a_pair_in_percent_at_its_block() -> None:
    (panel,) = _chart(_bench(math.log(1.02), math.log(0.99))).panels
    assert [dot.block for dot in panel.dots] == [3, 4]
    assert [dot.value for dot in panel.dots] == pytest.approx([2.0, -1.0])
    assert panel.dots[0].load == "8 threads"
    assert panel.dots[1].trials == (3, 4)
    assert (panel.arm, panel.note, panel.decided) == ("10", "2 pairs", "better")
    assert (panel.low, panel.high) == pytest.approx((2.02, 4.08), abs=0.01)


def test_an_effect_without_pairs_has_no_chart() -> None:
    view = _bench().view()
    assert view.sections[0].pairs == ()
    assert not any("pairs" in key for key in charts.of_section(view.sections[0]))


def test_every_compared_arm_has_a_panel_of_its_own() -> None:
    section = typical().view().sections
    scheduler = next(each for each in section if each.factor == "block.scheduler")
    assert [panel.arm for panel in scheduler.pairs[0].panels] == ["none", "bfq"]
    spec = charts.of_section(scheduler)[scheduler.pairs[0].key]
    assert len(spec["vconcat"]) == 2


def test_of_many_pairs_every_nth_is_drawn_and_the_chart_says_so() -> None:
    (panel,) = _chart(_bench(*(0.01 for _ in range(9000)))).panels
    assert len(panel.dots) == 1000
    assert panel.note == "9,000 pairs; 1 in 9 is drawn"
    assert most_dots(many(20).effects) == 50
    assert most_dots(many(40).effects) == 40
    assert most_dots(()) > 0


def _rows(bench: Bench) -> list[dict[str, object]]:
    chart = _chart(bench)
    return list(charts.pair_chart(chart, 272)["vconcat"][0]["data"]["values"])


def test_a_far_outlier_is_a_triangle_at_the_edge_and_is_counted() -> None:
    ordinary = [0.01 * math.sin(number) for number in range(20)]
    bench = _bench(*ordinary, 3.0)
    rows = _rows(bench)
    assert ["far" in row for row in rows] == [False] * 20 + [True]
    assert rows[-1]["far"] == pytest.approx(math.expm1(3.0) * 100, rel=1e-4)
    assert rows[-1]["value"] == pytest.approx(math.expm1(0.04) * 100, abs=0.01)  # the upper end of the interval
    (panel,) = charts.pair_chart(_chart(bench), 272)["vconcat"]
    assert panel["title"]["subtitle"] == "21 pairs; triangles: 1 beyond the axis"


def test_the_axis_holds_the_margin_no_change_and_the_interval() -> None:
    (panel,) = charts.pair_chart(_chart(_bench(0.03, 0.03, 0.03, 0.03)), 272)["vconcat"]
    low, high = panel["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert low <= -1.9
    assert high >= 4.08


def test_an_interval_without_ends_is_drawn_as_the_line_alone(tmp_path: Path) -> None:
    bench = _bench(0.01, 0.02, 0.03)
    bench.effects = [replace(effect, low=-math.inf, high=math.inf) for effect in bench.effects]
    names = charts.write_pictures(bench.view(), tmp_path)
    drawn = (tmp_path / names["factor-1-pairs-1"]).read_text(encoding="utf-8")
    assert drawn.count('d="M2.3,0A2.3') == 3  # circles
    assert "NaN" not in drawn
    assert "block" in drawn


def test_the_page_holds_the_chart_in_the_fold_of_its_factor() -> None:
    page = html.render(typical().view())
    fold = page.split('id="factor-1"', 1)[1].split("</article>", 1)[0].split("<details", 1)[1]
    assert 'data-chart="factor-1-pairs-1"' in fold


def test_numbers_beyond_measure_are_no_numbers_of_the_chart() -> None:
    bench = _bench(*(0.01 * math.sin(number) for number in range(9)), 700.0, -900.0, math.inf)
    bench.effects = [replace(effect, low=-900.0, high=900.0) for effect in bench.effects]
    written = json.dumps(charts.pair_chart(_chart(bench), 272), allow_nan=False)
    assert written.count('"far": 1000000.0') == 2


def test_a_still_chart_has_common_attributes_of_its_dots_once() -> None:
    page = html.render(_bench(*(0.01 * number for number in range(20))).view())
    figure = page.split('data-chart="factor-1-pairs-1"', 1)[1].split("</figure>", 1)[0]
    assert figure.count('d="M2.3,0A2.3') == 20
    assert figure.count('stroke-width="1.1"') == 1
