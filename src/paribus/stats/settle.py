"""How long a load needs to settle, from one long run: numbers in, seconds out."""

import math

import numpy as np

from paribus.stats.huber import Array
from paribus.stats.pairs import CannotJudge
from paribus.stats.within import effective_size

_SHARE_OF_MARGIN = 0.1  # of the margin, that settling may leave in a trial
_CHANCE = 0.01
_LONGEST = 6  # time constants at least that a run must hold to show its end's level


def mser5(series: Array) -> int:
    """How many values at the beginning to discard, so that the mean of the rest is known best.

    Means of five values each are cut where the variance of the rest over the square of its number is least, in the
    first half (White, Cobb and Spratt 2000). Raises CannotJudge for fewer than 20 values.
    """
    batches = len(series) // 5
    if batches < 4:
        raise CannotJudge(f"{len(series)} values are too few to see a beginning")
    means = series[: batches * 5].reshape(batches, 5).mean(axis=1)
    left = [means[cut:] for cut in range(batches // 2 + 1)]
    errors = [float(((rest - rest.mean()) ** 2).sum()) / len(rest) ** 2 for rest in left]
    return 5 * int(np.argmin(errors))


def time_constant(log_series: Array, step_s: float) -> tuple[float, float]:
    """The time constant in seconds of an exponential approach to the end's level, and its depth at the start.

    `log_series` are logarithms of rates, one each `step_s`; the depth is a log ratio, positive where it starts low.
    Zero and zero where nothing of the kind is seen: the fit does not explain significantly more than a constant.
    Raises CannotJudge for fewer than 20 values, and where the end's level is not reached in them.
    """
    from scipy import optimize, special

    n = len(log_series)
    if n < 20:
        raise CannotJudge(f"{n} values are too few to see a beginning")
    at = (np.arange(n) + 0.5) * step_s

    def left(log_tau: float) -> tuple[float, Array]:
        x = np.column_stack([np.ones(n), -np.exp(-at / math.exp(log_tau))])
        found, *_ = np.linalg.lstsq(x, log_series, rcond=None)
        residuals = log_series - x @ found
        return float(residuals @ residuals), found

    bounds = (math.log(step_s), math.log(n * step_s / _LONGEST))
    grid = np.linspace(*bounds, 25)
    start = grid[int(np.argmin([left(g)[0] for g in grid]))]
    width = grid[1] - grid[0]
    best = optimize.minimize_scalar(lambda g: left(g)[0], bounds=(start - width, start + width), method="bounded")
    squares, coefficients = left(float(best.x))
    tau_s = math.exp(float(best.x))
    centred = log_series - log_series.mean()
    gained = float(centred @ centred) - squares
    if squares > 0:
        residuals = log_series - coefficients[0] + coefficients[1] * np.exp(-at / tau_s)
        freedom = max(effective_size(residuals) - 3, 2.0)
        if float(special.fdtrc(2, freedom, gained / 2 / (squares / freedom))) > _CHANCE:
            return 0.0, 0.0
    if gained > 0 and tau_s > 0.95 * math.exp(bounds[1]):
        raise CannotJudge("the run is too short to show where it settles, or something else changed meanwhile")
    return (tau_s, float(coefficients[1])) if gained > 0 else (0.0, 0.0)


def settle_s(tau_s: float, depth: float, trial_s: float, margin: float) -> float:
    """The time to discard, so that what is left of settling moves a trial's mean by a tenth of the margin at most.

    The mean of `depth * exp(-t / tau)` over a trial that begins after the settle time is at most `depth * tau / trial`
    times `exp(-settle / tau)`.
    """
    left = abs(depth) * tau_s / (trial_s * _SHARE_OF_MARGIN * margin) if tau_s > 0 else 0.0
    return tau_s * math.log(left) if left > 1 else 0.0
