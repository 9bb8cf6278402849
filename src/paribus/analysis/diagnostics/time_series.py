"""Time series of a response within a trial, shortened to what its trend needs."""

import dataclasses

import numpy as np

from paribus.model import Measurement

_MAX_POINTS = 60


def shortened(series: Measurement) -> Measurement:
    """Return the series as the means of at most 60 equal parts; the last part may be shorter."""
    points = np.asarray(series.points)
    part_length = -(-len(points) // _MAX_POINTS)
    if part_length < 2:
        return series
    starts = np.arange(0, len(points), part_length)
    means = np.add.reduceat(points, starts) / np.diff([*starts, len(points)])
    return dataclasses.replace(series, points=tuple(means.tolist()), step_s=(series.step_s or 1.0) * part_length)
