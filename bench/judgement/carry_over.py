"""Carry-over: an arm that changes the trials after it, in comparisons of two arms and of more."""

import random
from collections.abc import Callable, Iterator

import numpy as np
from experiments import CLAIMS, Laboratory, Observation, count, share_of
from numpy.typing import NDArray

from paribus.analysis.paired.finding import Pairs
from paribus.model import Verdict
from paribus.plan.schedule.design import blocks
from paribus.plan.schedule.rounds import passes_per_round
from paribus.stats.generator import draw
from paribus.units import LoadLevel, LoadUnit

_RATIOS = (0.98, 1.02)
"""What the compared arm leaves to the next trial: up to a margin."""
_NEXT = (1.0,)
_LASTING = {
    "half of it lasting": tuple(0.5**n for n in range(12)),
    "for two trials": (1.0, 1.0),
    "for three trials": (1.0, 1.0, 1.0),
}
"""What is left to each of the following trials, as a share of what is left to the next."""
_PLANNED = {2: 80, 3: 112, 5: 96}
"""Pairs that the planner plans for the simulated machine, by arms."""


def draw_pairs(
    lab: Laboratory, rng: np.random.Generator, arms: int, left: NDArray[np.float64], washes: int = 1
) -> Pairs:
    """Draw all pairs of the second arm in an experiment of equal arms in the product's schedule.

    Two arms are washed out: the first load of a pair follows its own arm. The pairs of more arms are adjusted for
    carry-over.

    Args:
        lab: The machine and the number of pairs.
        rng: The source of random numbers.
        arms: Number of arms.
        left: What a trial of the second arm adds to each of the trials after it, log ratios.
        washes: For how many trials two arms are washed out.
    """
    levels = [LoadLevel(n, LoadUnit.OUTSTANDING) for n in range(lab.levels)]
    rounds = -(-lab.pairs // (lab.levels * passes_per_round(lab.levels)))
    planned = list(blocks(levels, arms, rounds, random.Random(int(rng.integers(2**31)))))[: lab.pairs]
    order = np.array([row for _, _, row in planned])
    level = np.array([load.n for _, load, _ in planned])
    loads, ran = _loads(order, washes if arms == 2 else 0)
    logs = draw(lab.noise, rng, np.repeat(level, arms)).reshape(order.shape) + _left_by(loads, left)[ran]
    at = np.array([np.argmax(order == arm, axis=1) for arm in (1, 0)])
    rows = np.arange(len(order))
    compared, baseline = logs[rows, at]
    after_compared, after_baseline = _left_by(loads, np.array(_NEXT))[ran][rows, at]
    covariates = None if arms == 2 else (after_compared - after_baseline)[:, None]
    return Pairs(compared - baseline, (at[0] - at[1]).astype(float), level, covariates=covariates)


def _loads(order: NDArray[np.int_], washes: int) -> tuple[NDArray[np.int_], NDArray[np.int_]]:
    """Return the arm of each load of a trial's length in run order, and which of them each trial is, by block."""
    loads: list[int] = []
    ran = np.zeros(order.shape, dtype=int)
    for block, arms in enumerate(order.tolist()):
        while loads[len(loads) - washes :] != washes * arms[:1]:
            loads.append(arms[0])
        ran[block] = len(loads) + np.arange(len(arms))
        loads += arms
    return np.array(loads), ran


def _left_by(loads: NDArray[np.int_], left: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what earlier loads of the second arm have left to each load."""
    return np.convolve(loads == 1, [0.0, *left])[: len(loads)]


def carry_over(n: int, seed: int) -> Iterator[Observation]:
    """Observe claims about equal arms of which one changes the trials after it by a margin."""
    for key, (arms, pairs) in enumerate(_PLANNED.items()):
        lab = Laboratory(pairs=pairs)
        how = "washed out" if arms == 2 else "adjusted"
        for which, ratio in enumerate(_RATIOS):
            left = np.log(ratio) * np.array(_NEXT)
            seen = count(n, (seed, 29, key, which), _verdict(lab, arms, left))
            claims = share_of(seen, CLAIMS, n)
            yield Observation(f"A/A, {arms} arms, {ratio - 1:+.0%} carried over, {how}: any claim", claims, high=0.075)
        equal = share_of(seen, (Verdict.EQUIVALENT,), n)
        yield Observation(f"the same with {arms} arms: equivalent", equal, 0.80)
        for more, (lasts, shares) in enumerate(_LASTING.items(), start=1):
            for which, ratio in enumerate(_RATIOS):
                left = np.log(ratio) * np.array(shares)
                seen = count(n, (seed, 29, key, 2 * more + which), _verdict(lab, arms, left))
                claims = share_of(seen, CLAIMS, n)
                yield Observation(f"the same, {ratio - 1:+.0%}, {lasts} with {arms} arms: any claim", claims)
    lab, left = Laboratory(pairs=_PLANNED[2]), np.log(_RATIOS[0]) * np.ones(3)
    for washes in (2, 3):
        claims = share_of(count(n, (seed, 29, 9, washes), _verdict(lab, 2, left[:washes], washes)), CLAIMS, n)
        lasts = f"washed out for {washes} trials, as long as it lasts"
        yield Observation(f"A/A, 2 arms, {_RATIOS[0] - 1:+.0%} carried over, {lasts}: any claim", claims, high=0.075)


def _verdict(
    lab: Laboratory, arms: int, left: NDArray[np.float64], washes: int = 1
) -> Callable[[np.random.Generator], str]:
    return lambda rng: str(lab.judge(draw_pairs(lab, rng, arms, left, washes))[1].verdict)
