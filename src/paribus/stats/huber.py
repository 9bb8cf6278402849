"""Huber regression, iterated to convergence (judging procedure, "Across trials").

The estimator of pair effects and of screens. The numbers equal those of
`RLM(y, x, M=HuberT(2.25)).fit(cov="H1")` of statsmodels.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

TUNING = 2.25  # residuals beyond this many scales get less weight
MAD_OF_NORMAL = 0.6744897501960817  # the upper quartile of the normal distribution
_MOST_STEPS = 200
_TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True)
class Regression:
    """A fitted regression; its first coefficient is the effect.

    Attributes:
        coefficients: Shape (p,).
        covariance: Covariance of the coefficients, shape (p, p).
        residuals: Shape (n,).
        scale: Robust (Huber) or ordinary (least squares) standard deviation of the residuals.
        freedom: Degrees of freedom, n - p.
    """

    coefficients: Array
    covariance: Array
    residuals: Array
    scale: float
    freedom: int

    @property
    def estimate(self) -> float:
        """The first coefficient."""
        return float(self.coefficients[0])

    @property
    def error(self) -> float:
        """Standard error of the first coefficient."""
        return float(np.sqrt(self.covariance[0, 0]))

    @property
    def influence(self) -> Array:
        """Contribution of each residual to a Huber estimate, in which outliers are cut off, shape (n,)."""
        if self.scale == 0:
            return self.residuals
        standard = self.residuals / self.scale
        share = float((np.abs(standard) <= TUNING).mean())
        return np.asarray(self.scale / share * np.clip(standard, -TUNING, TUNING), dtype=np.float64)

    @property
    def residual_sd(self) -> float:
        """Standard deviation of the residuals, outliers included."""
        return float(np.sqrt(self.residuals @ self.residuals / self.freedom))


def huber(y: Array, x: Array) -> Regression:
    """Fit Huber's M-estimate with the median absolute residual as scale (Huber and Ronchetti 2009, 7.6 and 7.8).

    Falls back to least squares where the scale is zero: more than half of the residuals vanish.

    Args:
        y: Responses, shape (n,).
        x: Design matrix of full rank, shape (n, p), n > p.

    Returns:
        The regression, with t tests on n - p degrees of freedom.

    Raises:
        ValueError: No degree of freedom (n <= p).

    Example:
        >>> d = np.array([0.01, 0.02, 0.03, 0.02, -0.50])
        >>> fitted = huber(d, np.ones((5, 1)))
        >>> round(fitted.estimate, 3)
        0.015
    """
    n, p = x.shape
    if n <= p:
        raise ValueError(f"{n} values do not determine {p} coefficients and an error")
    inverse = np.linalg.inv(x.T @ x)
    coefficients: Array = inverse @ (x.T @ y)
    residuals = y - x @ coefficients
    scale = _scale(residuals)
    rounding_error = float(np.abs(y).max()) * 1e-12
    if scale <= rounding_error:
        return least_squares(y, x)
    for _ in range(_MOST_STEPS):
        previous = coefficients
        weights = TUNING / np.maximum(np.abs(residuals) / scale, TUNING)
        weighted = x * weights[:, None]
        coefficients = np.asarray(np.linalg.solve(weighted.T @ x, weighted.T @ y), dtype=np.float64)
        residuals = y - x @ coefficients
        scale = _scale(residuals)
        if scale <= rounding_error:
            return least_squares(y, x)
        if float(np.abs(coefficients - previous).max()) <= _TOLERANCE * scale:
            break
    standard = residuals / scale
    inside = np.abs(standard) <= TUNING
    share = float(inside.mean())
    correction = 1 + p / n * (1 - share) / share  # variance of the 0/1 indicators over their squared mean
    psi = np.clip(standard, -TUNING, TUNING)
    variance = (correction * scale / share) ** 2 * float(psi @ psi) / (n - p)
    return Regression(coefficients, variance * inverse, residuals, scale, n - p)


def least_squares(y: Array, x: Array) -> Regression:
    """Fit ordinary least squares.

    Args:
        y: Responses, shape (n,).
        x: Design matrix of full rank, shape (n, p), n > p.

    Returns:
        The regression; its scale is the residual standard deviation.
    """
    n, p = x.shape
    inverse = np.linalg.inv(x.T @ x)
    coefficients = inverse @ (x.T @ y)
    residuals = y - x @ coefficients
    variance = float(residuals @ residuals) / (n - p)
    return Regression(coefficients, variance * inverse, residuals, float(np.sqrt(variance)), n - p)


def _scale(residuals: Array) -> float:
    ordered = np.sort(np.abs(residuals))  # `np.median` takes several times as long for so few
    n = len(ordered)
    return float(ordered[(n - 1) // 2] + ordered[n // 2]) / 2 / MAD_OF_NORMAL
