"""A console on which control characters are visible."""

import errno
import os
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from paribus.cli.terminal import visible


class VisibleConsole(Console):
    """A console that makes control characters of everything it renders visible; its own, for colours, stay."""

    def on_broken_pipe(self) -> None:
        """Nobody reads on: an error like any other of an output, not the end of the program."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of what is shown."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=visible(segment.text))
