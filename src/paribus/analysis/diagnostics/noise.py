"""What an experiment showed of a machine's noise, kept for planning the next one on it.

In: trials with what they measured. Out: Calibrations, by digests of the machine and of what was run on it.
"""

import dataclasses
import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from paribus.analysis.paired.effects import Pair, Summaries, pair_series
from paribus.model import Calibration, Protocol, Purpose, Trial, Workload
from paribus.stats.diagnostics import coefficient
from paribus.stats.huber import Regression, huber
from paribus.stats.levels import design
from paribus.stats.pairs import CannotJudge, log_ratios
from paribus.units import LoadLevel

_UNLIKE = 1.5  # times the noise of another load level
_LEAST_FREEDOM, _LEVEL_FREEDOM = 2, 8  # to know the noise at all, and how it differs between load levels
KEEPS_S = 7 * 86400.0


def stack_of(workload: Workload, protocol: Protocol) -> str:
    """What a workload's noise belongs to, as a digest: all of it but its load levels, and the length of a trial."""
    parts = [workload.kind, dict(workload.parameters), workload.cache, workload.response, protocol.trial_s]
    if workload.precondition:
        parts.append(dataclasses.asdict(workload.precondition))
    if workload.open_loop:
        parts += [workload.open_loop.arrivals, workload.open_loop.outstanding]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def fingerprint_digest(fingerprint: Mapping[str, str]) -> str:
    """What a machine's noise belongs to: all that identifies machine, software and disk, as a digest."""
    return hashlib.sha256(json.dumps(dict(fingerprint), sort_keys=True).encode()).hexdigest()[:16]


def calibrations(
    trials: Sequence[Trial],
    summaries: Summaries,
    workloads: Sequence[Workload],
    protocol: Protocol,
    host: str,
    now: float,
) -> list[Calibration]:
    """The noise of a pair at each workload and load level."""
    responses = {workload.name: workload.response for workload in workloads}
    stacks = {workload.name: stack_of(workload, protocol) for workload in workloads}
    pooled: dict[tuple[str, LoadLevel], list[tuple[float, int]]] = defaultdict(list)
    for one in pair_series(trials, summaries, responses, (Purpose.NOISE_FLOOR, Purpose.PLACEBO, Purpose.COMPARE)):
        loads = sorted({pair.load for pair in one.pairs})
        fits = {load: _fit([pair for pair in one.pairs if pair.load == load]) for load in loads}
        whole = None if all(fits.values()) else _fit_levels(one.pairs)
        for load, alone in fits.items():
            if alone is not None:
                pooled[one.workload, load].append((alone.residual_sd, alone.freedom))
            elif whole is not None and whole.freedom >= _LEAST_FREEDOM:
                pooled[one.workload, load].append((whole.residual_sd, max(1, whole.freedom // len(loads))))
    return [
        Calibration(
            host=host,
            workload=stacks[workload],
            load=load,
            settle_s=protocol.settle_s,
            pair_sd=math.sqrt(sum(sd * sd * n for sd, n in fits) / sum(n for _, n in fits)),
            made=now,
            expires=now + KEEPS_S,
            freedom=sum(n for _, n in fits),
        )
        for (workload, load), fits in pooled.items()
    ]


def pair_sd(known: Sequence[Calibration]) -> float | None:
    """The noise of a pair over all load levels of one workload, of what was measured last; None where nothing was."""
    newest: dict[LoadLevel, Calibration] = {}
    for one in sorted(known, key=lambda one: one.made):
        newest[one.load] = one
    return math.sqrt(sum(one.pair_sd**2 for one in newest.values()) / len(newest)) if newest else None


def level_sds(known: Sequence[Calibration], loads: Sequence[LoadLevel]) -> tuple[float, ...]:
    """The noise of a pair at each of the load levels, where it is known at all and unlike; else nothing."""
    newest = {one.load: one for one in sorted(known, key=lambda one: one.made) if one.freedom >= _LEVEL_FREEDOM}
    sds = tuple(newest[load].pair_sd for load in loads if load in newest)
    return sds if len(sds) == len(loads) > 1 and max(sds) > _UNLIKE * min(sds) > 0 else ()


def unlike_itself(
    trials: Sequence[Trial], summaries: Summaries, workload: Workload, purpose: Purpose
) -> tuple[float, float] | None:
    """By how much the baseline differed from itself (log ratio), and the p value; None where that was not looked at.

    Of several comparisons of equals that in which it differed most clearly, the p value being for all of them.
    """
    equals = pair_series(trials, summaries, {workload.name: workload.response}, (purpose,))
    seen = [coefficient(fitted, 0) for one in equals if (fitted := _fit(one.pairs)) is not None]
    most = min(seen, key=lambda one: one.p, default=None)
    return None if most is None else (most.estimate, min(1.0, most.p * len(seen)))


def _fit_levels(pairs: Sequence[Pair]) -> Regression | None:
    """The differences of pairs fitted at all load levels at once, where each has too few for a fit of its own."""
    loads = sorted({pair.load for pair in pairs})
    try:
        differences = np.array(log_ratios([pair.compared for pair in pairs], [pair.baseline for pair in pairs]))
        levels = np.array([[float(pair.load == load) for load in loads] for pair in pairs])
        order = design(np.array([float(pair.later) for pair in pairs]))[:, 1:]
        return huber(differences, np.column_stack([levels, order]))
    except (CannotJudge, ValueError):
        return None


def _fit(pairs: Sequence[Pair]) -> Regression | None:
    """The differences of pairs, fitted; None where they say nothing of noise."""
    try:
        differences = np.array(log_ratios([pair.compared for pair in pairs], [pair.baseline for pair in pairs]))
        return huber(differences, design(np.array([float(pair.later) for pair in pairs])))
    except (CannotJudge, ValueError):
        return None
