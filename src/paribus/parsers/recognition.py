"""Recognition of a tool's output by its wording, which stands at the ends of a long file."""

from collections.abc import Iterable

_END_CHARACTERS = 16384


def ends_of(text: str) -> str:
    """Return the beginning and the end of a text."""
    return text if len(text) <= 2 * _END_CHARACTERS else text[:_END_CHARACTERS] + text[-_END_CHARACTERS:]


def score(text: str, signs: Iterable[tuple[str, float]], highest: float = 0.96) -> float:
    """Return the sum of the scores of all signs that are in the ends of a text, at most `highest`."""
    ends = ends_of(text)
    return min(highest, sum(points for sign, points in signs if sign in ends))
