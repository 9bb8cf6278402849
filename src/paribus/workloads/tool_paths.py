"""A path that a tool's options have it write to, and the refusal of one that cannot be known."""

from collections.abc import Callable
from dataclasses import dataclass

Read = Callable[[str], str]  # the text of a file on the target


@dataclass(frozen=True, slots=True)
class WrittenPath:
    """An absolute path, with the option and the value that name it; links are not followed yet."""

    option: str
    value: str
    path: str


class PathRefused(Exception):
    """What an option's value writes to cannot be known, or must not be written to."""

    def __init__(self, option: str, value: str, why: str, todo: str) -> None:
        """`todo`: what to do about it."""
        super().__init__(f"{option} = {value!r} is refused: {why}")
        self.todo = todo
