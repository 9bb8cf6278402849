"""Names of the parts by which file names differ: by the words beside them.

In: the parts of the names of several files. Out: the name of a factor, `load` or `repetition`.
"""

import re
from collections.abc import Collection, Sequence

from paribus.imports.path_parts import NamePart

MOST_REPETITIONS = 20
_SIZE = re.compile(r"(?:[kmgt]i?b?|[mun]?s)", re.IGNORECASE)
_LOAD = re.compile(
    r"(?:t|th|thr|thd|thread|client|conn|connection|user|vu|worker|job|terminal|并发|线程)s?", re.IGNORECASE
)
_REPETITION = re.compile(r"(?:r|run|rep|repeat|repetition|iter|iteration|trial|round|attempt|take)s?", re.IGNORECASE)
_SIZE_NAMES = ("size", "time")
_RESERVED = {"workload", "load", "repetition", "format", "folder", "file"}


def is_size(part: NamePart, after: NamePart | None) -> bool:
    """Return whether a number has a unit after it, the same or not: 512M, 1G."""
    if part.kind != "number" or after is None or not all(map(_SIZE.fullmatch, after.texts)):
        return False
    return {text.lower() for text in after.texts} != {"t"}  # threads


def name_of(parts: Sequence[NamePart], position: int, unit: str = "") -> str:
    """Return the name of a part: the word after it if that counts threads, the word before it, or the one after.

    In a name that begins with a number, words follow their numbers.
    """
    part, begins_with_number = parts[position], parts[0].kind == "number"
    after, before = _word_after(parts, position, far=begins_with_number), _word_before(parts, position)
    if part.kind == "number" and not unit and (begins_with_number or _LOAD.fullmatch(after) or not before):
        return after or before or ("repetition" if _counts_up(part) else "variant")
    return before or (_SIZE_NAMES[unit[-1].lower() == "s"] if unit else "variant")


def _word_after(parts: Sequence[NamePart], position: int, *, far: bool) -> str:
    """Return the word right after a part, or after a sign where no other number follows it or `far`."""
    is_free = far or not any(later.kind == "number" for later in parts[position + 3 : position + 5])
    if is_free and any(sign.texts[0] in "_-" for sign in parts[position + 1 : position + 2]):
        return _word(parts[position + 2 : position + 3])  # of `_3_nodes`, but not of `-8.0-threads-16`
    return _word(parts[position + 1 : position + 2])


def _word_before(parts: Sequence[NamePart], position: int) -> str:
    """Return the word right before a part, or before a sign unless it belongs to a number before it: 8threads_1."""
    near, far, number = ([*parts[max(0, position - n) : max(0, position - n + 1)]] for n in (1, 2, 3))
    is_taken = any(part.kind == "number" for part in number)
    return _word(near) or ("" if is_taken else _word(far))


def _counts_up(part: NamePart) -> bool:
    """Whether a part counts from 0 or 1, in whole numbers."""
    if not all(map(_is_count, part.texts)):
        return False
    numbers = sorted(set(map(int, part.texts)))
    return numbers[0] in (0, 1) and numbers[-1] - numbers[0] == len(numbers) - 1 < MOST_REPETITIONS


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 10


def _word(parts: Sequence[NamePart]) -> str:
    return next((part.texts[0] for part in parts if part.kind == "word" and part.is_constant), "")


def group_name(part: NamePart, name: str, taken: Collection[str], *, states_load: bool) -> str:
    """Return the name of a group: repetition or load where it counts that and nothing else does, else a factor's.

    Args:
        part: The part that differs.
        name: What the words beside it call it.
        taken: Names of other groups.
        states_load: Whether all runs state their load.
    """
    if not name.isidentifier():
        return "variant"
    is_count = part.kind == "number" and all(map(_is_count, part.texts))
    counts_runs = _REPETITION.fullmatch(name) and (len(name) > 1 or _counts_up(part))
    if is_count and counts_runs and "repetition" not in taken:
        return "repetition"
    if is_count and _LOAD.fullmatch(name) and not states_load and "load" not in taken:
        return "load"
    return f"{name}_" if name in _RESERVED and part.kind != "folder" else name
