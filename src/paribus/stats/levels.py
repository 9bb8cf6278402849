"""Effects per load level: means, the F test of equality, shrunk estimates (judging procedure, "Thread levels").

Inputs: pair differences `d` (n,), their orders (n,), and the index of each pair's level (n,), from 0.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paribus.stats.huber import Array, Regression, least_squares


@dataclass(frozen=True, slots=True)
class LevelMeans:
    """The effect at each level, the equal-weight mean, and the variation between levels.

    Attributes:
        estimates: Effect at each level, shape (levels,), log ratios.
        errors: Their standard errors, shape (levels,).
        mean: Equal-weight mean of the estimates.
        mean_error: Its standard error.
        freedom: Residual degrees of freedom.
        p_equal: p value of the F test of equal effects; 1 where there is nothing to test.
        between: Variance of the true effects over the levels: the excess over noise, never negative.
    """

    estimates: Array
    errors: Array
    mean: float
    mean_error: float
    freedom: int
    p_equal: float
    between: float

    def shrunk(self) -> Array:
        """Return the estimates shrunk towards their mean, shape (levels,).

        The weight of an estimate is `between / (between + error**2)` (judging procedure, "Thread levels").
        """
        if self.between == 0:
            return np.full_like(self.estimates, self.mean)
        share = self.between / (self.between + self.errors**2)
        shrunk: Array = self.mean + (self.estimates - self.mean) * share
        return shrunk


def design(order: Array, other_load: Array | None = None) -> Array:
    """Return the design matrix of an effect, an order effect and the influence of other load.

    Args:
        order: +1 or -1 for each pair, shape (n,).
        other_load: Difference of a pair's trials in the load of other processes, shape (n,); None for none.

    Returns:
        Shape (n, p): a column of ones, then the order and the other load as far as they vary.
    """
    varying = [column for column in (order, other_load) if column is not None and np.ptp(column) > 0]
    return np.column_stack([np.ones_like(order), *varying])


def level_means(
    d: Array,
    order: Array,
    level: NDArray[np.intp],
    level_sd: Array | None = None,
    other_load: Array | None = None,
) -> LevelMeans | None:
    """Fit an effect for each level, one order effect and the influence of other load by least squares.

    Args:
        d: Pair differences, shape (n,), log ratios.
        order: +1 or -1 for each pair, shape (n,).
        level: Index of each pair's level, shape (n,), from 0.
        level_sd: Standard deviation of a pair at each level, up to a common factor, shape (levels,); weights the fit.
        other_load: As for `design`.

    Returns:
        The level means, or None where a level has no pair or no degree of freedom remains.
    """
    from scipy import special

    levels = int(level.max()) + 1
    counts = np.bincount(level, minlength=levels)
    if counts.min() < 1:
        return None
    weights = np.ones_like(d) if level_sd is None else 1 / level_sd[level]
    covariates = design(order, other_load)
    nuisance = covariates[:, 1:]
    dummies = (level[:, None] == np.arange(levels)).astype(float)
    full = np.column_stack([dummies, nuisance])
    if np.linalg.matrix_rank(full) < full.shape[1]:  # after lost pairs, each level may have one order only
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
        reduced = least_squares(d * weights, covariates * weights[:, None])
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
