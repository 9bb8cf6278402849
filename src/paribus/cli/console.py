"""A console on which control characters are visible."""

import errno
import os
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from paribus.cli.terminal import visible


class VisibleConsole(Console):
    """A console that escapes control characters in everything it renders, except its own colour codes."""

    def on_broken_pipe(self) -> None:
        """Raise BrokenPipeError, so that it is handled as any other output error."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Segments of the rendered content, with control characters escaped."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=visible(segment.text))
