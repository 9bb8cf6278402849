"""Chart of the looks at one comparison: its interval at each look, from the first (top) to the last."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paribus.i18n import gettext
from paribus.model import RESPONSES, Look, Purpose, Verdict
from paribus.report.sections import verdicts
from paribus.report.view import numbers

WIDTH, ROW, _ARROW = 264.0, 9.0, 8.0
_MOST_MARGINS = 15  # what is wider leaves the picture
_USUAL_MARGIN = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class FunnelPoint:
    """A look: its number and pairs, the effect as text, and the positions of its marks in the chart."""

    number: int
    pairs: int
    effect: str
    interval: str
    low: float
    high: float
    estimate: float
    beyond: tuple[bool, bool]
    y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Funnel:
    """All looks at one arm under one workload by one response.

    `verdict` is empty while the comparison is undecided; `decided` is `better`, `worse` or empty in every language.
    """

    title: str
    workload: str
    response: str
    verdict: str
    decided: str
    margin: str
    margin_low: float
    margin_high: float
    limit: str
    steps: tuple[FunnelPoint, ...]

    @property
    def last(self) -> FunnelPoint:
        """The newest look."""
        return self.steps[-1]

    @property
    def height(self) -> float:
        """Height of the chart."""
        return ROW * (len(self.steps) + 1)

    @property
    def label(self) -> str:
        """Text alternative of the chart."""
        first, last = self.steps[0], self.steps[-1]
        if first is last:
            return gettext("interval at the first look {interval} %", interval=first.interval)
        return gettext(
            "interval at look {first} {before} %, at look {last} {now} %",
            first=first.number,
            before=first.interval,
            last=last.number,
            now=last.interval,
        )


def funnels(looks: Sequence[Look], margins: Mapping[str, float]) -> tuple[Funnel, ...]:
    """A chart for each comparison with looks, in the order of the first looks; `margins` are log ratios."""
    looks_by_comparison: dict[tuple[str, str, str, str, Purpose], list[Look]] = {}
    for look in (look for look in looks if look.purpose is not Purpose.SELECT):
        looks_by_comparison.setdefault((look.factor, look.arm, look.workload, look.response, look.purpose), []).append(
            look
        )
    return tuple(
        _funnel(sorted(comparison_looks, key=lambda look: look.number), margins)
        for comparison_looks in looks_by_comparison.values()
    )


def _funnel(looks: Sequence[Look], margins: Mapping[str, float]) -> Funnel:
    last = looks[-1]
    response = RESPONSES.get(last.response)
    margin = margins.get(last.response, response.margin if response else _USUAL_MARGIN)
    low, high = numbers.percent_of(-margin), numbers.percent_of(margin)
    bounds = [abs(numbers.percent_of(value)) for look in looks for value in (look.low, look.high)]
    widest = max([2 * high, *(bound for bound in bounds if math.isfinite(bound))])
    limit = min(widest * 1.06, _MOST_MARGINS * high)

    def x_of(percent: float) -> float:
        return round((min(max(percent, -limit), limit) / limit + 1) * WIDTH / 2, 1)

    def point(row: int, look: Look) -> FunnelPoint:
        low_percent, high_percent, estimate_percent = (
            numbers.percent_of(value) for value in (look.low, look.high, look.estimate)
        )
        text = numbers.effect(look.estimate, look.low, look.high)
        return FunnelPoint(
            number=look.number,
            pairs=look.pairs,
            effect=text.estimate,
            interval=text.interval,
            low=x_of(low_percent),
            high=x_of(high_percent),
            estimate=min(max(x_of(estimate_percent), _ARROW), WIDTH - _ARROW),  # beside the arrow of what lies beyond
            beyond=(low_percent < -limit, high_percent > limit),
            y=ROW * (row + 1),
        )

    verdict = last.verdict
    screened = gettext(", screened") if last.purpose is Purpose.SCREEN else ""
    return Funnel(
        title=f"{last.factor} = {last.arm}{screened}",
        workload=last.workload,
        response=verdicts.title(last.response),
        verdict=gettext(verdicts.WORDS[verdict]) if verdict else "",
        decided=str(verdict) if verdict in (Verdict.BETTER, Verdict.WORSE) else "",
        margin=numbers.margin(margin),
        margin_low=x_of(low),
        margin_high=x_of(high),
        limit=f"{limit:.2g}",
        steps=tuple(point(row, look) for row, look in enumerate(looks)),
    )
