"""Limits of checks in words: the bound that a figure is held against, and how clearly it was passed or failed."""

from paribus.i18n import gettext
from paribus.stats.diagnostics import Coefficient
from paribus.units import show_percent

_LEAST_SHOWN = 0.0001


def percentage(p: float) -> str:
    """Return a probability with two digits: `34 %`, `0.13 %`; the smallest as `under 0.01 %`."""
    if p < _LEAST_SHOWN:
        return gettext("under {p} %", p=f"{_LEAST_SHOWN * 100:g}")
    return f"{p * 100:.2g} %" if p < 0.995 else "100 %"


def size_limit(limit: float, change: Coefficient, alpha: float, *, stated: bool = True) -> str:
    """Return the limit of a change, a log ratio, that also must not be chance.

    Args:
        limit: The largest change that passes, a log ratio.
        change: The change that was found.
        alpha: The p value below which it is no chance.
        stated: Whether the finding states the change; else the limit does.
    """
    return sized_limit(
        show_percent(limit).lstrip("+"), "" if stated else show_percent(change.estimate), change.p, alpha
    )


def sized_limit(limit: str, value: str, p: float, alpha: float) -> str:
    """Return the same of a limit and a value in words; an empty value is left out."""
    bound = gettext("limit {limit} with p below {alpha}", limit=limit, alpha=percentage(alpha))
    observed = gettext("p is {p}", p=percentage(p))
    if value:
        observed = gettext("here {value}, {observed}", value=value, observed=observed)
    return gettext("; ").join((bound, observed))


def p_limit(p: float, alpha: float) -> str:
    """Return the limit of a check that only asks whether a difference may be chance."""
    return gettext("p is {p}, limit {alpha}", p=percentage(p), alpha=percentage(alpha))


def plain_limit(limit: str) -> str:
    """Return the limit of a figure that is held against a bound directly."""
    return gettext("limit {limit}", limit=limit)
