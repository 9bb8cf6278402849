"""Many two-valued factors at once: each pair compares a setting of all of them with its mirror image.

Rows of a Hadamard matrix say which factors are high (+1) and low (-1) in one trial of a pair; in the other all are
turned round. So load level, drift and every interaction of two factors are alike in both trials and cancel, and every
factor is estimated from every pair (Plackett and Burman 1946, with foldover).
"""

from dataclasses import dataclass

import numpy as np

from ceteris.stats.huber import Array, huber

LEAST_ROWS = 32


@dataclass(frozen=True, slots=True)
class Effects:
    """The effect of each factor (k,), their standard errors (k,), degrees of freedom, and residuals of the pairs."""

    estimates: Array
    errors: Array
    freedom: int
    residuals: Array
    scale: float


def rows_for(factors: int) -> int:
    """Pairs of one replicate: the least power of two with a column for each factor and one to spare, at least 32."""
    rows = LEAST_ROWS
    while rows <= factors:
        rows *= 2
    return rows


def replicate(factors: int, rng: np.random.Generator) -> Array:
    """One replicate of the design, (rows, factors) of +1 and -1; columns, signs and rows are drawn anew each time."""
    from scipy.linalg import hadamard

    rows = rows_for(factors)
    columns = rng.permutation(rows)[:factors]
    signs = rng.choice([-1.0, 1.0], factors)
    drawn: Array = hadamard(rows).astype(float)[rng.permutation(rows)][:, columns] * signs
    return drawn


def effects(d: Array, settings: Array, order: Array) -> Effects:
    """Fit the effect of every factor to differences `d` (n,) between a row of `settings` (n, k) and its mirror.

    `order` (n,) is +1 where the mirror was tried first, else -1. Raises ValueError for too few pairs.
    """
    fitted = huber(d, np.column_stack([settings, order]))
    k = settings.shape[1]
    errors = np.sqrt(np.diag(fitted.covariance)[:k])
    return Effects(fitted.coefficients[:k], errors, fitted.freedom, fitted.residuals, fitted.scale)
