"""Ctrl-C, SIGTERM and SIGHUP ask to stop; nothing they do cuts off the way back."""

import contextlib
import os
import signal
import time
from types import FrameType

from paribus.errors import Interrupted

_ASKING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequest:
    """Whether someone asked to stop. The first signal asks; the next are answered with patience."""

    def __init__(self) -> None:
        self._asked_at: float | None = None

    def listen(self) -> None:
        """Take over the three signals."""
        for number in _ASKING:
            signal.signal(number, self._hear)

    def asked(self) -> bool:
        """Whether to stop."""
        return self._asked_at is not None

    def release(self, words: str, todo: str) -> None:
        """From now on a signal ends the program with these words: nothing is left to be put back."""

        def end(_number: int, _frame: FrameType | None) -> None:
            raise Interrupted(words, todo)

        for number in _ASKING:
            signal.signal(number, end)

    def _hear(self, _number: int, _frame: FrameType | None) -> None:
        if self._asked_at is None:
            self._asked_at = time.monotonic()
            words = "stopping; the machine is being put back"
        else:
            waited = time.monotonic() - self._asked_at
            words = f"putting the machine back for {waited:.0f} s; this takes a few seconds and is not cut off"
        with contextlib.suppress(OSError):  # the terminal may be what is gone
            os.write(2, f"\nparibus: {words}\n".encode())
