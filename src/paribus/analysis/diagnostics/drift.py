"""Drift of the machine during a comparison: reported and never corrected, since both arms of a block share it."""

import math
import statistics
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from paribus.analysis.paired.effects import Summaries, whole_blocks
from paribus.findings import Drift, DriftPoint
from paribus.model import Purpose, Trial, Workload
from paribus.stats.diagnostics import smooth

_FEWEST_BLOCKS = 8
_HOUR_S = 3600.0


def drifts(trials: Sequence[Trial], summaries: Summaries, workloads: Sequence[Workload]) -> tuple[Drift, ...]:
    """Return the drift during each comparison: the distance of each block from its cells' medians over time.

    Args:
        trials: All trials of an experiment.
        summaries: Measurements by trial and metric.
        workloads: Workloads of the plan.
    """
    responses = {workload.name: workload.response for workload in workloads}
    compared: dict[tuple[str, str], list[list[Trial]]] = defaultdict(list)
    for block in whole_blocks(trials, (Purpose.COMPARE, Purpose.CONFIRM)).values():
        if all(trial.started and _log(trial, summaries, responses) is not None for trial in block):
            compared[block[0].factor, block[0].workload].append(sorted(block, key=lambda trial: trial.position))
    start = min((trial.started for trial in trials if trial.started), default=0.0)
    return tuple(
        Drift(factor=factor, workload=workload, response=responses[workload], points=points, course=smooth_line)
        for (factor, workload), blocks in compared.items()
        if len(blocks) >= _FEWEST_BLOCKS
        for points, smooth_line in [_course(blocks, start, summaries, responses)]
    )


def _course(
    blocks: Sequence[Sequence[Trial]], start: float, summaries: Summaries, responses: dict[str, str]
) -> tuple[tuple[DriftPoint, ...], tuple[float, ...]]:
    """A point for each block, and the smooth line through them."""
    logs = {trial.order: _log(trial, summaries, responses) or 0.0 for block in blocks for trial in block}
    by_cell = defaultdict(list)
    for block in blocks:
        for trial in block:
            by_cell[trial.arm, trial.load].append(logs[trial.order])
    medians = {cell: statistics.median(values) for cell, values in by_cell.items()}
    run_order = sorted(blocks, key=lambda block: block[0].started or 0.0)
    points = tuple(
        DriftPoint(
            hours=((block[0].started or 0.0) - start) / _HOUR_S,
            log_ratio=statistics.fmean(logs[trial.order] - medians[trial.arm, trial.load] for trial in block),
            first=block[0].arm,
            trials=tuple(trial.order for trial in block),
        )
        for block in run_order
    )
    hours, values = np.array([point.hours for point in points]), np.array([point.log_ratio for point in points])
    return points, tuple(smooth(hours, values))


def _log(trial: Trial, summaries: Summaries, responses: dict[str, str]) -> float | None:
    measured = summaries.get(trial.order, {}).get(responses[trial.workload])
    return math.log(measured.mean) if measured and measured.mean > 0 else None
