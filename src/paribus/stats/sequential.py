"""Looking more than once: boundaries of group-sequential tests by the spending of their error (Lan and DeMets 1983).

In: the share of the information at each look, and the error spent up to it. Out: for each look the critical value of a
standard normal or t statistic. An interval of that many standard errors at every look holds the truth at all of them
at once (Jennison and Turnbull 2000, chapter 9).
"""

import functools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[np.float64]

_REACH = 9.0  # standard deviations beyond which nothing lies
_NODES = 151
_PATHS = 400_000
_SEED = 20231115


def boundaries(times: Sequence[float], spent: Sequence[float], sides: int) -> tuple[float, ...]:
    """Critical values of a standard normal statistic at each look, for a test with one or two sides.

    `times` are the shares of the information, rising; `spent` is the error probability spent up to each look, of all
    sides together. Found by numerical integration of the density of what has not crossed yet (Armitage, McPherson and
    Rowe 1969). Raises ValueError where looks do not follow each other, or error would be taken back.
    """
    return _state(*_checked(times, spent), sides)[0]


def t_boundaries(units: Sequence[int], spent: Sequence[float], sides: int) -> tuple[float, ...]:
    """Critical values of the one-sample t statistic of so many units at each look, from 2 on.

    For few units a normal boundary carried over to the t distribution spends up to a fifth too much. These are
    quantiles of simulated paths, always the same ones. Raises ValueError like `boundaries`.
    """
    if not units or units[0] < 2:
        raise ValueError("a t statistic needs two units")
    counts, errors = _checked(units, spent)
    return _t_critical(tuple(int(count) for count in counts), errors, sides)


def tail(critical: float) -> float:
    """The probability beyond a value of the standard normal distribution, on one side."""
    return float(special.ndtr(-critical))


def t_tail(critical: float, freedom: int) -> float:
    """The probability beyond a value of the t distribution, on one side."""
    return float(special.stdtr(freedom, -critical))


def t_beyond(probability: float, freedom: int) -> float:
    """The value of the t distribution beyond which lies so much, on one side."""
    return -float(special.stdtrit(freedom, probability))


def _checked(times: Sequence[float], spent: Sequence[float]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    for values, what in ((times, "look"), (spent, "error spent")):
        if not all(0 < a < b for a, b in zip((0.5 * values[0], *values), values, strict=False)):
            raise ValueError(f"each {what} must be later than the one before: {list(values)}")
    if len(times) != len(spent) or spent[-1] >= 1:
        raise ValueError(f"{len(times)} looks cannot spend {list(spent)}")
    return tuple(map(float, times)), tuple(map(float, spent))


@functools.lru_cache(maxsize=4096)
def _state(times: tuple[float, ...], spent: tuple[float, ...], sides: int) -> tuple[tuple[float, ...], Array, Array]:
    """The boundaries, and where a path is that has not crossed: places of the score, and probability at each."""
    if not times:
        return (), np.zeros(1), np.ones(1)
    earlier, places, masses = _state(times[:-1], spent[:-1], sides)
    now, step = times[-1], np.sqrt(times[-1] - (times[-2] if earlier else 0.0))
    wanted = spent[-1] - (spent[-2] if earlier else 0.0)

    def crossing(critical: float) -> float:
        bound = critical * np.sqrt(now)
        beyond = special.ndtr((places - bound) / step)
        if sides == 2:
            beyond = beyond + special.ndtr((-bound - places) / step)
        return float(masses @ beyond)

    low, high = 0.0 if sides == 2 else -_REACH, _REACH
    while high - low > 1e-10:
        middle = (low + high) / 2
        low, high = (middle, high) if crossing(middle) > wanted else (low, middle)
    critical = (low + high) / 2
    nodes, weights = _rule()
    top = critical * np.sqrt(now)
    bottom = -top if sides == 2 else -_REACH * np.sqrt(now)
    half = (top - bottom) / 2
    inside = (top + bottom) / 2 + half * nodes
    density = np.exp(-0.5 * ((inside[:, None] - places) / step) ** 2) @ masses / (step * np.sqrt(2 * np.pi))
    return (*earlier, critical), inside, density * weights * half


@functools.cache
def _rule() -> tuple[Array, Array]:
    """Gauss-Legendre nodes and weights on [-1, 1]."""
    return np.polynomial.legendre.leggauss(_NODES)


@functools.lru_cache(maxsize=256)
def _t_critical(units: tuple[int, ...], spent: tuple[float, ...], sides: int) -> tuple[float, ...]:
    rng = np.random.default_rng(_SEED)
    sums, squares = np.zeros(_PATHS), np.zeros(_PATHS)
    inside = np.ones(_PATHS, dtype=bool)
    found: list[float] = []
    done = 0
    for n, total in zip(units, spent, strict=True):
        for _ in range(n - done):
            drawn = rng.standard_normal(_PATHS)
            sums += drawn
            squares += drawn * drawn
        done = n
        mean = sums / n
        statistic = mean / np.sqrt(np.maximum(squares / n - mean * mean, 1e-300) / (n - 1))
        if sides == 2:
            np.abs(statistic, out=statistic)
        crossed = round(total * _PATHS) - int(_PATHS - inside.sum())
        left = np.sort(statistic[inside])
        critical = float(left[-max(crossed, 1)])
        found.append(critical)
        inside &= statistic < critical
    return tuple(found)
