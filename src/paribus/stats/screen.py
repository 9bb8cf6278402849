"""Effects of many two-valued factors, from pairs of a setting and its mirror image (foldover)."""

import numpy as np

from paribus.stats.huber import Array, Regression, huber


def fit(d: Array, settings: Array, order: Array) -> Regression:
    """Fit the effect of every factor and of the run order by Huber regression.

    Args:
        d: Log ratios of a row of settings to its mirror image, shape (n,).
        settings: Levels +1 and -1 of the k factors in each row, shape (n, k).
        order: +1 where the mirror image ran first, else -1, shape (n,).

    Returns:
        A regression with k + 1 coefficients; the last is the order effect.

    Raises:
        ValueError: Fewer pairs than coefficients.
    """
    return huber(d, np.column_stack([settings, order]))
