"""What a response did within a trial, as short as its trend needs it.

In: a measurement with its points. Out: the same with few. Called for every trial before it is judged.
"""

import dataclasses

import numpy as np

from paribus.model import Measurement

_MOST = 60


def shortened(course: Measurement) -> Measurement:
    """The means of at most 60 equal parts, of which the last may be shorter."""
    points = np.asarray(course.points)
    each = -(-len(points) // _MOST)
    if each < 2:
        return course
    starts = np.arange(0, len(points), each)
    means = np.add.reduceat(points, starts) / np.diff([*starts, len(points)])
    return dataclasses.replace(course, points=tuple(means.tolist()), step_s=(course.step_s or 1.0) * each)
