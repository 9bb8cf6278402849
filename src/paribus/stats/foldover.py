"""The design of a screen: rows of two-valued factors, each compared with its mirror image.

Rows of a Hadamard matrix give the factors' levels (+1 high, -1 low) in one trial of a pair; the other trial has all
signs reversed. Load level, drift and every two-factor interaction are equal in both trials and cancel. Every factor is
estimated from every pair (Plackett and Burman 1946, with foldover).
"""

import random

_LEAST_ROWS = 32


def rows_for(factors: int) -> int:
    """Return the pairs of one replicate: the smallest power of two that exceeds the number of factors, at least 32.

    Args:
        factors: Number of factors.

    Example:
        >>> rows_for(20), rows_for(40)
        (32, 64)
    """
    rows = _LEAST_ROWS
    while rows <= factors:
        rows *= 2
    return rows


def least_pairs(factors: int) -> int:
    """Return the smallest number of pairs that a screen plans: two replicates.

    Args:
        factors: Number of factors.
    """
    return 2 * rows_for(factors)


def least_valid(factors: int) -> int:
    """Return the smallest number of valid pairs that a screen is judged from: one and a half replicates.

    Args:
        factors: Number of factors.
    """
    return 3 * rows_for(factors) // 2


def replicate(factors: int, rng: random.Random) -> list[tuple[int, ...]]:
    """Return one replicate of the design, with columns, signs and row order drawn at random.

    The sign at a row and column of Sylvester's matrix is minus where their numbers share an odd number of bits.

    Args:
        factors: Number of factors, k.
        rng: Source of randomness; the same seed gives the same design.

    Returns:
        `rows_for(k)` rows of k signs, +1 or -1.
    """
    rows = rows_for(factors)
    columns = rng.sample(range(rows), factors)
    signs = [rng.choice((-1, 1)) for _ in columns]
    return [
        tuple(sign * (-1) ** (row & column).bit_count() for column, sign in zip(columns, signs, strict=True))
        for row in rng.sample(range(rows), rows)
    ]
