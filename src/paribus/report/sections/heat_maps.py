"""From the response times of trials to a heat map of each comparison.

In: the map of one factor under one workload. Out: HeatMap. Called by the view.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence

from paribus.findings import ResponseColumn, ResponseMap
from paribus.i18n import gettext
from paribus.report.view import numbers
from paribus.report.view.heat_map_models import SHADES, HeatLane, HeatMap
from paribus.units import show_time

_FEWEST_TICKS = 2
_FEWEST_COLUMNS, _MOST_COLUMNS = 8, 2000  # of an arm; in a page: under a megabyte


def most_columns(maps: Sequence[ResponseMap]) -> int:
    """Return how many trials of each arm a report draws: its share of what a page holds."""
    arms = sum(len(response_map.trials) for response_map in maps)
    return max(_FEWEST_COLUMNS, _MOST_COLUMNS // max(arms, 1))


def heat_map(response_map: ResponseMap | None, arms: Sequence[str], most: int) -> HeatMap | None:
    """Return the heat map of a comparison with at most so many trials of an arm; None where it has none."""
    if response_map is None:
        return None
    by_arm = {arm: _thinned([each for each in response_map.columns if each.arm == arm], most) for arm in arms}
    return HeatMap(
        title=gettext("response time of each trial at {load}", load=response_map.load),
        lanes=tuple(
            HeatLane(
                arm=arm,
                trials=_count(len(columns), response_map.trials[arm]),
                columns=tuple(tuple(map(_shade, column.shares)) for column in columns),
            )
            for arm, columns in by_arm.items()
            if columns
        ),
        ticks=_ticks(response_map.edges_s[0], response_map.edges_s[-1]),
    )


def _thinned(columns: Sequence[ResponseColumn], most: int) -> Sequence[ResponseColumn]:
    return columns[:: math.ceil(len(columns) / most) or 1]


def _count(drawn: int, trials: int) -> str:
    count = numbers.count(trials, "trial")
    return count if drawn == trials else gettext("{n} of {trials}", n=drawn, trials=count)


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
