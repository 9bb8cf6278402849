"""Carry-over: an arm that changes the trial after it, in comparisons of two arms and of more."""

import random
from collections.abc import Callable, Iterator

import numpy as np
from experiments import CLAIMS, Laboratory, Observation, count, share_of
from numpy.typing import NDArray

from paribus.analysis.paired.finding import Finding, Pairs
from paribus.model import Verdict
from paribus.plan.schedule.design import blocks
from paribus.plan.schedule.rounds import passes_per_round
from paribus.stats.generator import draw
from paribus.units import LoadLevel, LoadUnit

_RATIOS = (0.98, 1.02)
"""What the compared arm leaves to the next trial: up to a margin."""
_LASTS = 0.5
"""Share of it that lasts for each further trial, in rows of their own."""
_PLANNED = {2: 80, 3: 112, 5: 96}
"""Pairs that the planner plans for the simulated machine, by arms."""


def draw_pairs(
    lab: Laboratory, rng: np.random.Generator, arms: int, carried: float, *, washed_out: bool, lasts: float = 0.0
) -> Pairs:
    """Draw all pairs of the second arm in an experiment of equal arms in the product's schedule.

    Args:
        lab: The machine and the number of pairs.
        rng: The source of random numbers.
        arms: Number of arms; of more than two, the pairs are adjusted for carry-over.
        carried: What a trial of the second arm adds to the next trial, log ratio.
        washed_out: Whether a load that follows another arm runs one trial longer before it is measured.
        lasts: Share of it that lasts for each further trial.
    """
    levels = [LoadLevel(n, LoadUnit.OUTSTANDING) for n in range(lab.levels)]
    rounds = -(-lab.pairs // (lab.levels * passes_per_round(lab.levels)))
    planned = list(blocks(levels, arms, rounds, random.Random(int(rng.integers(2**31)))))[: lab.pairs]
    order = np.array([row for _, _, row in planned])
    level = np.array([load.n for _, load, _ in planned])
    before = np.concatenate([[0], order.ravel()[:-1]]).reshape(order.shape)
    if washed_out:
        before[:, 0] = order[:, 0]
    followed = before == 1
    residue = _residue(order, lasts, washed_out=washed_out) if lasts else followed
    logs = draw(lab.noise, rng, np.repeat(level, arms)).reshape(order.shape) + carried * residue
    at = [np.argmax(order == arm, axis=1) for arm in (1, 0)]
    rows = np.arange(len(order))
    after = followed[rows, at[0]].astype(float) - followed[rows, at[1]]
    covariates = after[:, None] if arms > 2 else None
    return Pairs(logs[rows, at[0]] - logs[rows, at[1]], (at[0] - at[1]).astype(float), level, covariates=covariates)


def _residue(order: NDArray[np.int_], lasts: float, *, washed_out: bool) -> NDArray[np.float64]:
    """Return what the second arm has left when each trial begins, in units of one trial's, by block and position."""
    residue = np.zeros(order.shape)
    left, loaded = 0.0, -1
    for block, arms in enumerate(order.tolist()):
        if washed_out and arms[0] != loaded:
            left = lasts * left + (arms[0] == 1)
        for position, arm in enumerate(arms):
            residue[block, position] = left
            left, loaded = lasts * left + (arm == 1), arm
    return residue


def carry_over(n: int, seed: int) -> Iterator[Observation]:
    """Observe claims about equal arms of which one changes the next trial by a margin."""
    for key, (arms, pairs) in enumerate(_PLANNED.items()):
        lab = Laboratory(pairs=pairs)
        how = "washed out" if arms == 2 else "adjusted"
        for which, ratio in enumerate(_RATIOS):
            seen = count(n, (seed, 29, key, which), _verdict(lab, arms, float(np.log(ratio))))
            claims = share_of(seen, CLAIMS, n)
            yield Observation(f"A/A, {arms} arms, {ratio - 1:+.0%} carried over, {how}: any claim", claims, high=0.075)
        equal = share_of(seen, (Verdict.EQUIVALENT,), n)
        yield Observation(f"the same with {arms} arms: equivalent", equal, 0.80)
        for which, ratio in enumerate(_RATIOS):
            seen = count(n, (seed, 29, key, 2 + which), _verdict(lab, arms, float(np.log(ratio)), _LASTS))
            claims = share_of(seen, CLAIMS, n)
            yield Observation(f"the same, {ratio - 1:+.0%}, half of it lasting with {arms} arms: any claim", claims)


def _verdict(lab: Laboratory, arms: int, carried: float, lasts: float = 0.0) -> Callable[[np.random.Generator], str]:
    def judged(rng: np.random.Generator) -> Finding:
        return lab.judge(draw_pairs(lab, rng, arms, carried, washed_out=arms == 2, lasts=lasts))[1]

    return lambda rng: str(judged(rng).verdict)
