"""How many blocks a round has, and after how many a comparison is looked at."""

from ceteris.stats.foldover import rows_for

_BLOCKS_PER_ROUND = 8
APPLICATIONS_PER_ROUND = 4
"""Blocks of a round, where each is of applications that hold for several trials."""


def passes_per_round(levels: int) -> int:
    """The least even number of passes over the load levels that makes at least eight blocks."""
    passes = 2
    while passes * levels < _BLOCKS_PER_ROUND:
        passes += 2
    return passes


def pairs_per_round(levels: int) -> int:
    """Pairs of one arm in a round over so many load levels."""
    return passes_per_round(levels) * levels


def blocks_per_look(levels: int) -> int:
    """The blocks after which a comparison is looked at: a round, or where a single pass has eight blocks, a pass."""
    return levels if levels >= _BLOCKS_PER_ROUND else pairs_per_round(levels)


def least_screen(factors: int) -> int:
    """The pairs that a screen of so many factors has at least: two replicates of its design."""
    return 2 * rows_for(factors)
