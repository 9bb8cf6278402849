"""Effects per load level: means, the F test of equality, shrunk estimates (judging procedure, "Load levels").

Inputs: pair differences `d` (n,), their orders (n,), and the index of each pair's level (n,), from 0.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paribus.stats.huber import Array, Regression, huber, least_squares

_LEAST_AT_LEVEL = 6  # pairs: with fewer, the noise of a level is not known
_POOLED_FREEDOM = 10  # weight of the variance of all levels
_ROUNDING = 1e-12  # of the largest difference: less is no variation


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

        The weight of an estimate is `between / (between + error**2)` (judging procedure, "Load levels").
        """
        if self.between == 0:
            return np.full_like(self.estimates, self.mean)
        share = self.between / (self.between + self.errors**2)
        shrunk: Array = self.mean + (self.estimates - self.mean) * share
        return shrunk


def design(order: Array, covariates: Array | None = None) -> Array:
    """Return the design matrix of an effect, an order effect and the influence of covariates.

    Args:
        order: +1 or -1 for each pair, shape (n,).
        covariates: Other differences between a pair's trials, such as in the load of other processes, shape (n, c).

    Returns:
        Shape (n, p): a column of ones, then the order and the covariates that are no combination of columns before.
    """
    matrix = np.ones((len(order), 1))
    others = () if covariates is None else covariates.T
    for column in (order, *others):
        extended = np.column_stack([matrix, column])
        if np.linalg.matrix_rank(extended) == extended.shape[1]:
            matrix = extended
    return matrix


def level_means(
    d: Array,
    order: Array,
    level: NDArray[np.intp],
    level_sd: Array | None = None,
    covariates: Array | None = None,
) -> LevelMeans | None:
    """Fit an effect for each level, one order effect and the influence of covariates by least squares.

    Args:
        d: Pair differences, shape (n,), log ratios.
        order: +1 or -1 for each pair, shape (n,).
        level: Index of each pair's level, shape (n,), from 0.
        level_sd: Standard deviation of a pair at each level, up to a common factor, shape (levels,); weights the fit.
        covariates: As for `design`.

    Returns:
        The level means, or None where a level has no pair or no degree of freedom remains.
    """
    from scipy import special

    levels = int(level.max()) + 1
    counts = np.bincount(level, minlength=levels)
    if counts.min() < 1:
        return None
    weights = np.ones_like(d) if level_sd is None else 1 / level_sd[level]
    common = design(order, covariates)
    nuisance = common[:, 1:]
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
        reduced = least_squares(d * weights, common * weights[:, None])
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


@dataclass(frozen=True, slots=True)
class LevelContrasts:
    """Each load level beside the other levels, by robust means: an outlier does not make a level differ.

    Attributes:
        estimates: Effect at each level, shape (levels,), log ratios.
        errors: Their standard errors, shape (levels,).
        others: Mean effect of the other levels, shape (levels,), log ratios.
        other_errors: Their standard errors, shape (levels,).
        freedom: Degrees of freedom of `estimates - others`, shape (levels,).
    """

    estimates: Array
    errors: Array
    others: Array
    other_errors: Array
    freedom: Array

    @property
    def statistics(self) -> Array:
        """Difference of each level from the others in standard errors, shape (levels,)."""
        statistics: Array = (self.estimates - self.others) / np.hypot(self.errors, self.other_errors)
        return statistics

    @property
    def p_single(self) -> float:
        """Test of the level that differs most (Bonferroni)."""
        from scipy import special

        tails = special.stdtr(self.freedom, -np.abs(self.statistics))
        return min(1.0, 2 * len(tails) * float(tails.min()))


def level_contrasts(
    d: Array, order: Array, level: NDArray[np.intp], covariates: Array | None = None
) -> LevelContrasts | None:
    """Compare each level with the mean of the others, by Huber's estimate at each level.

    Levels vary differently, and one level has few pairs: its variance is averaged with that of all levels, which counts
    like 10 pairs (the moderated t test, Smyth 2004). Degrees of freedom as by Welch (1947).

    Args:
        d: Pair differences, shape (n,), log ratios.
        order: +1 or -1 for each pair, shape (n,).
        level: Index of each pair's level, shape (n,), from 0.
        covariates: As for `design`.

    Returns:
        The contrasts, or None for one level, for a level of fewer than 6 pairs, or without variation.
    """
    counts = np.bincount(level)
    levels = len(counts)
    if levels < 2 or counts.min() < _LEAST_AT_LEVEL:
        return None
    common = design(order, covariates)
    adjusted = d - common[:, 1:] @ huber(d, common).coefficients[1:]
    fits = [huber(adjusted[level == index], np.ones((count, 1))) for index, count in enumerate(counts)]
    estimates = np.array([fit.estimate for fit in fits])
    pair_variances = counts * np.array([fit.error**2 for fit in fits])
    own_freedom = counts - 1.0
    pooled = own_freedom @ pair_variances / own_freedom.sum()
    if pooled <= (_ROUNDING * np.abs(d).max()) ** 2:
        return None
    freedom = own_freedom + _POOLED_FREEDOM
    variances = (own_freedom * pair_variances + _POOLED_FREEDOM * pooled) / freedom / counts
    weights = (1 - np.eye(levels)) / (levels - 1)
    other_variances = weights**2 @ variances
    spread = variances**2 / freedom + weights**4 @ (variances**2 / freedom)
    return LevelContrasts(
        estimates,
        np.sqrt(variances),
        weights @ estimates,
        np.sqrt(other_variances),
        (variances + other_variances) ** 2 / spread,
    )


def _squares(fitted: Regression) -> float:
    return float(fitted.residuals @ fitted.residuals)
