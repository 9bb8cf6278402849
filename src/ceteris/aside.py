"""Work that is done aside, by a process of our own: asked by pickles through its stdin, answering through its stdout.

It ends when it is let go or with us, however that is, since its stdin ends then.
"""

import pickle
import subprocess
import sys
from collections.abc import Callable
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

    def ask(self, request: Any) -> None:
        """Have it do this once it has done what it was asked before. Raises Ended."""
        assert self._process.stdin
        try:
            pickle.dump(request, self._process.stdin)
            self._process.stdin.flush()
        except OSError as error:
            raise Ended(self._process.wait()) from error

    def answer(self) -> Any:
        """What came of the earliest request that was not answered yet. Raises Ended."""
        assert self._process.stdout
        try:
            return pickle.load(self._process.stdout)  # noqa: S301  of our own process
        except (EOFError, pickle.UnpicklingError) as error:
            raise Ended(self._process.wait()) from error

    def end(self) -> None:
        """Let it go, whatever it is doing."""
        self._process.kill()
        self._process.communicate()


def serve(answer: Callable[[Any], Any]) -> None:
    """Answer what is asked until nobody asks any more."""
    while True:
        try:
            request = pickle.load(sys.stdin.buffer)  # noqa: S301  of the process that began us
        except EOFError:
            return
        pickle.dump(answer(request), sys.stdout.buffer, pickle.HIGHEST_PROTOCOL)
        sys.stdout.buffer.flush()
