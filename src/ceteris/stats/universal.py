"""The Universal Scalability Law, fitted to the rates of rounds (Gunther 2007, Guerrilla Capacity Planning).

X(N) = lambda N / (1 + sigma (N - 1) + kappa N (N - 1)): lambda is the rate of one, sigma the share that waits for
something all need (contention), kappa what each costs each other (coherency). Levels are operations outstanding, rates
operations per second. Called by the analysis; knows no trials.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ceteris.stats.pairs import CannotJudge

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
    middle = table.mean(axis=0)
    found = _fit(levels, middle)
    n = len(table)
    without = np.array([_fit(levels, np.delete(table, row, axis=0).mean(axis=0), start=found) for row in range(n)])
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
        peak_at=float(np.sqrt((1 - sigma) / kappa)) if kappa > _NOTHING and sigma < 1 else None,
        miss=float(np.expm1(missed[worst])),
        miss_at=int(levels[worst]),
        holds=_is_noise(table, missed),
    )


_NOTHING = 1e-9


def _rates(levels: Array, parameters: Array) -> Array:
    one, sigma, kappa = parameters
    return np.asarray(one * levels / (1 + sigma * (levels - 1) + kappa * levels * (levels - 1)), dtype=np.float64)


def _fit(levels: Array, logs: Array, start: Array | None = None) -> Array:
    """Least squares of the logarithms, since noise is in proportion to the rate."""
    from scipy import optimize

    first = np.array([np.exp(logs[0]) / levels[0], 0.05, 1e-4]) if start is None else start
    scaled = np.array([first[0], 0.1, 1e-3])

    def missed(p: Array) -> Array:
        return np.log(_rates(levels, p * scaled)) - logs

    def slope(p: Array) -> Array:
        one, sigma, kappa = p * scaled
        shared = 1 + sigma * (levels - 1) + kappa * levels * (levels - 1)
        columns = [1 / one + 0 * levels, -(levels - 1) / shared, -levels * (levels - 1) / shared]
        return np.asarray(np.array(columns).T * scaled, dtype=np.float64)

    solved = optimize.least_squares(
        missed,
        np.maximum(first / scaled, [1e-6, 0, 0]),
        bounds=([1e-9, 0, 0], [np.inf, 10.0, np.inf]),
        jac=slope,
        x_scale="jac",
    )
    return np.asarray(solved.x * scaled, dtype=np.float64)


def _is_noise(table: Array, missed: Array) -> bool:
    """Whether the distances of the levels from the law are what their own noise explains: a test of lack of fit."""
    from scipy import special

    n, levels = table.shape
    within = float(((table - table.mean(axis=0)) ** 2).sum()) / (levels * (n - 1))
    free = levels - 3
    if within <= 0:
        return bool(np.abs(missed).max() < 1e-9)
    return bool(special.fdtrc(free, levels * (n - 1), n * float(missed @ missed) / free / within) >= 0.01)
