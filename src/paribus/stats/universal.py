"""The Universal Scalability Law, fitted to the rates of rounds (Gunther 2007, Guerrilla Capacity Planning).

X(N) = lambda N / (1 + sigma (N - 1) + kappa N (N - 1)). lambda is the rate at level 1, sigma the contention, kappa the
coherency. Levels N are outstanding operations, rates X operations per second.
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
class ScalabilityFit:
    """The fitted parameters, each as (estimate, low, high), and the quality of the fit.

    Attributes:
        rate_of_one: lambda, operations per second at level 1.
        contention: sigma, the serial share of the work.
        coherency: kappa, the cost of each pair of operations.
        peak_at: Level of the law's maximum; None where it has none (kappa is zero).
        deviation: Largest relative distance of a level's mean from the law, with its sign.
        deviation_at: The level of that distance.
        holds: Whether the levels' own noise explains all distances (lack-of-fit F test at 1 %).
    """

    rate_of_one: tuple[float, float, float]
    contention: tuple[float, float, float]
    coherency: tuple[float, float, float]
    peak_at: float | None
    deviation: float
    deviation_at: int
    holds: bool

    def rate(self, level: float) -> float:
        """Return the rate in operations per second that the law predicts at a level."""
        parameters = np.array([self.rate_of_one[0], self.contention[0], self.coherency[0]])
        return float(_rates(np.array([level]), parameters)[0])


def fit(rounds: Sequence[Mapping[int, float]], confidence: float) -> ScalabilityFit:
    """Fit the law to the mean log rates of the rounds; t intervals by the jackknife over rounds.

    Args:
        rounds: Rate in operations per second by level, one mapping per round. Rounds that lack a level are left out.
        confidence: Coverage of the intervals, such as 0.95.

    Returns:
        The fit.

    Raises:
        CannotJudge: Fewer than 4 levels or 2 complete rounds, a rate of zero, or levels that do not determine lambda.
    """
    from scipy import special

    complete = [rates for rates in rounds if rates and len(rates) == max(map(len, rounds))]
    if not complete or len(complete[0]) < FEWEST_LEVELS:
        raise CannotJudge(f"the law of scaling needs {FEWEST_LEVELS} load levels")
    if len(complete) < 2:
        raise CannotJudge("one round is no interval")
    levels = np.array(sorted(complete[0]), dtype=float)
    table = np.log([[rates[int(level)] for level in levels] for rates in complete if min(rates.values()) > 0])
    if len(table) < len(complete):
        raise CannotJudge("a level measured nothing")
    n, middle = len(table), table.mean(axis=0)
    estimates, *jackknife_fits = _fits(levels, np.vstack([middle, (n * middle - table) / (n - 1)]))
    jackknifed = np.array(jackknife_fits)
    if not np.isfinite([estimates, *jackknifed]).all():
        raise CannotJudge("the levels do not tell the rate of one")
    error = np.sqrt((n - 1) / n * ((jackknifed - jackknifed.mean(axis=0)) ** 2).sum(axis=0))
    half_widths = special.stdtrit(n - 1, 0.5 + confidence / 2) * error
    lows, highs = np.maximum(estimates - half_widths, 0.0), estimates + half_widths
    parameters = [
        (float(estimate), float(low), float(high)) for estimate, low, high in zip(estimates, lows, highs, strict=True)
    ]
    deviations = middle - np.log(_rates(levels, estimates))
    worst = int(np.argmax(np.abs(deviations)))
    sigma, kappa = estimates[1], estimates[2]
    return ScalabilityFit(
        rate_of_one=parameters[0],
        contention=parameters[1],
        coherency=parameters[2],
        peak_at=max(1.0, float(np.sqrt(max(1 - sigma, 0.0) / kappa))) if kappa > _NOTHING else None,
        deviation=float(np.expm1(deviations[worst])),
        deviation_at=int(levels[worst]),
        holds=_is_noise(table, deviations),
    )


_NOTHING = 1e-9
_EXACT, _MOST_STEPS, _MOST_HALVES = 1e-10, 100, 20
_LEAST_SHARE = 1e-6  # below it, no level's prediction depends on the rate of one
_RIDGE = 1e-12  # keeps the system solvable where one column dominates
_FREE = np.array([free for free in itertools.product((True, False), repeat=3) if any(free)])


def _rates(levels: Array, parameters: Array) -> Array:
    rate_of_one, sigma, kappa = parameters
    return np.asarray(
        rate_of_one * levels / (1 + sigma * (levels - 1) + kappa * levels * (levels - 1)), dtype=np.float64
    )


def _fits(levels: Array, logs: Array) -> Array:
    """Return the three parameters, fitted by least squares of log rates, since noise is proportional to the rate.

    Many rows are fitted at once, from shape (fits, levels) to (fits, 3). N / X is a sum of 1, N and N (N - 1). Their
    coefficients are (1 - sigma), sigma and kappa, each divided by lambda and not negative. Newton's steps in these
    coefficients are halved until the sum of squares falls.
    """
    columns = np.stack([np.ones_like(levels), levels, levels * (levels - 1)])
    log_needed = np.log(levels) - logs
    parts = _non_negative(columns, np.exp(log_needed), np.ones_like(log_needed))
    for _ in range(_MOST_STEPS):
        predicted = parts @ columns
        squares = ((np.log(predicted) - log_needed) ** 2).sum(axis=1)
        step = _non_negative(columns, predicted, 1 - np.log(predicted) + log_needed) - parts
        for _ in range(_MOST_HALVES):
            worse = ((np.log((parts + step) @ columns) - log_needed) ** 2).sum(axis=1) > squares
            step[worse] /= 2
            if not worse.any():
                break
        parts = parts + np.where(worse[:, None], 0.0, step)
        if (np.abs(step @ columns) <= _EXACT * predicted).all():
            break
    share_of_one = (parts[:, :2] @ columns[:2] / (parts @ columns)).max(axis=1)
    rate_of_one = np.where(share_of_one > _LEAST_SHARE, 1 / (parts[:, 0] + parts[:, 1]), np.nan)
    return np.asarray(
        np.column_stack([rate_of_one, parts[:, 1] * rate_of_one, parts[:, 2] * rate_of_one]), dtype=np.float64
    )


def _non_negative(columns: Array, scale: Array, target: Array) -> Array:
    """Return non-negative coefficients of the three columns, over `scale`, that come closest to `target`.

    Tries the seven subsets of free coefficients and takes the best one without a negative coefficient.
    """
    scaled = columns / scale[:, None, :]
    size = np.sqrt((scaled**2).sum(axis=2))
    scaled = scaled / size[:, :, None]
    squares, products = scaled @ scaled.transpose(0, 2, 1), np.einsum("fcl,fl->fc", scaled, target)
    best, least = np.zeros_like(products), np.full(len(products), np.inf)
    for free in _FREE:
        reduced = np.where(np.outer(free, free), squares, 0.0) + np.diag(np.where(free, _RIDGE, 1.0))
        solution = np.linalg.solve(reduced, np.where(free, products, 0.0)[:, :, None])[:, :, 0]
        loss = np.einsum("fc,fcd,fd->f", solution, squares, solution) - 2 * np.einsum("fc,fc->f", solution, products)
        better = (solution >= 0).all(axis=1) & (loss < least)
        best[better], least[better] = solution[better], loss[better]
    best[:, 0] += np.where(best[:, :2].any(axis=1), 0.0, _NOTHING)  # keeps the rate of one finite
    return np.asarray(best / size, dtype=np.float64)


def _is_noise(table: Array, deviations: Array) -> bool:
    """Return whether noise explains the distances of the levels from the law: a lack-of-fit F test at 1 %."""
    from scipy import special

    n, levels = table.shape
    pure_error = float(((table - table.mean(axis=0)) ** 2).sum()) / (levels * (n - 1))
    lack_freedom = levels - 3
    if pure_error <= 0:
        return bool(np.abs(deviations).max() < 1e-9)
    return bool(
        special.fdtrc(lack_freedom, levels * (n - 1), n * float(deviations @ deviations) / lack_freedom / pure_error)
        >= 0.01
    )
