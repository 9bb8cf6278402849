"""Waits for a condition, for tests that must not depend on how fast the machine is."""

import time
from collections.abc import Callable

_PAUSE_S = 0.01


class NotInTimeError(AssertionError):
    """A condition did not hold within the time limit."""


def wait_for(condition: Callable[[], object], what: str, timeout_s: float = 120.0) -> None:
    """Return as soon as the condition holds; raise NotInTimeError after the time limit, which is only for faults."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            raise NotInTimeError(f"{what}: not within {timeout_s:g} s")
        time.sleep(_PAUSE_S)
