"""The Universal Scalability Law, fitted to the rates of rounds (Gunther 2007, Guerrilla Capacity Planning).

X(N) = lambda N / (1 + sigma (N - 1) + kappa N (N - 1)): lambda is the rate of one, sigma the share that waits for
something all need (contention), kappa what each costs each other (coherency). Levels are operations outstanding, rates
operations per second. Called by the analysis; knows no trials.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paribus.stats.pairs import CannotJudge

FEWEST_LEVELS = 4  # of which three determine the law

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Law:
    """The three parameters with their intervals, each (estimate, low, high), and how well the law holds.

    `peak_at` is the level at which the law has its maximum, None where it has none (kappa is zero). `miss` is the
    largest relative distance of a level's mean from the law, at `miss_at`; `holds` says that no level is further off
    than its own noise explains.
    """

    one: tuple[float, float, float]
    contention: tuple[float, float, float]
    coherency: tuple[float, float, float]
    peak_at: float | None
    miss: float
    miss_at: int
    holds: bool

    def rate(self, level: float) -> float:
        """What the law says of a level."""
        return float(_rates(np.array([level]), np.array([self.one[0], self.contention[0], self.coherency[0]]))[0])


def fit(rounds: Sequence[Mapping[int, float]], confidence: float) -> Law:
    """The law through the means of the rounds; t intervals by leaving out a round at a time. Raises CannotJudge."""
    from scipy import special

    whole = [one for one in rounds if one and len(one) == max(map(len, rounds))]
    if not whole or len(whole[0]) < FEWEST_LEVELS:
        raise CannotJudge(f"the law of scaling needs {FEWEST_LEVELS} load levels")
    if len(whole) < 2:
        raise CannotJudge("one round is no interval")
    levels = np.array(sorted(whole[0]), dtype=float)
    table = np.log([[one[int(level)] for level in levels] for one in whole if min(one.values()) > 0])
    if len(table) < len(whole):
        raise CannotJudge("a level measured nothing")
    n, middle = len(table), table.mean(axis=0)
    found, *others = _fits(levels, np.vstack([middle, (n * middle - table) / (n - 1)]))
    without = np.array(others)
    if not np.isfinite([found, *without]).all():
        raise CannotJudge("the levels do not tell the rate of one")
    error = np.sqrt((n - 1) / n * ((without - without.mean(axis=0)) ** 2).sum(axis=0))  # the jackknife's
    half = special.stdtrit(n - 1, 0.5 + confidence / 2) * error
    parameters = [(float(f), float(max(f - h, 0.0)), float(f + h)) for f, h in zip(found, half, strict=True)]
    missed = middle - np.log(_rates(levels, found))
    worst = int(np.argmax(np.abs(missed)))
    sigma, kappa = found[1], found[2]
    return Law(
        one=parameters[0],
        contention=parameters[1],
        coherency=parameters[2],
        peak_at=max(1.0, float(np.sqrt(max(1 - sigma, 0.0) / kappa))) if kappa > _NOTHING else None,
        miss=float(np.expm1(missed[worst])),
        miss_at=int(levels[worst]),
        holds=_is_noise(table, missed),
    )


_NOTHING = 1e-9
_EXACT, _MOST_STEPS, _MOST_HALVES = 1e-10, 100, 20
_TOLD = 1e-6  # of what a level takes, so much at least must depend on the rate of one
_RIDGE = 1e-12  # where one column is all that counts, the others cannot be told apart
_FREE = np.array([free for free in itertools.product((True, False), repeat=3) if any(free)])


def _rates(levels: Array, parameters: Array) -> Array:
    one, sigma, kappa = parameters
    return np.asarray(one * levels / (1 + sigma * (levels - 1) + kappa * levels * (levels - 1)), dtype=np.float64)


def _fits(levels: Array, logs: Array) -> Array:
    """The three parameters by least squares of the logarithms of rates, since noise is in proportion to the rate.

    Many fits at once, of shape (fits, levels) to (fits, 3). N / X is the sum of 1, N and N (N - 1) in parts of
    (1 - sigma), sigma and kappa over lambda, none below zero: Gauss's and Newton's steps in these, halved until they
    mend something.
    """
    columns = np.stack([np.ones_like(levels), levels, levels * (levels - 1)])
    wanted = np.log(levels) - logs
    parts = _least(columns, np.exp(wanted), np.ones_like(wanted))
    for _ in range(_MOST_STEPS):
        reached = parts @ columns
        missed = ((np.log(reached) - wanted) ** 2).sum(axis=1)
        step = _least(columns, reached, 1 - np.log(reached) + wanted) - parts
        for _ in range(_MOST_HALVES):
            rises = ((np.log((parts + step) @ columns) - wanted) ** 2).sum(axis=1) > missed
            step[rises] /= 2
            if not rises.any():
                break
        parts = parts + np.where(rises[:, None], 0.0, step)
        if (np.abs(step @ columns) <= _EXACT * reached).all():
            break
    of_one = (parts[:, :2] @ columns[:2] / (parts @ columns)).max(axis=1)
    one = np.where(of_one > _TOLD, 1 / (parts[:, 0] + parts[:, 1]), np.nan)
    return np.asarray(np.column_stack([one, parts[:, 1] * one, parts[:, 2] * one]), dtype=np.float64)


def _least(columns: Array, scale: Array, wanted: Array) -> Array:
    """How much of each of three columns, over `scale`, adds up closest to what is wanted; of none less than nothing.

    Each is free or left out: of these seven ways the best that needs none below zero.
    """
    over = columns / scale[:, None, :]
    size = np.sqrt((over**2).sum(axis=2))
    over = over / size[:, :, None]
    squares, products = over @ over.transpose(0, 2, 1), np.einsum("fcl,fl->fc", over, wanted)
    best, least = np.zeros_like(products), np.full(len(products), np.inf)
    for free in _FREE:
        reduced = np.where(np.outer(free, free), squares, 0.0) + np.diag(np.where(free, _RIDGE, 1.0))
        found = np.linalg.solve(reduced, np.where(free, products, 0.0)[:, :, None])[:, :, 0]
        missed = np.einsum("fc,fcd,fd->f", found, squares, found) - 2 * np.einsum("fc,fc->f", found, products)
        better = (found >= 0).all(axis=1) & (missed < least)
        best[better], least[better] = found[better], missed[better]
    best[:, 0] += np.where(best[:, :2].any(axis=1), 0.0, _NOTHING)  # lest the rate of one be infinite
    return np.asarray(best / size, dtype=np.float64)


def _is_noise(table: Array, missed: Array) -> bool:
    """Whether the distances of the levels from the law are what their own noise explains: a test of lack of fit."""
    from scipy import special

    n, levels = table.shape
    within = float(((table - table.mean(axis=0)) ** 2).sum()) / (levels * (n - 1))
    free = levels - 3
    if within <= 0:
        return bool(np.abs(missed).max() < 1e-9)
    return bool(special.fdtrc(free, levels * (n - 1), n * float(missed @ missed) / free / within) >= 0.01)
