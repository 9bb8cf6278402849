"""The design of a screen: settings of many two-valued factors, each of which is compared with its mirror image.

Rows of a Hadamard matrix say which factors are high (+1) and low (-1) in one trial of a pair; in the other all are
turned round. So load level, drift and every interaction of two factors are alike in both trials and cancel, and every
factor is estimated from every pair (Plackett and Burman 1946, with foldover).
"""

import random

_LEAST_ROWS = 32


def rows_for(factors: int) -> int:
    """Pairs of one replicate: the least power of two with a column for each factor and one to spare, at least 32."""
    rows = _LEAST_ROWS
    while rows <= factors:
        rows *= 2
    return rows


def least_pairs(factors: int) -> int:
    """The pairs that a screen plans at least: two replicates."""
    return 2 * rows_for(factors)


def least_valid(factors: int) -> int:
    """The pairs that a screen needs at least, some having been lost: one and a half replicates."""
    return 3 * rows_for(factors) // 2


def replicate(factors: int, rng: random.Random) -> list[tuple[int, ...]]:
    """One replicate of the design: rows of +1 and -1 for each factor; columns, signs and rows are drawn anew each time.

    Row and column number of Sylvester's matrix give its sign: minus where they have an odd number of bits in common.
    """
    rows = rows_for(factors)
    columns = rng.sample(range(rows), factors)
    signs = [rng.choice((-1, 1)) for _ in columns]
    return [
        tuple(sign * (-1) ** (row & column).bit_count() for column, sign in zip(columns, signs, strict=True))
        for row in rng.sample(range(rows), rows)
    ]
