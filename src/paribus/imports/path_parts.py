"""Parts of file names: the words, numbers, times and signs by which the names of several files differ.

In: names of files or folders of one form. Out: their parts, position by position.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_DAY = r"(?:(?:19|20)\d\d-?[01]\d-?[0-3]\d|[0-3]\d-?[0-3]\d-?(?:19|20)\d\d)"
_TIME = rf"(?<!\d){_DAY}(?:[T_-]?[0-2]\d[:.-]?[0-5]\d(?:[:.-]?[0-5]\d)?)?(?!\d)"
_PIECE = re.compile(rf"(?P<time>{_TIME})|(?P<piece>(?<!\.)[^\W\d_]*\d+(?:\.\d+)+(?![^\W_])|[^\W_]+)|(?P<sign>[\W_])")
_INNER = re.compile(r"(?P<number>\d+(?:\.\d+)*)|(?P<word>[^\W\d_]+)|(?P<other>.)")


@dataclass(frozen=True, slots=True)
class NamePart:
    """A part of the names of several files: its kind, and its text in each of them.

    Kinds: time, number, word, sign, and folder for a whole name.
    """

    kind: str
    texts: tuple[str, ...]

    @property
    def is_constant(self) -> bool:
        """Whether all names have the same text."""
        return len(set(self.texts)) == 1


def pieces_of(name: str) -> list[str]:
    """Return the letters and digits between the signs and times of a name."""
    return [text for kind, text in _pieces(name) if kind == "piece"]


def form_of(name: str) -> tuple[str, ...]:
    """Return the form of a name: its signs, and the kinds of the pieces between them."""
    return tuple(text if kind == "sign" else kind for kind, text in _pieces(name))


def has_time(name: str) -> bool:
    """Return whether a part of a name is a date or a time."""
    return "time" in form_of(name)


def parts_of(names: Sequence[str]) -> list[NamePart]:
    """Return the parts of names of one form; words and numbers of a piece apart where all names have the same ones."""
    parts: list[NamePart] = []
    for pieces in zip(*map(_pieces, names), strict=True):
        kind, texts = pieces[0][0], tuple(text for _kind, text in pieces)
        inner = [[(match.lastgroup or "", match[0]) for match in _INNER.finditer(text)] for text in texts]
        kinds = {tuple(kind for kind, _text in each) for each in inner}
        if kind != "piece" or len(kinds) > 1:
            parts.append(NamePart("word" if kind == "piece" else kind, texts))
            continue
        for inner_kind, *each in zip(*kinds, *([text for _kind, text in each] for each in inner), strict=True):
            parts.append(NamePart(inner_kind, tuple(each)))
    return parts


def _pieces(name: str) -> Iterator[tuple[str, str]]:
    return ((match.lastgroup or "", match[0]) for match in _PIECE.finditer(name))
