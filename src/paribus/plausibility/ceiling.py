"""Throughput limits shared by many settings at the highest loads, which hide the effect of the setting."""

from collections.abc import Mapping, Sequence
from statistics import median

from paribus.findings import Breach
from paribus.i18n import N_, gettext, ngettext
from paribus.plausibility.curve import Grid, Setting
from paribus.plausibility.quantity import heading
from paribus.plausibility.wording import format_figure, join_names, sentence

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
"""Capacity of links in bytes per second: from practical values to the rate after line coding (8b/10b in SATA,
SAS and PCIe 1 and 2, 128b/130b since PCIe 3, frames in Ethernet), by their specifications."""


def pinned(grids: Sequence[Grid]) -> list[Breach]:
    """At least two thirds of a table's levels, and two, lie within 1 % of one value at their three highest loads.

    The value is the best of them, within 3 %. Tables of one workload with the same value are reported together.
    """
    plateaus: list[tuple[float, str, Grid, Mapping[Setting, float]]] = []
    for grid in grids:
        for metric in ("bytes_per_s", "throughput_per_s"):
            levels = _plateaus(grid, metric)
            if levels is not None:
                plateaus.append((*levels[:1], metric, grid, levels[1]))
                break
    breaches: list[Breach] = []
    while plateaus:
        value, metric, first_grid, _ = plateaus[0]
        group = [
            plateau
            for plateau in plateaus
            if plateau[1] == metric and _same(plateau[0], value) and _same_workload(plateau[2], first_grid)
        ]
        plateaus = [plateau for plateau in plateaus if plateau not in group]
        breaches.append(_breach(group))
    return breaches


def _plateaus(grid: Grid, metric: str) -> tuple[float, dict[Setting, float]] | None:
    """Return the value at which most levels end, and for each level the load from which it holds."""
    columns = {setting: column for setting in grid.settings if (column := grid.column(setting, metric))}
    tops = {s: list(c.values())[-_TOP_LOADS:] for s, c in columns.items() if len(c) > _TOP_LOADS}
    flat = {setting: median(top) for setting, top in tops.items() if max(top) <= min(top) * (1 + _BAND)}
    if len(flat) < 2:
        return None
    value = median(flat.values())
    band = [s for s in flat if all(abs(figure / value - 1) <= _BAND / 2 for figure in tops[s])]
    distinct = {tuple(columns[setting].values()) for setting in band}
    if len(distinct) < max(2, _MOST_SETTINGS * len(columns)):
        return None
    if max(max(columns[setting].values()) for setting in band) * _OF_THE_BEST > value:
        return None
    return value, {setting: _since(columns[setting], value) for setting in band}


def _since(column: Mapping[float, float], value: float) -> float:
    """Return the lowest load from which a level stays at the value."""
    since = max(column)
    for load in sorted(column, reverse=True):
        if abs(column[load] / value - 1) > _BAND:
            break
        since = load
    return since


def _same(first: float, second: float) -> bool:
    return abs(first / second - 1) <= _BAND / 2


def _same_workload(first: Grid, second: Grid) -> bool:
    return next(iter(first.cells.values())).workload == next(iter(second.cells.values())).workload


def _breach(plateaus: Sequence[tuple[float, str, Grid, Mapping[Setting, float]]]) -> Breach:
    value, metric = median(plateau[0] for plateau in plateaus), plateaus[0][1]
    settings = [(grid, setting) for _, _, grid, since in plateaus for setting in since]
    since = max(load for *_, loads in plateaus for load in loads.values())
    cells = [
        grid.positions[setting, load]
        for _, _, grid, loads in plateaus
        for setting, start in loads.items()
        for load in grid.column(setting, metric)
        if load >= start
    ]
    names = (", ".join(filter(None, (grid.table, heading(dict(setting))))) for grid, setting in settings)
    where = join_names(names)
    reached = ngettext(
        "{n} setting reaches {value} from {load:g} threads on, within {band:.0%}",
        "{n} settings reach {value} from {load:g} threads on, within {band:.0%}",
        len(settings),
        value=format_figure(metric, value),
        load=since,
        band=_BAND,
    )
    message = N_("{reached}: a limit was measured there, not the setting")
    text = gettext(message, reached=reached)
    links = [name for low, high, name in _LINKS if low <= value <= high] if metric == "bytes_per_s" else []
    if links:
        text += gettext(N_(" (near the capacity of {link})"), link=links[0])
    text = sentence(CEILING, text, where)
    return Breach(law=CEILING, where=where, cells=tuple(cells), words=text, stated=value, tolerance=_BAND, grave=False)
