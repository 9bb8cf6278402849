"""The effects of many two-valued factors, from pairs of a setting of all of them and its mirror image."""

import numpy as np

from paribus.stats.huber import Array, Regression, huber


def fit(d: Array, settings: Array, order: Array) -> Regression:
    """Fit the effect of every factor, and last that of the order, to differences `d` (n,) between a row of `settings`
    (n, k) and its mirror.

    `order` (n,) is +1 where the mirror was tried first, else -1. Raises ValueError for too few pairs.
    """
    return huber(d, np.column_stack([settings, order]))
