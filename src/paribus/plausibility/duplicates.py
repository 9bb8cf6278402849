"""One measurement in two places: figures that are identical, or should be."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from paribus.findings import Breach
from paribus.i18n import N_, gettext
from paribus.plausibility.curve import CellKey, Grid, Setting
from paribus.plausibility.quantity import StatedCell, StatedFigure, heading
from paribus.plausibility.wording import format_figure, join_names, metric_name, sentence

COPY = N_("identical figures")
TWICE = N_("one run with two values")

_DIGITS = 4  # fewer are equal by chance
_LEAST = 4  # load levels
_EQUAL_SHARE = 0.6
_CHANGING = 1.05  # figures at a limit are similar without being copies
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
    """Find columns under different headings that are identical at all of four or more load levels, or at most.

    Only figures with at least four digits that change by at least 5 % count. If some load levels differ and the others
    are equal, one run has two figures.
    """
    copies: dict[tuple[str, str], list[tuple[Column, Column, int]]] = defaultdict(list)
    for first, second in _candidates(grids):
        equal_loads, unequal_loads = _compared(first, second)
        values = [_first(first[0].cells[first[1], load], second[0].cells[second[1], load]) for load in equal_loads]
        if len(set(values)) < _LEAST or max(values) < min(values) * _CHANGING:
            continue
        if not unequal_loads:
            copies[first[0].table, second[0].table].append((first, second, len(equal_loads)))
        elif len(equal_loads) >= _EQUAL_SHARE * (len(equal_loads) + len(unequal_loads)):
            yield _twice(first, second, equal_loads, unequal_loads)
    for pairs in copies.values():
        yield _copied(pairs)


def _candidates(grids: Sequence[Grid]) -> list[tuple[Column, Column]]:
    """Return pairs of columns of tables that share some figures."""
    columns_by_figure: dict[tuple[str, float, str], list[int]] = defaultdict(list)
    table_columns: list[Column] = [(grid, setting) for grid in grids if grid.table for setting in grid.settings]
    for index, (grid, setting) in enumerate(table_columns):
        for load in grid.loads:
            cell = grid.cells.get((setting, load))
            for metric, figure in cell.figures.items() if cell else ():
                if figure.value and figure.digits() >= _DIGITS:
                    columns_by_figure[metric, load, f"{figure.value:.3e}"].append(index)
    hits = Counter(pair for numbers in columns_by_figure.values() for pair in combinations(numbers, 2))
    return [
        (table_columns[first], table_columns[second])
        for (first, second), times in sorted(hits.items())
        if times >= _LEAST - 1
    ]


def _compared(first: Column, second: Column) -> tuple[list[float], list[float]]:
    """Return the load levels at which all common figures of two columns are equal, and the others."""
    equal: list[float] = []
    unequal: list[float] = []
    for load in first[0].loads:
        pair = first[0].cells.get((first[1], load)), second[0].cells.get((second[1], load))
        if pair[0] is None or pair[1] is None:
            continue
        shared = list(_shared(pair[0], pair[1]))
        if shared:
            (equal if all(_equal(metric, *figures) for metric, *figures in shared) else unequal).append(load)
    return equal, unequal


def _shared(first: StatedCell, second: StatedCell) -> Iterator[tuple[str, StatedFigure, StatedFigure]]:
    for metric in first.figures.keys() & second.figures.keys():
        figures = first.figures[metric], second.figures[metric]
        if min(figure.digits() for figure in figures) >= _DIGITS:
            yield (metric, *figures)


def _equal(metric: str, first: StatedFigure, second: StatedFigure) -> bool:
    return abs(first.value - second.value) <= (first.half(metric) + second.half(metric)) * 1.001


def _first(first: StatedCell, second: StatedCell) -> float:
    return next(figure.value for _, figure, _ in sorted(_shared(first, second)))


def _name(column: Column) -> str:
    return ", ".join(filter(None, (column[0].table, heading(dict(column[1])))))


def _copied(pairs: Sequence[tuple[Column, Column, int]]) -> Breach:
    within = pairs[0][0][0] is pairs[0][1][0]
    message = N_("identical at {n} load levels: one measurement under two headings, counted once")
    if within:
        message = N_("identical at {n} load levels although the setting differs: one of them is a copy")
    where = join_names(gettext("{one} = {other}", one=_name(first), other=_name(second)) for first, second, _ in pairs)
    cells = (position for first, second, _ in pairs for column in (first, second) for position in _places(column))
    text = sentence(COPY, gettext(message, n=max(n for *_, n in pairs)), where)
    return Breach(law=COPY, where=where, cells=tuple(cells), words=text, grave=within)


def _places(column: Column) -> Iterator[int]:
    grid, setting = column
    yield from (grid.positions[setting, load] for load in grid.loads if (setting, load) in grid.positions)


def _twice(first: Column, second: Column, equal_loads: Sequence[float], unequal_loads: Sequence[float]) -> Breach:
    """Report two columns of one run that differ at some load levels."""
    cell_keys: tuple[CellKey, CellKey] = (first[1], unequal_loads[0]), (second[1], unequal_loads[0])
    cells = first[0].cells[cell_keys[0]], second[0].cells[cell_keys[1]]
    metric, here, there = max(
        ((metric, a.value, b.value) for metric, a, b in _shared(*cells) if not _equal(metric, a, b)),
        key=lambda difference: abs(difference[1] - difference[2]) / max(difference[1], difference[2]),
    )
    message = N_("identical at {n} of {all} load levels, but {name} is {here} here and {there} there")
    text = gettext(
        message,
        n=len(equal_loads),
        all=len(equal_loads) + len(unequal_loads),
        name=metric_name(metric, cells[0]),
        here=format_figure(metric, here),
        there=format_figure(metric, there),
    )
    doubted = [grid.curve(metric).doubts(cell_key, *values) for (grid, _), cell_key, values in (
        (first, cell_keys[0], (here, there)),
        (second, cell_keys[1], (there, here)),
    )]  # fmt: skip
    singled = doubted.index(True) if doubted.count(True) == 1 else None
    if singled is not None:
        text += gettext(N_("; {value} lies on the curve"), value=format_figure(metric, (there, here)[singled]))
    where = gettext("{one} = {other}", one=cells[0].where, other=cells[1].where)
    positions = first[0].positions[cell_keys[0]], second[0].positions[cell_keys[1]]
    return Breach(
        law=TWICE,
        where=where,
        cells=positions if singled is None else (positions[singled],),
        words=sentence(TWICE, text, where),
        metric=metric if singled is not None else "",
        stated=None if singled is None else (here, there)[singled],
        implied=None if singled is None else (there, here)[singled],
    )


def rows(cells: Sequence[StatedCell]) -> Iterator[Breach]:
    """Find rows of one level in a table, or points of one series, with only equal figures.

    One figure has five digits, and at least two do not follow from each other.
    """
    positions_by_figures: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for position, cell in enumerate(cells):
        digits = {metric: figure.digits() for metric, figure in cell.figures.items() if figure.value}
        independent = {_TIED.get(metric, metric) for metric, n in digits.items() if n >= _DIGITS}
        if cell.table and len(independent) > 1 and max(digits.values()) > _DIGITS:
            figures = tuple(sorted((metric, figure.value) for metric, figure in cell.figures.items()))
            positions_by_figures[cell.table, cell.workload, cell.setting, figures].append(position)
    for positions in positions_by_figures.values():
        if len(positions) > 1:
            where = join_names(cells[position].where for position in positions)
            words = sentence(COPY, gettext(N_("all figures are identical: one row may be a copy")), where)
            yield Breach(law=COPY, where=where, cells=tuple(positions), words=words, grave=False)


def reports(cells: Sequence[StatedCell]) -> Iterator[Breach]:
    """Find a setting, workload and load with figures at least 0.5 % apart in two tables.

    These are two runs or an error. In each table the first repetition counts; in a table that rarely repeats cells, a
    repeated cell is such a pair too.
    """
    positions_by_cell: dict[tuple[object, ...], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    size: Counter[str] = Counter()
    for position, cell in enumerate(cells):
        if cell.table and cell.levels and cell.sample is None:
            positions_by_cell[cell.workload, cell.setting, cell.load][cell.table].append(position)
            size[cell.table] += 1
    repeated = Counter(
        table for tables in positions_by_cell.values() for table, positions in tables.items() if len(positions) > 1
    )
    differing_by_tables: dict[tuple[str, str, Setting], list[tuple[int, int, str]]] = defaultdict(list)
    for tables in positions_by_cell.values():
        rare = [
            positions[:2]
            for table, positions in tables.items()
            if len(positions) == 2 and repeated[table] < _SELDOM * size[table]
        ]
        for first, second in [*combinations([positions[0] for positions in tables.values()], 2), *map(tuple, rare)]:
            if metric := _differing(cells[first], cells[second]):
                differing_by_tables[cells[first].table, cells[second].table, cells[first].setting].append(
                    (first, second, metric)
                )
    for differing in differing_by_tables.values():
        yield _two_reports(cells, differing)


def _differing(first: StatedCell, second: StatedCell) -> str:
    for metric in sorted(first.figures.keys() & second.figures.keys() & _TIED.keys()):
        a, b = first.figures[metric], second.figures[metric]
        if not _equal(metric, a, b) and abs(a.value - b.value) > _APART * max(a.value, b.value):
            return metric
    return ""


def _two_reports(cells: Sequence[StatedCell], differing: Sequence[tuple[int, int, str]]) -> Breach:
    first, second, metric = differing[0]
    a, b = cells[first], cells[second]
    message = N_(
        "{name} is {here} here and {there} there, at {n} of the load levels: either two different"
        " runs or a transcription error"
    )
    text = gettext(
        message,
        name=metric_name(metric, a),
        here=format_figure(metric, a.figures[metric].value),
        there=format_figure(metric, b.figures[metric].value),
        n=len(differing),
    )
    where = gettext("{one} = {other}", one=a.where, other=b.where)
    if a.table == b.table:
        where = gettext("{where}, lines {one} and {other}", where=a.where, one=a.line, other=b.line)
    positions: Mapping[int, None] = dict.fromkeys(
        position for first_position, second_position, _ in differing for position in (first_position, second_position)
    )
    return Breach(law=TWICE, where=where, cells=tuple(positions), words=sentence(TWICE, text, where), grave=False)
