"""How many blocks a round has, and after how many a comparison is looked at."""

_BLOCKS_PER_ROUND = 8
SPLIT_BLOCKS_PER_ROUND = 4
"""Where applications hold for several trials: each block has one of every arm."""


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
