"""Work that is done aside, by a process of our own: asked by pickles through its stdin, answering through its stdout.

It ends when it is let go or with us, however that is, since its stdin ends then.
"""

import pickle
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any


class Ended(Exception):
    """It ended before it answered; with its exit code."""


class Aside:
    """A process that runs a module which serves, and answers one request after another."""

    def __init__(self, module: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            process_group=0,  # what is typed to end us, we decide upon; in our session, where to be nice counts
        )

    def ask(self, request: Any) -> Any:
        """Its answer. Raises Ended."""
        assert self._process.stdin
        assert self._process.stdout
        try:
            pickle.dump(request, self._process.stdin)
            self._process.stdin.flush()
            return pickle.load(self._process.stdout)  # noqa: S301  of our own process
        except (OSError, ValueError, EOFError, pickle.UnpicklingError) as error:
            raise Ended(self._process.wait()) from error

    def end(self) -> None:
        """Let it go, whatever it is doing."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe
            with suppress(OSError):  # what was not read yet is lost
                pipe.close()


def serve(answer: Callable[[Any], Any]) -> None:
    """Answer what is asked until nobody asks any more."""
    while True:
        try:
            request = pickle.load(sys.stdin.buffer)  # noqa: S301  of the process that began us
        except EOFError:
            return
        pickle.dump(answer(request), sys.stdout.buffer, pickle.HIGHEST_PROTOCOL)
        sys.stdout.buffer.flush()
