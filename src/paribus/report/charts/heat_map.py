"""The geometry of a heat map: one path for each shade of a lane, in a box that the page stretches to its width.

In: a lane of the view. Out: paths in units of the box: a column is 1 wide, a row 1 high. Called by the page.
"""

from collections import defaultdict
from itertools import groupby

from paribus.report.view.heat_map_models import HeatLane


def shade_paths(lane: HeatLane) -> list[tuple[int, str]]:
    """Return (shade, path) of all cells of a lane, the lightest first; neighbours of one shade are one rectangle."""
    rectangles: dict[int, list[str]] = defaultdict(list)
    rows = len(lane.columns[0])
    for x, column in enumerate(lane.columns):
        row = 0
        for shade, cells in groupby(column):
            height = len(list(cells))
            if shade:
                rectangles[shade].append(f"M{x} {rows - row}h1v-{height}h-1z")
            row += height
    return [(shade, "".join(rectangles[shade])) for shade in sorted(rectangles)]
