"""How the machine itself changed while a comparison was made: shown, and never corrected, since both arms had the same.

In: trials with what they measured. Out: Drifts, one for each factor and workload. Called by the judge.
"""

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
    """The blocks of every comparison over time, by how far each lies from what is usual of its arms at its level."""
    responses = {workload.name: workload.response for workload in workloads}
    compared: dict[tuple[str, str], list[list[Trial]]] = defaultdict(list)
    for block in whole_blocks(trials, (Purpose.COMPARE, Purpose.CONFIRM)).values():
        if all(t.started and _log(t, summaries, responses) is not None for t in block):
            compared[block[0].factor, block[0].workload].append(sorted(block, key=lambda trial: trial.position))
    began = min((t.started for t in trials if t.started), default=0.0)
    return tuple(
        Drift(factor=factor, workload=workload, response=responses[workload], points=points, course=course)
        for (factor, workload), blocks in compared.items()
        if len(blocks) >= _FEWEST_BLOCKS
        for points, course in [_course(blocks, began, summaries, responses)]
    )


def _course(
    blocks: Sequence[Sequence[Trial]], began: float, summaries: Summaries, responses: dict[str, str]
) -> tuple[tuple[DriftPoint, ...], tuple[float, ...]]:
    """A point for each block, and the smooth line through them."""
    logs = {t.order: _log(t, summaries, responses) or 0.0 for block in blocks for t in block}
    by_cell = defaultdict(list)
    for block in blocks:
        for trial in block:
            by_cell[trial.arm, trial.load].append(logs[trial.order])
    usual = {cell: statistics.median(values) for cell, values in by_cell.items()}
    made = sorted(blocks, key=lambda block: block[0].started or 0.0)
    points = tuple(
        DriftPoint(
            hours=((block[0].started or 0.0) - began) / _HOUR_S,
            log_ratio=statistics.fmean(logs[t.order] - usual[t.arm, t.load] for t in block),
            first=block[0].arm,
            trials=tuple(trial.order for trial in block),
        )
        for block in made
    )
    hours, values = np.array([p.hours for p in points]), np.array([p.log_ratio for p in points])
    return points, tuple(smooth(hours, values))


def _log(trial: Trial, summaries: Summaries, responses: dict[str, str]) -> float | None:
    measured = summaries.get(trial.order, {}).get(responses[trial.workload])
    return math.log(measured.mean) if measured and measured.mean > 0 else None
