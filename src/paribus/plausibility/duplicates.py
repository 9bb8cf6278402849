"""One measurement in two places: figures that are equal to the digit, or should be."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from paribus.findings import Breach
from paribus.i18n import N_, gettext
from paribus.plausibility.curve import Grid, Place, Setting
from paribus.plausibility.quantity import StatedCell, StatedFigure, heading
from paribus.plausibility.wording import named, sentence, shown, together

COPY = N_("identical figures")
TWICE = N_("one run with two values")

_DIGITS = 4  # fewer are equal by chance
_LEAST = 4  # load levels
_MOST = 0.6
_CHANGING = 1.05  # what stands at a limit is alike without being copied
_APART = 0.005
_SELDOM = 0.1  # of a table's cells
_TIED = {
    "throughput_per_s": "rate",
    "bytes_per_s": "rate",
    "queries_per_s": "rate",
    "normalised": "rate",
    "read_bytes_per_s": "reads_per_s",
    "written_bytes_per_s": "writes_per_s",
}

Column = tuple[Grid, Setting]


def columns(grids: Sequence[Grid]) -> Iterator[Breach]:
    """Columns under different headings that are equal to the digit: at all of four load levels or more, or at most.

    Of figures with four digits at least, which change by 5 % at least. What differs where the rest is equal is one
    run with two figures.
    """
    alike: dict[tuple[str, str], list[tuple[Column, Column, int]]] = defaultdict(list)
    for one, other in _candidates(grids):
        same, unlike = _compared(one, other)
        values = [_first(one[0].cells[one[1], load], other[0].cells[other[1], load]) for load in same]
        if len(set(values)) < _LEAST or max(values) < min(values) * _CHANGING:
            continue
        if not unlike:
            alike[one[0].table, other[0].table].append((one, other, len(same)))
        elif len(same) >= _MOST * (len(same) + len(unlike)):
            yield _twice(one, other, same, unlike)
    for pairs in alike.values():
        yield _copied(pairs)


def _candidates(grids: Sequence[Grid]) -> list[tuple[Column, Column]]:
    """Columns of tables that share some figures, looked up by these."""
    known: dict[tuple[str, float, str], list[int]] = defaultdict(list)
    found: list[Column] = [(grid, setting) for grid in grids if grid.table for setting in grid.settings]
    for number, (grid, setting) in enumerate(found):
        for load in grid.loads:
            cell = grid.cells.get((setting, load))
            for metric, figure in cell.figures.items() if cell else ():
                if figure.value and figure.digits() >= _DIGITS:
                    known[metric, load, f"{figure.value:.3e}"].append(number)
    hits = Counter(pair for numbers in known.values() for pair in combinations(numbers, 2))
    return [(found[one], found[other]) for (one, other), n in sorted(hits.items()) if n >= _LEAST - 1]


def _compared(one: Column, other: Column) -> tuple[list[float], list[float]]:
    """The load levels at which all that both columns tell is equal, and the others."""
    same: list[float] = []
    unlike: list[float] = []
    for load in one[0].loads:
        pair = one[0].cells.get((one[1], load)), other[0].cells.get((other[1], load))
        if pair[0] is None or pair[1] is None:
            continue
        shared = list(_shared(pair[0], pair[1]))
        if shared:
            (same if all(_equal(metric, *figures) for metric, *figures in shared) else unlike).append(load)
    return same, unlike


def _shared(one: StatedCell, other: StatedCell) -> Iterator[tuple[str, StatedFigure, StatedFigure]]:
    for metric in one.figures.keys() & other.figures.keys():
        figures = one.figures[metric], other.figures[metric]
        if min(figure.digits() for figure in figures) >= _DIGITS:
            yield (metric, *figures)


def _equal(metric: str, one: StatedFigure, other: StatedFigure) -> bool:
    return abs(one.value - other.value) <= (one.half(metric) + other.half(metric)) * 1.001


def _first(one: StatedCell, other: StatedCell) -> float:
    return next(figure.value for _, figure, _ in sorted(_shared(one, other)))


def _name(column: Column) -> str:
    return ", ".join(filter(None, (column[0].table, heading(dict(column[1])))))


def _copied(pairs: Sequence[tuple[Column, Column, int]]) -> Breach:
    within = pairs[0][0][0] is pairs[0][1][0]
    said = N_("identical at {n} load levels: one measurement under two headings, counted once")
    if within:
        said = N_("identical at {n} load levels although the setting differs: one of them is a copy")
    where = together(gettext("{one} = {other}", one=_name(one), other=_name(other)) for one, other, _ in pairs)
    cells = (place for one, other, _ in pairs for column in (one, other) for place in _places(column))
    words = sentence(COPY, gettext(said, n=max(n for *_, n in pairs)), where)
    return Breach(law=COPY, where=where, cells=tuple(cells), words=words, grave=within)


def _places(column: Column) -> Iterator[int]:
    grid, setting = column
    yield from (grid.at[setting, load] for load in grid.loads if (setting, load) in grid.at)


def _twice(one: Column, other: Column, same: Sequence[float], unlike: Sequence[float]) -> Breach:
    """Two columns of one run that differ at some load levels."""
    places: tuple[Place, Place] = (one[1], unlike[0]), (other[1], unlike[0])
    cells = one[0].cells[places[0]], other[0].cells[places[1]]
    metric, here, there = max(
        ((metric, a.value, b.value) for metric, a, b in _shared(*cells) if not _equal(metric, a, b)),
        key=lambda match: abs(match[1] - match[2]) / max(match[1], match[2]),
    )
    said = N_("identical at {n} of {all} load levels, but {name} is {here} here and {there} there")
    words = gettext(
        said,
        n=len(same),
        all=len(same) + len(unlike),
        name=named(metric, cells[0]),
        here=shown(metric, here),
        there=shown(metric, there),
    )
    wrong = [grid.curve(metric).doubts(place, *values) for (grid, _), place, values in (
        (one, places[0], (here, there)),
        (other, places[1], (there, here)),
    )]  # fmt: skip
    singled = wrong.index(True) if wrong.count(True) == 1 else None
    if singled is not None:
        words += gettext(N_("; {value} lies on the curve"), value=shown(metric, (there, here)[singled]))
    where = gettext("{one} = {other}", one=cells[0].where, other=cells[1].where)
    at = one[0].at[places[0]], other[0].at[places[1]]
    return Breach(
        law=TWICE,
        where=where,
        cells=at if singled is None else (at[singled],),
        words=sentence(TWICE, words, where),
        metric=metric if singled is not None else "",
        stated=None if singled is None else (here, there)[singled],
        implied=None if singled is None else (there, here)[singled],
    )


def rows(cells: Sequence[StatedCell]) -> Iterator[Breach]:
    """Two points of one level in a table, or of one series, with nothing but equal figures.

    One of them with five digits, and two at least that do not follow from each other.
    """
    known: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for position, cell in enumerate(cells):
        digits = {metric: figure.digits() for metric, figure in cell.figures.items() if figure.value}
        apart = {_TIED.get(metric, metric) for metric, n in digits.items() if n >= _DIGITS}
        if cell.table and len(apart) > 1 and max(digits.values()) > _DIGITS:
            figures = tuple(sorted((metric, figure.value) for metric, figure in cell.figures.items()))
            known[cell.table, cell.workload, cell.setting, figures].append(position)
    for positions in known.values():
        if len(positions) > 1:
            where = together(cells[at].where for at in positions)
            words = sentence(COPY, gettext(N_("all figures are identical: one row may be a copy")), where)
            yield Breach(law=COPY, where=where, cells=tuple(positions), words=words, grave=False)


def reports(cells: Sequence[StatedCell]) -> Iterator[Breach]:
    """The same setting, workload and load in two tables, half a percent or more apart: two runs, or a wrong figure.

    Of what a table repeats the first counts; in a table that hardly repeats anything, what it does is such a pair too.
    """
    known: dict[tuple[object, ...], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    size: Counter[str] = Counter()
    for position, cell in enumerate(cells):
        if cell.table and cell.levels and cell.sample is None:
            known[cell.workload, cell.setting, cell.load][cell.table].append(position)
            size[cell.table] += 1
    again = Counter(table for tables in known.values() for table, mine in tables.items() if len(mine) > 1)
    found: dict[tuple[str, str, Setting], list[tuple[int, int, str]]] = defaultdict(list)
    for tables in known.values():
        seldom = [mine[:2] for table, mine in tables.items() if len(mine) == 2 and again[table] < _SELDOM * size[table]]
        for one, other in [*combinations([mine[0] for mine in tables.values()], 2), *map(tuple, seldom)]:
            if metric := _differing(cells[one], cells[other]):
                found[cells[one].table, cells[other].table, cells[one].setting].append((one, other, metric))
    for differing in found.values():
        yield _two_reports(cells, differing)


def _differing(one: StatedCell, other: StatedCell) -> str:
    for metric in sorted(one.figures.keys() & other.figures.keys() & _TIED.keys()):
        a, b = one.figures[metric], other.figures[metric]
        if not _equal(metric, a, b) and abs(a.value - b.value) > _APART * max(a.value, b.value):
            return metric
    return ""


def _two_reports(cells: Sequence[StatedCell], differing: Sequence[tuple[int, int, str]]) -> Breach:
    first, second, metric = differing[0]
    a, b = cells[first], cells[second]
    said = N_(
        "{name} is {here} here and {there} there, at {n} of the load levels: either two different"
        " runs or a transcription error"
    )
    words = gettext(
        said,
        name=named(metric, a),
        here=shown(metric, a.figures[metric].value),
        there=shown(metric, b.figures[metric].value),
        n=len(differing),
    )
    where = gettext("{one} = {other}", one=a.where, other=b.where)
    if a.table == b.table:
        where = gettext("{where}, lines {one} and {other}", where=a.where, one=a.line, other=b.line)
    at: Mapping[int, None] = dict.fromkeys(position for one, other, _ in differing for position in (one, other))
    return Breach(law=TWICE, where=where, cells=tuple(at), words=sentence(TWICE, words, where), grave=False)
