"""Percentages in prose, compared with the table that they describe and with each other."""

import re
from collections.abc import Iterator, Mapping, Sequence
from math import prod

from paribus.findings import Breach
from paribus.i18n import N_, gettext
from paribus.plausibility.curve import CellKey, Grid
from paribus.plausibility.quantity import Claimed, Range
from paribus.plausibility.wording import sentence

PROSE = N_("percentages in prose")
WHOLE = N_("reserved + usable = whole")

_SHARE = r"(?<![0-9.,–~≈-])(?<!about )(?<!around )(?P<{}>[0-9]{{1,2}}(?:[.,][0-9]{{1,3}})?) ?%"
_RESERVED = re.compile(
    _SHARE.format("share")
    + r" (?:\w+ ){0,2}?(?:reserved(?! (?:instance|capacity))|spare|unallocated|set aside|OP\b|over-?provision)",
    re.IGNORECASE,
)
_USABLE = re.compile(
    r"(?:only |leav(?:es?|ing) )?" + _SHARE.format("share") + r" (?:(?:is|are|remains?) )?(?:usable|left\b|available)"
    r"|(?:only|leav(?:es?|ing)) " + _SHARE.format("of_whole") + r" of (?:the )?(?:total|whole|space|capacity)",
    re.IGNORECASE,
)
_JOINED = re.compile(
    r"(?:[\s,:]|\b(?:as|for|and|so|with|the|OP|ed|ing|over-?provisioning)\b|(?:ed|ing)\b){0,12}", re.IGNORECASE
)
_PERCENT = re.compile(r"[0-9] ?%")
_CLAUSE = re.compile(r"[;。；]|\.(?=\s|$)")

_ABOUT = 4.0  # roundings
_RATES = ("throughput_per_s", "bytes_per_s", "queries_per_s", "normalised")

CHANGE = ":change"
"""Suffix of a metric: its stated change between two levels, as a share."""

Ratios = Mapping[tuple[CellKey, CellKey], Range]


def percentages(claims: Sequence[Claimed], grids: Sequence[Grid]) -> list[Breach]:
    """A change in prose equals that of the table, within the rounding of both; four times that for "about".

    A mean may be the arithmetic or geometric mean of ratios, or the ratio of means. Changes that no table shows are
    skipped.
    """
    return [breach for claim in claims if (breach := _contradiction(claim, grids))]


def wholes(statements: Mapping[str, str]) -> Iterator[Breach]:
    """Yield statements in which a reserved and a usable share of one whole do not add up, by the name of the claim.

    The reserved share may be of the whole, or of the usable part as vendors of SSDs state it.
    """
    for name, statement in statements.items():
        for clause in _CLAUSE.split(statement):
            reserved, usable = _RESERVED.search(clause), _USABLE.search(clause)
            if reserved is None or usable is None or not _JOINED.fullmatch(clause[reserved.end() : usable.start()]):
                continue
            if len(_PERCENT.findall(clause)) != len(("reserved", "usable")):
                continue
            if breach := _of_whole(name, reserved["share"], usable["share"] or usable["of_whole"]):
                yield breach


def _of_whole(name: str, reserved: str, usable: str) -> Breach | None:
    reserved, usable = reserved.replace(",", "."), usable.replace(",", ".")
    half = sum(0.5 * 10.0 ** -len(text.partition(".")[2]) for text in (reserved, usable))
    left, left_of_usable = 100 - float(reserved), 100 / (1 + float(reserved) / 100)
    if any(abs(float(usable) - share) <= half for share in (left, left_of_usable)):
        return None
    message = gettext(
        N_("{reserved} reserved leave {implied} of the whole, but the text states {stated}"),
        reserved=f"{reserved} %",
        implied=f"{left:.4g} %",
        stated=f"{usable} %",
    )
    return Breach(
        law=WHOLE,
        where=name,
        cells=(),
        words=sentence(WHOLE, message, name),
        stated=float(usable) / 100,
        implied=left / 100,
        tolerance=half / 100,
    )


def changes(grid: Grid) -> Iterator[Breach]:
    """A change stated next to two levels equals the change between them, in either direction."""
    if len(grid.settings) != 2:
        return
    for (setting, load), cell in grid.cells.items():
        other = grid.cells.get(
            (next(other_setting for other_setting in grid.settings if other_setting != setting), load)
        )
        for name, figure in cell.figures.items():
            metric = name.removesuffix(CHANGE)
            here, there = cell.range(metric), other.range(metric) if other else None
            if metric == name or not here or not there or here.low <= 0 or there.low <= 0 or not figure.written:
                continue
            ratio = re.search("[x×X]", figure.stated)  # 1.51x has no sign that could be lost
            half = 0.5 * 10.0 ** -len(figure.written.decimals) * (1.0 if ratio else 0.01)
            signs = (1,) if ratio else (1, -1)
            shares = [(ratio_range.low - 1, ratio_range.high - 1) for ratio_range in (here / there, there / here)]
            if any(low - half <= sign * figure.value <= high + half for low, high in shares for sign in signs):
                continue
            message = gettext(
                N_("the stated change of {stated} contradicts the figures of the two levels, which give {implied}"),
                stated=f"{figure.value * 100:+.4g} %",
                implied=f"{sum(shares[0]) * 50:+.3g} %",
            )
            yield Breach(
                law=PROSE,
                where=cell.where,
                cells=(grid.positions[setting, load],),
                words=sentence(PROSE, message, cell.where),
                stated=figure.value,
                implied=sum(shares[0]) / 2,
                tolerance=half,
            )


def _contradiction(claim: Claimed, grids: Sequence[Grid]) -> Breach | None:
    ratios_by_grid = [(grid, ratios) for grid in grids if (ratios := dict(_ratios(claim, grid)))]
    if not ratios_by_grid:
        return None
    half = max(claim.percent.half("percent"), 1e-9) * (_ABOUT if claim.about else 1.0)
    low, high = 1 + (claim.percent.value - half) / 100, 1 + (claim.percent.value + half) / 100
    ranges = [(grid, _table_range(claim, ratios)) for grid, ratios in ratios_by_grid]
    if any(table_range.low <= high and low <= table_range.high for _, table_range in ranges):
        return None
    grid, table_range = ranges[0]
    middle = (table_range.low + table_range.high) / 2
    message = gettext(
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
        cells=(),  # the prose is wrong, not the cells
        words=sentence(PROSE, message, where),
        stated=claim.percent.value / 100,
        implied=middle - 1,
        tolerance=half / 100,
    )


def _ratios(claim: Claimed, grid: Grid) -> Iterator[tuple[tuple[CellKey, CellKey], Range]]:
    """Yield the ratio of the claim's end to its start, per load level (per setting for threads)."""
    for setting, load in grid.cells:
        levels = dict(setting)
        if claim.factor == "threads":
            if f"{load:g}" != claim.start:
                continue
            end_place: CellKey = (setting, float(claim.end))
        elif levels.get(claim.factor) == claim.start and claim.load in (None, load):
            end_place = (tuple(sorted((levels | {claim.factor: claim.end}).items())), load)
        else:
            continue
        start, end = grid.cells[setting, load], grid.cells.get(end_place)
        metric = next((name for name in _RATES if name in start.figures and end and name in end.figures), "")
        if not end or not metric or (claim.factor == "threads" and metric == "normalised"):
            continue
        before, after = start.range(metric), end.range(metric)
        if before and after and before.low > 0:
            yield ((setting, load), end_place), after / before


def _table_range(claim: Claimed, ratios: Ratios) -> Range:
    """Return the range that the table gives for the claim."""
    lows, highs = [ratio.low for ratio in ratios.values()], [ratio.high for ratio in ratios.values()]
    n = len(lows)
    if claim.extent == "most":
        return Range(max(lows), max(highs))
    if claim.extent == "least":
        return Range(min(lows), min(highs))
    if claim.extent == "some":
        return Range(min(lows), max(highs))
    if claim.extent == "each":  # the level that fits the claim worst
        return max(ratios.values(), key=lambda ratio: abs((ratio.low + ratio.high) / 2 - 1 - claim.percent.value / 100))
    return Range(min(sum(lows) / n, prod(lows) ** (1 / n)), max(sum(highs) / n, prod(highs) ** (1 / n)))
