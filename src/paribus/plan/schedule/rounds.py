"""Sizes of rounds and of looks, in blocks."""

_BLOCKS_PER_ROUND = 8
SPLIT_BLOCKS_PER_ROUND = 4
"""Blocks whose applications hold for several trials: each has one of every arm."""


def passes_per_round(levels: int) -> int:
    """Returns the least even number of passes over the load levels that makes at least eight blocks."""
    passes = 2
    while passes * levels < _BLOCKS_PER_ROUND:
        passes += 2
    return passes


def pairs_per_round(levels: int) -> int:
    """Returns the pairs of one arm in a round over `levels` load levels."""
    return passes_per_round(levels) * levels


def blocks_per_look(levels: int) -> int:
    """Returns the blocks between two looks at a comparison: a round, or a pass if it has at least eight blocks."""
    return levels if levels >= _BLOCKS_PER_ROUND else pairs_per_round(levels)
