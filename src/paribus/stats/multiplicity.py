"""p values of several claims, adjusted for their number."""

from collections.abc import Sequence

import numpy as np


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return q values, which bound the false discovery rate (Benjamini and Hochberg 1995).

    Args:
        p_values: p value of each claim.

    Returns:
        q values in the same order: of the claims with a value of at most q, an expected share of at most q is false.

    Example:
        >>> benjamini_hochberg([0.01, 0.04])
        [0.02, 0.04]
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")[::-1]
    stepped = np.minimum.accumulate(p[order] * len(p) / np.arange(len(p), 0, -1)) if len(p) else p
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return [float(value) for value in adjusted]
