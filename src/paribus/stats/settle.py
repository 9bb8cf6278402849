"""Settle time of a load, calibrated from one long run (judging procedure, "Phases")."""

import math

import numpy as np

from paribus.stats.huber import Array
from paribus.stats.pairs import CannotJudge
from paribus.stats.within import effective_size

_SHARE_OF_MARGIN = 0.1  # largest bias of a trial by settling
_ALPHA = 0.01
_TIME_CONSTANTS = 6  # that a run must hold to show its final level


def mser5(series: Array) -> int:
    """Return how many values to discard at the beginning of a series (MSER-5; White, Cobb and Spratt 2000).

    The values are averaged in batches of five. The cut, in the first half, minimises the sum of squares of the
    remaining batch means divided by the square of their number.

    Args:
        series: Values at equal steps, shape (n,), n >= 20.

    Returns:
        The number of values to discard, a multiple of 5.

    Raises:
        CannotJudge: Fewer than 20 values.
    """
    batches = len(series) // 5
    if batches < 4:
        raise CannotJudge(f"{len(series)} values are too few to see a beginning")
    means = series[: batches * 5].reshape(batches, 5).mean(axis=1)
    tails = [means[cut:] for cut in range(batches // 2 + 1)]
    errors = [float(((tail - tail.mean()) ** 2).sum()) / len(tail) ** 2 for tail in tails]
    return 5 * int(np.argmin(errors))


def time_constant(log_series: Array, step_s: float) -> tuple[float, float]:
    """Fit an exponential approach to a final level.

    Args:
        log_series: Logarithms of rates at equal steps, shape (n,), n >= 20.
        step_s: Time between values, in seconds.

    Returns:
        (time constant in seconds, depth at the start as a log ratio; positive where the series starts low). Both are
        zero where the fit explains no more than a constant does (F test at 1 %, on the effective sample size).

    Raises:
        CannotJudge: Fewer than 20 values, or a series that ends before it reaches its final level.
    """
    from scipy import optimize, special

    n = len(log_series)
    if n < 20:
        raise CannotJudge(f"{n} values are too few to see a beginning")
    seconds = (np.arange(n) + 0.5) * step_s

    def fit_at(log_tau: float) -> tuple[float, Array]:
        x = np.column_stack([np.ones(n), -np.exp(-seconds / math.exp(log_tau))])
        solution, *_ = np.linalg.lstsq(x, log_series, rcond=None)
        residuals = log_series - x @ solution
        return float(residuals @ residuals), solution

    bounds = (math.log(step_s), math.log(n * step_s / _TIME_CONSTANTS))
    grid = np.linspace(*bounds, 25)
    start = grid[int(np.argmin([fit_at(g)[0] for g in grid]))]
    width = grid[1] - grid[0]
    best = optimize.minimize_scalar(lambda g: fit_at(g)[0], bounds=(start - width, start + width), method="bounded")
    squares, coefficients = fit_at(float(best.x))
    tau_s = math.exp(float(best.x))
    centred = log_series - log_series.mean()
    explained = float(centred @ centred) - squares
    if squares > 0:
        residuals = log_series - coefficients[0] + coefficients[1] * np.exp(-seconds / tau_s)
        freedom = max(effective_size(residuals) - 3, 2.0)
        if float(special.fdtrc(2, freedom, explained / 2 / (squares / freedom))) > _ALPHA:
            return 0.0, 0.0
    if explained > 0 and tau_s > 0.95 * math.exp(bounds[1]):
        raise CannotJudge("the run is too short to show where it settles, or something else changed meanwhile")
    return (tau_s, float(coefficients[1])) if explained > 0 else (0.0, 0.0)


def settle_s(tau_s: float, depth: float, trial_s: float, margin: float) -> float:
    """Return the settle time after which settling moves a trial's mean by at most a tenth of the margin.

    Settling follows `depth * exp(-t / tau)`. Its mean over a trial after the settle time is at most
    `depth * tau / trial * exp(-settle / tau)`. The source is "Phases" of the judging procedure.

    Args:
        tau_s: Time constant in seconds.
        depth: Depth at the start, a log ratio.
        trial_s: Measured time of a trial in seconds.
        margin: Equivalence margin, a log ratio.

    Returns:
        Seconds to discard; 0 where no settling was found or its effect is already small.

    Example:
        >>> round(settle_s(10, 0.3, 60, 0.02))
        32
    """
    excess = abs(depth) * tau_s / (trial_s * _SHARE_OF_MARGIN * margin) if tau_s > 0 else 0.0
    return tau_s * math.log(excess) if excess > 1 else 0.0
