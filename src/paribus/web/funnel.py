"""The looks at one comparison as a picture: its interval after each, from the first above to the last below."""

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
    """One look: its number and pairs, the effect in words, and where its marks are in the picture."""

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

    `verdict` is empty while it goes on; `decided` is `better`, `worse` or empty in every language.
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
        """Of the picture."""
        return ROW * (len(self.steps) + 1)

    @property
    def label(self) -> str:
        """The picture in words."""
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
    """A funnel for each comparison that was looked at, in the order of the first looks; margins are log ratios."""
    found: dict[tuple[str, str, str, str, Purpose], list[Look]] = {}
    for look in looks:
        found.setdefault((look.factor, look.arm, look.workload, look.response, look.purpose), []).append(look)
    return tuple(_funnel(sorted(mine, key=lambda k: k.number), margins) for mine in found.values())


def _funnel(looks: Sequence[Look], margins: Mapping[str, float]) -> Funnel:
    last = looks[-1]
    known = RESPONSES.get(last.response)
    margin = margins.get(last.response, known.margin if known else _USUAL_MARGIN)
    low, high = numbers.percent_of(-margin), numbers.percent_of(margin)
    bounds = [abs(numbers.percent_of(value)) for look in looks for value in (look.low, look.high)]
    widest = max([2 * high, *(bound for bound in bounds if math.isfinite(bound))])
    limit = min(widest * 1.06, _MOST_MARGINS * high)

    def place(percent: float) -> float:
        return round((min(max(percent, -limit), limit) / limit + 1) * WIDTH / 2, 1)

    def step(row: int, look: Look) -> FunnelPoint:
        under, over, middle = (numbers.percent_of(value) for value in (look.low, look.high, look.estimate))
        text = numbers.effect(look.estimate, look.low, look.high)
        return FunnelPoint(
            number=look.number,
            pairs=look.pairs,
            effect=text.estimate,
            interval=text.interval,
            low=place(under),
            high=place(over),
            estimate=min(max(place(middle), _ARROW), WIDTH - _ARROW),  # beside the arrow of what lies beyond
            beyond=(under < -limit, over > limit),
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
        margin_low=place(low),
        margin_high=place(high),
        limit=f"{limit:.2g}",
        steps=tuple(step(row, look) for row, look in enumerate(looks)),
    )
