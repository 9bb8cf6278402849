"""Throughput in steps coarser than the margin, such as a tool's rounding: what is decided, and what that misses."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from experiments import BY_LEVEL, Laboratory, Observation, Share, schedule

from paribus.analysis.paired.decision import next_look
from paribus.analysis.paired.finding import Pairs
from paribus.plan.schedule.rounds import blocks_per_look
from paribus.stats.generator import Noise, draw
from paribus.stats.pairs import CannotJudge, step_between

_STEP = float(np.log(1.03))
_EFFECT = float(np.log(1.02))
_QUIET = Noise(between_sd=0.005, within_sd=0.0, outliers=0.0, drift="none")
_FEWEST = 16


def coarse_steps(n: int, seed: int) -> Iterator[Observation]:
    """Observe intervals that miss the effect where throughput comes in steps of 3 %, the margin being 2 %."""
    for which, (machine, noise) in enumerate({"usual": Noise(by_level=BY_LEVEL), "quiet": _QUIET}.items()):
        for levels in (1, 3, 8):
            lab = Laboratory(noise=replace(noise, by_level=noise.by_level[:levels]), levels=levels)
            seen = Counter(_outcome(lab, np.random.default_rng([seed, 39, which, levels, k])) for k in range(n))
            name = f"steps of 3 %, {machine} machine, {levels} {'level' if levels == 1 else 'levels'}"
            yield Observation(f"{name}: decided", Share(n, seen["holds"] + seen["misses"]))
            yield Observation(f"{name}: decided with an interval that misses", Share(n, seen["misses"]), high=0.05)


def _outcome(lab: Laboratory, rng: np.random.Generator) -> str:
    """Return whether the interval of a decided experiment holds the effect, else `refused`."""
    order, level = schedule(int(rng.integers(2**31)), lab.pairs, lab.levels)
    logs = draw(lab.noise, rng, np.repeat(level, 2)) + np.repeat((rng.random(lab.levels) * _STEP)[level], 2)
    first, second = logs[0::2], logs[1::2]
    baseline = np.round(np.where(order > 0, first, second) / _STEP) * _STEP
    compared = np.round((np.where(order > 0, second, first) + _EFFECT) / _STEP) * _STEP
    looks, period = (), blocks_per_look(lab.levels)
    for pairs in [*(k for k in range(period, lab.pairs, period) if k >= _FEWEST), lab.pairs]:
        at_levels = [level[:pairs] == index for index in np.unique(level[:pairs])]
        step = step_between([[np.exp(arm[:pairs][at]) for arm in (baseline, compared)] for at in at_levels])
        data = Pairs((compared - baseline)[:pairs], order[:pairs], level[:pairs], resolution=step)
        try:
            finding = next_look(data, lab.question(), looks, over=pairs == lab.pairs)
        except CannotJudge:
            continue
        if finding.verdict is not None:
            return "holds" if finding.interval.holds(_EFFECT) else "misses"
        looks = finding.looks
    return "refused"
