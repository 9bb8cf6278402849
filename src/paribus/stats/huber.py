"""Robust regression: Huber's M-estimate, iterated to convergence.

In: responses `y` of shape (n,) and a design matrix `x` of shape (n, p). Called for the effect of pairs and for screens.
The numbers are those of `RLM(y, x, M=HuberT(2.25)).fit(cov="H1")` of statsmodels.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

TUNING = 2.25  # residuals further out than so many scales weigh less
_MAD_OF_NORMAL = 0.6744897501960817  # the upper quartile of the normal distribution
_MOST_STEPS = 200
_TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True)
class Regression:
    """Coefficients of shape (p,), their covariance (p, p), residuals (n,), their scale, and degrees of freedom.

    The first coefficient is the one asked for: `estimate`, with `error` as its standard error.
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
        """Its standard error."""
        return float(np.sqrt(self.covariance[0, 0]))

    @property
    def residual_sd(self) -> float:
        """The standard deviation of the residuals, outliers and all."""
        return float(np.sqrt(self.residuals @ self.residuals / self.freedom))


def huber(y: Array, x: Array) -> Regression:
    """Huber's M-estimate with the median absolute residual as scale (Huber and Ronchetti 2009, 7.6 and 7.8).

    Where more than half of the residuals are nothing there is no such scale, and the answer is that of least squares.
    Raises ValueError without a degree of freedom.
    """
    n, p = x.shape
    if n <= p:
        raise ValueError(f"{n} values do not determine {p} coefficients and an error")
    inverse = np.linalg.inv(x.T @ x)
    coefficients: Array = inverse @ (x.T @ y)
    residuals = y - x @ coefficients
    scale = _scale(residuals)
    noise = float(np.abs(y).max()) * 1e-12
    if scale <= noise:
        return least_squares(y, x)
    for _ in range(_MOST_STEPS):
        before = coefficients
        weights = TUNING / np.maximum(np.abs(residuals) / scale, TUNING)
        weighted = x * weights[:, None]
        coefficients = np.asarray(np.linalg.solve(weighted.T @ x, weighted.T @ y), dtype=np.float64)
        residuals = y - x @ coefficients
        scale = _scale(residuals)
        if scale <= noise:
            return least_squares(y, x)
        if float(np.abs(coefficients - before).max()) <= _TOLERANCE * scale:
            break
    standard = residuals / scale
    inside = np.abs(standard) <= TUNING
    share = float(inside.mean())
    correction = 1 + p / n * (1 - share) / share  # the variance of 0/1 values over their mean squared
    psi = np.clip(standard, -TUNING, TUNING)
    variance = (correction * scale / share) ** 2 * float(psi @ psi) / (n - p)
    return Regression(coefficients, variance * inverse, residuals, scale, n - p)


def least_squares(y: Array, x: Array) -> Regression:
    """Ordinary least squares, with the residual standard deviation as scale."""
    n, p = x.shape
    inverse = np.linalg.inv(x.T @ x)
    coefficients = inverse @ (x.T @ y)
    residuals = y - x @ coefficients
    variance = float(residuals @ residuals) / (n - p)
    return Regression(coefficients, variance * inverse, residuals, float(np.sqrt(variance)), n - p)


def _scale(residuals: Array) -> float:
    return float(np.median(np.abs(residuals))) / _MAD_OF_NORMAL
