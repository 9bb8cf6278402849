"""The forest plot: the axis of effects with and without an interval."""

import math
from dataclasses import replace

from report_samples import typical

from paribus.report.charts.forest import forest

FIRST, *_ = typical().view().verdicts


def test_an_effect_without_interval_does_not_stretch_the_axis() -> None:
    known = replace(FIRST, estimate=2.0, low=-12.0, high=18.0)
    single = replace(FIRST, estimate=3.9, low=-100.0, high=math.inf)
    alone, both = forest([known]), forest([known, single])
    assert both.rows[0] == alone.rows[0]
    assert both.rows[1].interval is None
    assert alone.rows[0].estimate < both.rows[1].estimate < 100


def test_an_interval_with_one_end_reaches_as_far_as_is_drawn() -> None:
    row = replace(FIRST, estimate=2.0, low=-12.0, high=math.inf)
    (drawn,) = forest([row]).rows
    assert drawn.interval is not None
    assert drawn.interval[1] > 95
