"""A path to which a tool writes according to its options, and the refusal of one that cannot be known."""

from collections.abc import Callable
from dataclasses import dataclass

Read = Callable[[str], str]  # the text of a file on the target


@dataclass(frozen=True, slots=True)
class WrittenPath:
    """An absolute path, with the option and the value that name it; links are not resolved yet."""

    option: str
    value: str
    path: str


class PathRefused(Exception):
    """The paths of an option cannot be known, or must not be written to."""

    def __init__(self, option: str, value: str, reason: str, todo: str) -> None:
        """`todo` is the remedy."""
        super().__init__(f"{option} = {value!r} is refused: {reason}")
        self.todo = todo
