"""Noise of a machine as an experiment showed it, kept to plan the next one on it."""

import dataclasses
import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from paribus.analysis.paired.effects import Pair, Summaries, pair_series
from paribus.model import Calibration, Protocol, Purpose, Trial, Workload
from paribus.stats.diagnostics import SUSPICIOUS, coefficient
from paribus.stats.huber import Regression, huber
from paribus.stats.levels import design
from paribus.stats.pairs import CannotJudge, log_ratios
from paribus.units import LoadLevel

_UNLIKE = 1.5  # ratio of the noise at two load levels
_LEAST_FREEDOM, _LEVEL_FREEDOM = 2, 8  # for the noise at all, and for each load level
KEEPS_S = 7 * 86400.0


class BaselineDifference(NamedTuple):
    """Difference of the baseline from itself, a log ratio, its p value, and the smallest that is found in 80 %."""

    size: float
    p: float
    visible: float


def stack_of(workload: Workload, protocol: Protocol) -> str:
    """Return the digest of all that a workload's noise depends on, except its load levels and the machine."""
    parts = [workload.kind, dict(workload.parameters), workload.cache, workload.response, protocol.trial_s]
    if workload.precondition:
        parts.append(dataclasses.asdict(workload.precondition))
    if workload.open_loop:
        parts += [workload.open_loop.arrivals, workload.open_loop.outstanding]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def fingerprint_digest(fingerprint: Mapping[str, str]) -> str:
    """Return the digest of all that identifies machine, software and disk."""
    return hashlib.sha256(json.dumps(dict(fingerprint), sort_keys=True).encode()).hexdigest()[:16]


def calibrations(
    trials: Sequence[Trial],
    summaries: Summaries,
    workloads: Sequence[Workload],
    protocol: Protocol,
    host: str,
    now: float,
) -> list[Calibration]:
    """Return the noise of a pair at each workload and load level.

    Args:
        trials: All trials of an experiment.
        summaries: Measurements by trial and metric.
        workloads: Workloads of the plan.
        protocol: Length of trials and settle time.
        host: Digest of the machine.
        now: UTC seconds of the calibration.
    """
    responses = {workload.name: workload.response for workload in workloads}
    stacks = {workload.name: stack_of(workload, protocol) for workload in workloads}
    pooled: dict[tuple[str, LoadLevel], list[tuple[float, int]]] = defaultdict(list)
    purposes = [Purpose.PLACEBO, Purpose.COMPARE]
    if protocol.noise_trial_s is None:  # noise trials are as long as the others
        purposes.append(Purpose.NOISE_FLOOR)
    for series in pair_series(trials, summaries, responses, purposes):
        if any(pair.is_toggled for pair in series.pairs):  # their noise is that of short trials under one load
            continue
        loads = sorted({pair.load for pair in series.pairs})
        fits = {load: _fit([pair for pair in series.pairs if pair.load == load]) for load in loads}
        all_levels_fit = None if all(fits.values()) else _fit_levels(series.pairs)
        for load, level_fit in fits.items():
            if level_fit is not None:
                pooled[series.workload, load].append((level_fit.residual_sd, level_fit.freedom))
            elif all_levels_fit is not None and all_levels_fit.freedom >= _LEAST_FREEDOM:
                pooled[series.workload, load].append(
                    (all_levels_fit.residual_sd, max(1, all_levels_fit.freedom // len(loads)))
                )
    return [
        Calibration(
            host=host,
            workload=stacks[workload],
            load=load,
            settle_s=protocol.settle_s,
            pair_sd=math.sqrt(
                sum(residual_sd * residual_sd * freedom for residual_sd, freedom in fits)
                / sum(freedom for _, freedom in fits)
            ),
            made=now,
            expires=now + KEEPS_S,
            freedom=sum(freedom for _, freedom in fits),
        )
        for (workload, load), fits in pooled.items()
    ]


def pair_sd(calibrations: Sequence[Calibration]) -> float | None:
    """Return the pair noise over all load levels of a workload, latest calibrations first; None without any."""
    newest: dict[LoadLevel, Calibration] = {}
    for calibration in sorted(calibrations, key=lambda calibration: calibration.made):
        newest[calibration.load] = calibration
    return math.sqrt(sum(calibration.pair_sd**2 for calibration in newest.values()) / len(newest)) if newest else None


def level_sds(calibrations: Sequence[Calibration], loads: Sequence[LoadLevel]) -> tuple[float, ...]:
    """Return the pair noise at each load level where it is well known and differs between levels; else nothing."""
    newest = {
        calibration.load: calibration
        for calibration in sorted(calibrations, key=lambda calibration: calibration.made)
        if calibration.freedom >= _LEVEL_FREEDOM
    }
    sds = tuple(newest[load].pair_sd for load in loads if load in newest)
    return sds if len(sds) == len(loads) > 1 and max(sds) > _UNLIKE * min(sds) > 0 else ()


def baseline_difference(
    trials: Sequence[Trial], summaries: Summaries, workload: str, response: str, purpose: Purpose
) -> BaselineDifference | None:
    """Return the difference of the baseline from itself; None where it was not measured.

    p values are corrected for the number of such comparisons (Bonferroni). Of those below `SUSPICIOUS` the largest
    difference is returned, else the clearest.
    """
    equals = pair_series(trials, summaries, {workload: response}, (purpose,))
    coefficients = [coefficient(fitted, 0) for series in equals if (fitted := _fit(series.pairs)) is not None]
    if not coefficients:
        return None
    number = len(coefficients)
    differences = [
        BaselineDifference(each.estimate, min(1.0, each.p * number), each.visible(SUSPICIOUS / number))
        for each in coefficients
    ]
    clear = [difference for difference in differences if difference.p < SUSPICIOUS]
    if clear:
        return max(clear, key=lambda difference: abs(difference.size))
    return min(differences, key=lambda difference: difference.p)


def _fit_levels(pairs: Sequence[Pair]) -> Regression | None:
    """The differences of pairs fitted at all load levels at once; None where they show no noise."""
    loads = sorted({pair.load for pair in pairs})
    try:
        differences = np.array(log_ratios([pair.compared for pair in pairs], [pair.baseline for pair in pairs]))
        levels = np.array([[float(pair.load == load) for load in loads] for pair in pairs])
        order = design(np.array([float(pair.later) for pair in pairs]))[:, 1:]
        return huber(differences, np.column_stack([levels, order]))
    except (CannotJudge, ValueError):
        return None


def _fit(pairs: Sequence[Pair]) -> Regression | None:
    """The fitted differences of pairs; None where they show no noise."""
    try:
        differences = np.array(log_ratios([pair.compared for pair in pairs], [pair.baseline for pair in pairs]))
        return huber(differences, design(np.array([float(pair.later) for pair in pairs])))
    except (CannotJudge, ValueError):
        return None
