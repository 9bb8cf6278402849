"""Magnitudes in prose against the table that they are about."""

import re
from collections.abc import Iterator, Mapping, Sequence
from math import prod

from paribus.findings import Breach
from paribus.i18n import N_, gettext
from paribus.plausibility.curve import Grid, Place
from paribus.plausibility.quantity import Claimed, Range
from paribus.plausibility.wording import sentence

PROSE = N_("percentages in prose")

_ABOUT = 4.0  # roundings
_RATES = ("throughput_per_s", "bytes_per_s", "queries_per_s", "normalised")

CHANGE = ":change"
"""Behind the name of a metric: how a level's is said to differ from the other level's, as a share."""

Ratios = Mapping[tuple[Place, Place], Range]


def percentages(claims: Sequence[Claimed], grids: Sequence[Grid]) -> list[Breach]:
    """A change in prose is that of the table, within the rounding of both; four roundings where it says "about".

    A mean may be that of ratios, arithmetic or geometric, or the ratio of means. What no table shows is not told.
    """
    return [breach for claim in claims if (breach := _tried(claim, grids))]


def changes(grid: Grid) -> Iterator[Breach]:
    """A change that stands beside two levels is that between them, whichever is compared with which."""
    if len(grid.settings) != 2:
        return
    for (setting, load), cell in grid.cells.items():
        other = grid.cells.get((next(one for one in grid.settings if one != setting), load))
        for name, figure in cell.figures.items():
            metric = name.removesuffix(CHANGE)
            here, there = cell.range(metric), other.range(metric) if other else None
            if metric == name or not here or not there or here.low <= 0 or there.low <= 0 or not figure.written:
                continue
            ratio = re.search("[x×X]", figure.stated)  # 1.51x, which has no sign to be lost
            half = 0.5 * 10.0 ** -len(figure.written.decimals) * (1.0 if ratio else 0.01)
            signs = (1,) if ratio else (1, -1)
            shares = [(one.low - 1, one.high - 1) for one in (here / there, there / here)]
            if any(low - half <= sign * figure.value <= high + half for low, high in shares for sign in signs):
                continue
            words = gettext(
                N_("the stated change of {stated} contradicts the figures of the two levels, which give {implied}"),
                stated=f"{figure.value * 100:+.4g} %",
                implied=f"{sum(shares[0]) * 50:+.3g} %",
            )
            yield Breach(
                law=PROSE,
                where=cell.where,
                cells=(grid.at[setting, load],),
                words=sentence(PROSE, words, cell.where),
                stated=figure.value,
                implied=sum(shares[0]) / 2,
                tolerance=half,
            )


def _tried(claim: Claimed, grids: Sequence[Grid]) -> Breach | None:
    tried = [(grid, ratios) for grid in grids if (ratios := dict(_ratios(claim, grid)))]
    if not tried:
        return None
    half = max(claim.percent.half("percent"), 1e-9) * (_ABOUT if claim.about else 1.0)
    low, high = 1 + (claim.percent.value - half) / 100, 1 + (claim.percent.value + half) / 100
    seen = [(grid, _seen(claim, ratios)) for grid, ratios in tried]
    if any(one.low <= high and low <= one.high for _, one in seen):
        return None
    grid, found = seen[0]
    middle = (found.low + found.high) / 2
    words = gettext(
        N_("the text states {stated} from {start} to {end}, but the table gives {implied}"),
        stated=f"{claim.percent.value:+.4g} %",
        start=claim.start,
        end=claim.end,
        implied=f"{(middle - 1) * 100:+.3g} %",
    )
    where = gettext(", ").join(dict.fromkeys((claim.where, grid.table)))
    return Breach(
        law=PROSE,
        where=where,
        cells=(),  # the prose is wrong, not they
        words=sentence(PROSE, words, where),
        stated=claim.percent.value / 100,
        implied=middle - 1,
        tolerance=half / 100,
    )


def _ratios(claim: Claimed, grid: Grid) -> Iterator[tuple[tuple[Place, Place], Range]]:
    """What the end of the claim is over its start, at each load level (or for each setting, of threads)."""
    for setting, load in grid.cells:
        levels = dict(setting)
        if claim.factor == "threads":
            if f"{load:g}" != claim.start:
                continue
            other: Place = (setting, float(claim.end))
        elif levels.get(claim.factor) == claim.start and claim.load in (None, load):
            other = (tuple(sorted((levels | {claim.factor: claim.end}).items())), load)
        else:
            continue
        start, end = grid.cells[setting, load], grid.cells.get(other)
        metric = next((one for one in _RATES if one in start.figures and end and one in end.figures), "")
        if not end or not metric or (claim.factor == "threads" and metric == "normalised"):
            continue
        before, after = start.range(metric), end.range(metric)
        if before and after and before.low > 0:
            yield ((setting, load), other), after / before


def _seen(claim: Claimed, ratios: Ratios) -> Range:
    """What the table shows of it."""
    lows, highs = [one.low for one in ratios.values()], [one.high for one in ratios.values()]
    n = len(lows)
    if claim.extent == "most":
        return Range(max(lows), max(highs))
    if claim.extent == "least":
        return Range(min(lows), min(highs))
    if claim.extent == "some":
        return Range(min(lows), max(highs))
    if claim.extent == "each":  # the one that it is least true of
        return max(ratios.values(), key=lambda one: abs((one.low + one.high) / 2 - 1 - claim.percent.value / 100))
    return Range(min(sum(lows) / n, prod(lows) ** (1 / n)), max(sum(highs) / n, prod(highs) ** (1 / n)))
