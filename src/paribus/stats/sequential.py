"""Boundaries of group-sequential tests by alpha spending (Lan and DeMets 1983; judging procedure, "Across trials").

An interval of that many standard errors at every look holds the true value at all looks at once (Jennison and Turnbull
2000, chapter 9).
"""

import functools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[np.float64]

_REACH = 9.0  # standard deviations that bound the integration
_NODES = 151
_PATHS = 400_000
_SEED = 20231115


def boundaries(times: Sequence[float], spent: Sequence[float], sides: int) -> tuple[float, ...]:
    """Return critical values of a standard normal statistic at each look.

    Computed by numerical integration of the density of paths that have not crossed (Armitage, McPherson and Rowe 1969).

    Args:
        times: Information at each look, rising; only proportions matter.
        spent: Error probability spent up to each look, all sides together, rising.
        sides: 1 or 2.

    Returns:
        One critical value per look.

    Raises:
        ValueError: `times` or `spent` does not rise, or the lengths differ.

    Example:
        >>> [round(critical, 3) for critical in boundaries([0.5, 1.0], [0.025, 0.05], 2)]
        [2.241, 2.125]
    """
    return _state(*_checked(times, spent), sides)[0]


def t_boundaries(units: Sequence[int], spent: Sequence[float], sides: int) -> tuple[float, ...]:
    """Return critical values of the one-sample t statistic at each look.

    Quantiles of simulated paths with a fixed seed. For few units, a normal boundary converted to the t distribution
    spends up to a fifth too much (judging procedure, "Cost of applying the knob").

    Args:
        units: Number of units at each look, rising, from 2.
        spent: Error probability spent up to each look, all sides together, rising.
        sides: 1 or 2.

    Returns:
        One critical value per look.

    Raises:
        ValueError: Fewer than 2 units at the first look, or as `boundaries`.
    """
    if not units or units[0] < 2:
        raise ValueError("a t statistic needs two units")
    counts, errors = _checked(units, spent)
    return _t_critical(tuple(int(count) for count in counts), errors, sides)


def tail(critical: float) -> float:
    """Return the one-sided tail probability of the standard normal distribution beyond a critical value."""
    return float(special.ndtr(-critical))


def t_tail(critical: float, freedom: int) -> float:
    """Return the one-sided tail probability of the t distribution beyond a critical value."""
    return float(special.stdtr(freedom, -critical))


def t_beyond(probability: float, freedom: int) -> float:
    """Return the critical value of the t distribution with this one-sided tail probability."""
    return -float(special.stdtrit(freedom, probability))


def _checked(times: Sequence[float], spent: Sequence[float]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    for values, name in ((times, "look"), (spent, "error spent")):
        if not all(0 < earlier < later for earlier, later in zip((0.5 * values[0], *values), values, strict=False)):
            raise ValueError(f"each {name} must be later than the one before: {list(values)}")
    if len(times) != len(spent) or spent[-1] >= 1:
        raise ValueError(f"{len(times)} looks cannot spend {list(spent)}")
    return tuple(map(float, times)), tuple(map(float, spent))


@functools.lru_cache(maxsize=4096)
def _state(times: tuple[float, ...], spent: tuple[float, ...], sides: int) -> tuple[tuple[float, ...], Array, Array]:
    """Return boundaries, and the paths that have not crossed: their scores (nodes,) and probabilities (nodes,)."""
    if not times:
        return (), np.zeros(1), np.ones(1)
    critical_values, scores, probabilities = _state(times[:-1], spent[:-1], sides)
    now, step = times[-1], np.sqrt(times[-1] - (times[-2] if critical_values else 0.0))
    to_spend = spent[-1] - (spent[-2] if critical_values else 0.0)

    def crossing(critical: float) -> float:
        bound = critical * np.sqrt(now)
        beyond = special.ndtr((scores - bound) / step)
        if sides == 2:
            beyond = beyond + special.ndtr((-bound - scores) / step)
        return float(probabilities @ beyond)

    low, high = 0.0 if sides == 2 else -_REACH, _REACH
    while high - low > 1e-10:
        middle = (low + high) / 2
        low, high = (middle, high) if crossing(middle) > to_spend else (low, middle)
    critical = (low + high) / 2
    nodes, weights = _rule()
    top = critical * np.sqrt(now)
    bottom = -top if sides == 2 else -_REACH * np.sqrt(now)
    half = (top - bottom) / 2
    inside = (top + bottom) / 2 + half * nodes
    density = np.exp(-0.5 * ((inside[:, None] - scores) / step) ** 2) @ probabilities / (step * np.sqrt(2 * np.pi))
    return (*critical_values, critical), inside, density * weights * half


@functools.cache
def _rule() -> tuple[Array, Array]:
    """Return Gauss-Legendre nodes and weights on [-1, 1]."""
    return np.polynomial.legendre.leggauss(_NODES)


@functools.lru_cache(maxsize=256)
def _t_critical(units: tuple[int, ...], spent: tuple[float, ...], sides: int) -> tuple[float, ...]:
    rng = np.random.default_rng(_SEED)
    sums, squares = np.zeros(_PATHS), np.zeros(_PATHS)
    inside = np.ones(_PATHS, dtype=bool)
    critical_values: list[float] = []
    units_drawn = 0
    for n, total in zip(units, spent, strict=True):
        for _ in range(n - units_drawn):
            drawn = rng.standard_normal(_PATHS)
            sums += drawn
            squares += drawn * drawn
        units_drawn = n
        mean = sums / n
        statistic = mean / np.sqrt(np.maximum(squares / n - mean * mean, 1e-300) / (n - 1))
        if sides == 2:
            np.abs(statistic, out=statistic)
        crossed = round(total * _PATHS) - int(_PATHS - inside.sum())
        inside_statistics = np.sort(statistic[inside])
        critical = float(inside_statistics[-max(crossed, 1)])
        critical_values.append(critical)
        inside &= statistic < critical
    return tuple(critical_values)
