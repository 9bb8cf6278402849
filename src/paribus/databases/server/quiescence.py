"""Waiting until a server is idle: no pending work is being done.

In: repeated readings of its pending work. Out: the work that is not done. A server's own settings decide how fast it
works, and some leave dirty pages for good; so work that no longer falls counts as done.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

PATIENCE_S = 60.0  # a server with more work does it while trials are measured, which the report then states
_STILL_S = 3.0  # longer than the second in which servers decide what to do next
_GLANCE_S = 0.25


@dataclass(frozen=True, slots=True)
class PendingWork:
    """An amount of pending work: negligible up to `little`; a fall by at most `stir` in some seconds is none.

    `to_the_end`: it is not done before it is negligible.
    """

    amount: float
    little: float = 0.0
    stir: float = 0.0
    to_the_end: bool = False


@dataclass(frozen=True, slots=True)
class WaitResult:
    """Duration of a wait for a server, and the work that was pending at its end."""

    waited_s: float
    busy: tuple[str, ...] = ()


ReadPending = Callable[[], Mapping[str, PendingWork]]
PendingHistory = list[tuple[float, Mapping[str, PendingWork]]]


def busy_work(history: PendingHistory) -> list[str]:
    """The work in progress by the readings so far, each with its time in seconds, the last one now."""
    now_s, last = history[-1]
    earlier = [work for at_s, work in history if at_s <= now_s - _STILL_S]
    return [name for name, work in last.items() if not _is_done(work, earlier[-1].get(name) if earlier else None)]


def _is_done(work: PendingWork, earlier: PendingWork | None) -> bool:
    if work.amount <= work.little:
        return True
    return not work.to_the_end and earlier is not None and earlier.amount - work.amount <= work.stir


def wait(read_pending: ReadPending, stopped: Callable[[], bool], patience_s: float = PATIENCE_S) -> WaitResult:
    """Wait until all work is done, or for `patience_s`. Raises as `read_pending`."""
    began = time.monotonic()
    history: PendingHistory = []
    while True:
        history.append((time.monotonic() - began, read_pending()))
        busy = busy_work(history)
        waited_s = history[-1][0]
        if not busy or waited_s >= patience_s or stopped():
            return WaitResult(waited_s, tuple(busy))
        time.sleep(_GLANCE_S)
