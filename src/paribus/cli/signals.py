"""Stop requests by Ctrl-C, SIGTERM and SIGHUP, which never interrupt the restoration of the machine."""

import contextlib
import os
import signal
import time
from collections.abc import Callable
from types import FrameType

from paribus.errors import Interrupted

_ASKING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _handle(handler: Callable[[int, FrameType | None], None]) -> None:
    for number in _ASKING:
        if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


class StopRequest:
    """A stop request by signal. The first signal requests the stop; later ones only print how long it has taken."""

    def __init__(self) -> None:
        self._asked_at: float | None = None

    def listen(self) -> None:
        """Handle the three signals, but not a hangup that nohup has ignored."""
        _handle(self._hear)

    def is_requested(self) -> bool:
        """Whether a signal has requested a stop."""
        return self._asked_at is not None

    def release(self, message: str, todo: str) -> None:
        """From now on a signal raises Interrupted with this message: there is nothing left to restore."""

        def end(_number: int, _frame: FrameType | None) -> None:
            raise Interrupted(message, todo)

        _handle(end)

    def _hear(self, _number: int, _frame: FrameType | None) -> None:
        if self._asked_at is None:
            self._asked_at = time.monotonic()
            message = "stopping; the machine is being restored"
        else:
            waited = time.monotonic() - self._asked_at
            message = f"restoring the machine for {waited:.0f} s; this takes a few seconds and is not interrupted"
        with contextlib.suppress(OSError):  # the terminal may be what is gone
            os.write(2, f"\nparibus: {message}\n".encode())
