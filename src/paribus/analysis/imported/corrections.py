"""Effects of imported runs beside what they are with the figures that the other ones imply.

A figure that contradicts all others of its run is not removed: its author may have known better. But an effect that
rests on it says what it would be without the contradiction.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from paribus.analysis.paired.effects import Summaries
from paribus.findings import Breach
from paribus.i18n import N_plural, ngettext
from paribus.model import Effect, Tag
from paribus.units import LoadLevel, show_percent

Implied = Mapping[tuple[int, str], float]
"""The value that the other figures imply, by trial and metric."""

_EQUAL = 1e-9
_AGREEING = 1.01  # laws that imply different values imply none
_MOST_ORDERS = 4
_CORRECTED = N_plural(
    "with the figure that the others imply in trial {orders}: {effect}",
    "with the figures that the others imply in trials {orders}: {effect}",
)

_Key = tuple[str, str, str, str, LoadLevel | None]


def implied_figures(breaches: Sequence[Breach], summaries: Summaries) -> dict[tuple[int, str], float]:
    """Return the implied values of the trials whose own figure contradicts the others."""
    implied: dict[tuple[int, str], list[float]] = defaultdict(list)
    for breach in breaches:
        if breach.grave and breach.stated is not None and breach.implied is not None and breach.implied > 0:
            for order in breach.cells:
                stated = summaries.get(order, {}).get(breach.metric)
                if stated is not None and math.isclose(stated.mean, breach.stated, rel_tol=_EQUAL):
                    implied[order, breach.metric].append(breach.implied)
    return {key: values[0] for key, values in implied.items() if max(values) <= min(values) * _AGREEING}


def corrected(summaries: Summaries, implied: Implied) -> Summaries:
    """Return the summaries with the implied values in place of the stated ones."""
    changed = {order: dict(metrics) for order, metrics in summaries.items()}
    for (order, metric), value in implied.items():
        changed[order][metric] = replace(changed[order][metric], mean=value)
    return changed


def marked(effects: Sequence[Effect], without: Sequence[Effect], implied: Implied) -> tuple[Effect, ...]:
    """Return the effects; those that rest on a contradicted figure say what they are `without` it."""
    others = {_key(effect): effect for effect in without}
    return tuple(_marked(effect, others.get(_key(effect)), implied) for effect in effects)


def _key(effect: Effect) -> _Key:
    return effect.factor, effect.workload, effect.arm, effect.response, effect.load


def _marked(effect: Effect, other: Effect | None, implied: Implied) -> Effect:
    orders = [order for order in effect.trials if (order, effect.response) in implied]
    if not orders or other is None:
        return effect
    tags = (*effect.tags, Tag.DOUBTFUL)
    if effect.load is not None:
        return replace(effect, tags=tags)
    ends = [show_percent(end).removesuffix(" %") for end in (other.low, other.high)]
    interval = f" [{', '.join(ends)}]" if math.isfinite(other.low) else ""
    listed = ", ".join(map(str, orders[:_MOST_ORDERS])) + (" …" if len(orders) > _MOST_ORDERS else "")
    reason = ngettext(*_CORRECTED, len(orders), orders=listed, effect=show_percent(other.estimate) + interval)
    return replace(effect, tags=tags, reasons=(*effect.reasons, reason))
