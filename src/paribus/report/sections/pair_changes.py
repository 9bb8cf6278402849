"""From the pairs of each judged effect to dots over the blocks.

In: the effects of one factor and workload, and their tables. Out: PairChart. Called by the view.
"""

import math
from collections.abc import Sequence

from paribus.i18n import gettext
from paribus.model import Effect, PairChange
from paribus.report.view import numbers
from paribus.report.view.pair_models import PairChart, PairDot, PairPanel
from paribus.report.view.view_models import EffectTable

_MOST_DOTS = 1000  # in a page: 150 kB, with their still pictures
_FEWEST_DOTS = 40  # of an arm


def most_dots(effects: Sequence[Effect]) -> int:
    """Return how many pairs of each arm a report draws: its share of what a page holds."""
    arms = sum(bool(effect.pair_changes) for effect in effects)
    return max(_FEWEST_DOTS, _MOST_DOTS // max(arms, 1))


def pair_charts(effects: Sequence[Effect], tables: Sequence[EffectTable], most: int) -> tuple[PairChart, ...]:
    """Return the chart of each response whose pairs are known; `most` is the number of dots of an arm."""
    charts = []
    for table in tables:
        of_response = [effect for effect in effects if effect.response == table.response and effect.pair_changes]
        if of_response:
            charts.append(
                PairChart(
                    key=table.key.replace("-effect-", "-pairs-"),
                    title=table.title,
                    baseline=table.baseline,
                    margin=table.margin,
                    margin_low=table.margin_low,
                    margin_high=table.margin_high,
                    panels=tuple(panel for effect in of_response if (panel := _panel(effect, table, most))),
                )
            )
    return tuple(chart for chart in charts if chart.panels)


def _panel(effect: Effect, table: EffectTable, most: int) -> PairPanel | None:
    whole = table.point(effect.arm, None)
    if whole is None or not math.isfinite(whole.estimate):
        return None
    nth = math.ceil(len(effect.pair_changes) / most)
    pairs = numbers.count(len(effect.pair_changes), "pair")
    return PairPanel(
        arm=effect.arm,
        estimate=whole.estimate,
        low=whole.low,
        high=whole.high,
        decided=whole.decided,
        note=pairs if nth == 1 else gettext("{pairs}; 1 in {nth} is drawn", pairs=pairs, nth=nth),
        dots=tuple(map(_dot, effect.pair_changes[::nth])),
    )


def _dot(pair: PairChange) -> PairDot:
    return PairDot(
        block=pair.block,
        value=numbers.percent_of(pair.log_ratio),
        load=str(pair.load),
        trials=tuple(sorted(pair.trials)),
    )
