"""One effect for all load levels, or several: level means, the test of their being equal, and shrunk estimates.

In: pair differences `d` (n,), their orders (n,) and the number of each one's level (n,), counted from 0.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paribus.stats.huber import Array, Regression, least_squares


@dataclass(frozen=True, slots=True)
class LevelMeans:
    """The effect at each level, their mean in equal shares, and how unlike they are.

    `errors` are standard errors; `p_equal` is the F test's p value, 1 where there is nothing to test; `between` is the
    variance of the true effects over the levels, so far as it exceeds noise.
    """

    estimates: Array
    errors: Array
    mean: float
    mean_error: float
    freedom: int
    p_equal: float
    between: float

    def shrunk(self) -> Array:
        """Each level's estimate drawn towards the mean, the more the less the levels differ beyond their noise."""
        if self.between == 0:
            return np.full_like(self.estimates, self.mean)
        share = self.between / (self.between + self.errors**2)
        shrunk: Array = self.mean + (self.estimates - self.mean) * share
        return shrunk


def design(order: Array) -> Array:
    """The columns of an effect and of an order effect; the latter only where the order varies."""
    ones = np.ones_like(order)
    return np.column_stack([ones, order]) if np.ptp(order) > 0 else ones[:, None]


def level_means(d: Array, order: Array, level: NDArray[np.intp], level_sd: Array | None = None) -> LevelMeans | None:
    """Fit an effect for each level and one of the order; None where too little is left to say how well.

    `level_sd` are the known standard deviations of a pair at each level, up to a factor: they weight the fit.
    """
    from scipy import special

    levels = int(level.max()) + 1
    counts = np.bincount(level, minlength=levels)
    if counts.min() < 1:
        return None
    weights = np.ones_like(d) if level_sd is None else 1 / level_sd[level]
    rest = design(order)[:, 1:]
    dummies = (level[:, None] == np.arange(levels)).astype(float)
    full = np.column_stack([dummies, rest])
    if np.linalg.matrix_rank(full) < full.shape[1]:  # so many pairs were lost that each level has one order alone
        full = dummies
    if len(d) <= full.shape[1]:
        return None
    fitted = least_squares(d * weights, full * weights[:, None])
    variances = np.diag(fitted.covariance)[:levels]
    share = np.zeros(full.shape[1])
    share[:levels] = 1 / levels
    estimates = fitted.coefficients[:levels]
    p_equal, between = 1.0, 0.0
    if levels > 1 and fitted.scale > 0:
        reduced = least_squares(d * weights, design(order) * weights[:, None])
        excess = (_squares(reduced) - _squares(fitted)) / (levels - 1)
        p_equal = float(special.fdtrc(levels - 1, fitted.freedom, excess / fitted.scale**2))
        between = max(0.0, float(np.var(estimates, ddof=1) - variances.mean()))
    return LevelMeans(
        estimates,
        np.sqrt(variances),
        float(share @ fitted.coefficients),
        float(np.sqrt(share @ fitted.covariance @ share)),
        fitted.freedom,
        p_equal,
        between,
    )


def _squares(fitted: Regression) -> float:
    return float(fitted.residuals @ fitted.residuals)
