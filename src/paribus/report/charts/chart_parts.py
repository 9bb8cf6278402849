"""Parts of charts, as Vega-Lite has them: data, channels, axes, and layers that several have."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from paribus.i18n import gettext
from paribus.report.view import numbers

Spec = dict[str, Any]

DASHES = ([1, 0], [5, 3], [2, 2], [8, 3, 2, 3], [1, 3])
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down")
SIGNED = "datum.value === 0 ? '0' : format(datum.value, '+~f')"
KNOWN: Spec = {"filter": "isValid(datum.low)"}
"""Leaves the rows that have an interval."""

HINT: Spec = {"field": "hint", "type": "nominal"}
"""Tooltip of a point."""


def inline(rows: Sequence[Mapping[str, Any]]) -> Spec:
    """Rows as the data of a chart, to six digits."""
    return {"values": [{name: _short(value) for name, value in row.items()} for row in rows]}


def _short(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) else value


def hint(text: str, trials: Sequence[int]) -> str:
    """Return the tooltip of a point."""
    return gettext("{text} · trials {trials}", text=text, trials=numbers.few(trials))


def hint_expression(pattern: str, values: Mapping[str, str]) -> str:
    """A translated pattern as an expression of Vega: a text with each point would be most of the page.

    `values` are expressions by the names in the pattern.
    """
    pieces = re.split(r"{(\w+)}", pattern)
    return " + ".join(values[piece] if place % 2 else json.dumps(piece) for place, piece in enumerate(pieces))


def quantity(field: str, **properties: Any) -> Spec:
    """A channel of numbers."""
    return {"field": field, "type": "quantitative", **properties}


def name(field: str, **properties: Any) -> Spec:
    """A channel of names."""
    return {"field": field, "type": "nominal", **properties}


def value_axis(number_format: str, **properties: Any) -> Spec:
    """An axis of what was measured: a few figures beside thin lines."""
    return {"tickCount": 4, "domain": False, "ticks": False, "format": number_format, **properties}


def in_turn(names: Sequence[str], choices: Sequence[Any]) -> Spec:
    """A scale that gives each name the next of the choices."""
    return {"domain": list(names), "range": [choices[n % len(choices)] for n in range(len(names))]}


FROM_ZERO: Spec = {"zero": True, "nice": True}


def reach(rows: Sequence[Spec]) -> list[Spec]:
    """The layer of upright lines from the low to the high end of what is known; none where nothing is."""
    if not any("low" in row for row in rows):
        return []
    return [
        {
            "transform": [KNOWN],
            "mark": {"type": "rule", "strokeWidth": 1.2, "stroke": "var(--muted)"},
            "encoding": {"y": quantity("low", title=None), "y2": {"field": "high"}},
        }
    ]
