"""Throughput that many settings share at the highest loads: what was measured there is a limit, not the setting."""

from collections.abc import Mapping, Sequence
from statistics import median

from paribus.findings import Breach
from paribus.i18n import N_, gettext, ngettext
from paribus.plausibility.curve import Grid, Setting
from paribus.plausibility.quantity import heading
from paribus.plausibility.wording import sentence, shown, together

CEILING = N_("physical ceiling")

_BAND = 0.01
_TOP_LOADS = 3
_MOST_SETTINGS = 2 / 3
_OF_THE_BEST = 0.97

_LINKS: Sequence[tuple[float, float, str]] = (
    (110e6, 125e6, "1 Gb/s Ethernet"),
    (255e6, 300e6, "SATA 3 Gb/s"),
    (540e6, 600e6, "SATA / SAS 6 Gb/s"),
    (900e6, 1000e6, "PCIe 1.x ×4"),
    (1100e6, 1250e6, "SAS 12 Gb/s, 10 Gb/s Ethernet"),
    (1700e6, 2000e6, "PCIe 2.x ×4"),
    (3350e6, 4000e6, "PCIe 2.x ×8, PCIe 3.x ×4"),
    (6700e6, 7880e6, "PCIe 3.x ×8, PCIe 4.x ×4"),
)
"""What links carry, in bytes a second: from what is seen in practice up to the rate after line coding (8b/10b in SATA,
SAS and PCIe 1 and 2, 128b/130b from PCIe 3 on, frames in Ethernet), by their specifications."""


def pinned(grids: Sequence[Grid]) -> list[Breach]:
    """Two thirds of a table's levels, two at least, lie within 1 % of one value at their three highest loads.

    And that value is the best of them, within 3 %. Tables of one workload at one value are told together.
    """
    found: list[tuple[float, str, Grid, Mapping[Setting, float]]] = []
    for grid in grids:
        for metric in ("bytes_per_s", "throughput_per_s"):
            reached = _plateaus(grid, metric)
            if reached is not None:
                found.append((*reached[:1], metric, grid, reached[1]))
                break
    told: list[Breach] = []
    while found:
        value, metric, first, _ = found[0]
        mine = [one for one in found if one[1] == metric and _same(one[0], value) and _alike(one[2], first)]
        found = [one for one in found if one not in mine]
        told.append(_told(mine))
    return told


def _plateaus(grid: Grid, metric: str) -> tuple[float, dict[Setting, float]] | None:
    """The value that most levels end at, and from which load on each of them is there."""
    columns = {setting: column for setting in grid.settings if (column := grid.column(setting, metric))}
    tops = {s: list(c.values())[-_TOP_LOADS:] for s, c in columns.items() if len(c) > _TOP_LOADS}
    flat = {setting: median(top) for setting, top in tops.items() if max(top) <= min(top) * (1 + _BAND)}
    if len(flat) < 2:
        return None
    value = median(flat.values())
    band = [s for s in flat if all(abs(one / value - 1) <= _BAND / 2 for one in tops[s])]
    distinct = {tuple(columns[setting].values()) for setting in band}
    if len(distinct) < max(2, _MOST_SETTINGS * len(columns)):
        return None
    if max(max(columns[setting].values()) for setting in band) * _OF_THE_BEST > value:
        return None
    return value, {setting: _since(columns[setting], value) for setting in band}


def _since(column: Mapping[float, float], value: float) -> float:
    """The lowest load from which on a level is there."""
    since = max(column)
    for load in sorted(column, reverse=True):
        if abs(column[load] / value - 1) > _BAND:
            break
        since = load
    return since


def _same(one: float, other: float) -> bool:
    return abs(one / other - 1) <= _BAND / 2


def _alike(one: Grid, other: Grid) -> bool:
    return next(iter(one.cells.values())).workload == next(iter(other.cells.values())).workload


def _told(found: Sequence[tuple[float, str, Grid, Mapping[Setting, float]]]) -> Breach:
    value, metric = median(one[0] for one in found), found[0][1]
    settings = [(grid, setting) for _, _, grid, since in found for setting in since]
    since = max(load for *_, loads in found for load in loads.values())
    cells = [
        grid.at[setting, load]
        for _, _, grid, loads in found
        for setting, first in loads.items()
        for load in grid.column(setting, metric)
        if load >= first
    ]
    names = (", ".join(filter(None, (grid.table, heading(dict(setting))))) for grid, setting in settings)
    where = together(names)
    reached = ngettext(
        "{n} setting reaches {value} from {load:g} threads on, within {band:.0%}",
        "{n} settings reach {value} from {load:g} threads on, within {band:.0%}",
        len(settings),
        value=shown(metric, value),
        load=since,
        band=_BAND,
    )
    message = N_("{reached}: a limit was measured there, not the setting")
    words = gettext(message, reached=reached)
    near = [name for low, high, name in _LINKS if low <= value <= high] if metric == "bytes_per_s" else []
    if near:
        words += gettext(N_(" (near the capacity of {link})"), link=near[0])
    words = sentence(CEILING, words, where)
    return Breach(law=CEILING, where=where, cells=tuple(cells), words=words, stated=value, tolerance=_BAND, grave=False)
