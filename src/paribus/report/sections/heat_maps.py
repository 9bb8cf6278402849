"""From the response times of trials to a heat map of each comparison.

In: the map of one factor under one workload. Out: HeatMap. Called by the view.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence

from paribus.findings import ResponseMap
from paribus.i18n import gettext
from paribus.report.view import numbers
from paribus.report.view.heat_map_models import SHADES, HeatLane, HeatMap
from paribus.units import show_time

_FEWEST_TICKS = 2


def heat_map(response_map: ResponseMap | None, arms: Sequence[str]) -> HeatMap | None:
    """Return the heat map of a comparison; None where it has none."""
    if response_map is None:
        return None
    by_arm = {arm: [column for column in response_map.columns if column.arm == arm] for arm in arms}
    return HeatMap(
        title=gettext("response time of each trial at {load}", load=response_map.load),
        lanes=tuple(
            HeatLane(
                arm=arm,
                trials=numbers.count(len(columns), "trial"),
                columns=tuple(tuple(map(_shade, column.shares)) for column in columns),
            )
            for arm, columns in by_arm.items()
            if columns
        ),
        ticks=_ticks(response_map.edges_s[0], response_map.edges_s[-1]),
    )


def _shade(share: float) -> int:
    return 1 + bisect_right(SHADES, share) if share > 0 else 0


def _ticks(low: float, high: float) -> tuple[tuple[float, str], ...]:
    """Return powers of ten on the axis, also twice and five times these where they are few."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1,), (1, 2, 5)):
        times = [step * 10.0**decade for decade in decades for step in steps]
        within = [time for time in times if low <= time <= high]
        if len(within) >= _FEWEST_TICKS:
            break
    within = within or [low, high]
    return tuple((math.log(time / low) / math.log(high / low), show_time(time)) for time in within)
