"""Long waits for a machine, reported to a person."""

import time
from collections.abc import Callable

Report = Callable[[str], None]
_EVERY_S = 15.0


class Wait:
    """A wait for `subject`, reported every 15 s."""

    def __init__(self, subject: str, report: Report) -> None:
        self._subject = subject
        self._report = report
        self.restart()

    def restart(self) -> None:
        """Restart the wait: something was received, or sent."""
        self._began = time.monotonic()
        self._due_s = _EVERY_S

    def report(self) -> None:
        """Report the time waited, where that is due."""
        waited_s = time.monotonic() - self._began
        if waited_s >= self._due_s:
            self._due_s = waited_s + _EVERY_S
            self._report(f"waiting for {self._subject}: {waited_s:.0f} s")
