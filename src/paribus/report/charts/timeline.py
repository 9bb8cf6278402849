"""The geometry of the timeline of trials: rectangles and paths in a box that the page stretches to its width.

In: a timeline of the view. Out: positions in units of the box. Called by the page.
"""

from dataclasses import dataclass

from paribus.report.view.timeline_models import OtherLoadLine, TrialLane

WIDTH = 1000
LOAD_HEIGHT = 40
_GAP = 0.6  # between a bar and the next
_NARROWEST = {"valid": 0.4}  # others are too few to be found if they are as narrow as they were short
_NARROWEST_UNUSED = 4.0


@dataclass(frozen=True, slots=True)
class LaneBar:
    """A bar of a lane: its left end and its width, and the text of its tooltip."""

    x: float
    width: float
    text: str


def lane_bars(lane: TrialLane) -> list[LaneBar]:
    """Return the bars of a lane in their order."""
    narrowest = _NARROWEST.get(lane.kind, _NARROWEST_UNUSED)
    bars = []
    for bar in lane.bars:
        width = max((bar.end - bar.start) * WIDTH - _GAP, narrowest)
        bars.append(LaneBar(round(min(bar.start * WIDTH, WIDTH - width), 1), round(width, 1), bar.text))
    return bars


def load_paths(line: OtherLoadLine) -> list[str]:
    """Return a path for each part of the line, which closes at the bottom as an area."""
    paths = []
    for part in line.parts:
        points = [f"{place * WIDTH:.1f} {LOAD_HEIGHT * (1 - share):.1f}" for place, share in part]
        first, last = (f"{place * WIDTH:.1f} {LOAD_HEIGHT}" for place in (part[0][0], part[-1][0]))
        paths.append(f"M{first}L{'L'.join(points)}L{last}Z")
    return paths
