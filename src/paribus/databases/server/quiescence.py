"""Whether a server has come to rest: nothing of what was left to do is still being done.

In: what it still has to do, again and again. Out: what is not at rest. How fast a server works off what is left is its
own settings' choice, and some leave dirty pages lying for good; so what no longer falls is at rest too.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

PATIENCE_S = 60.0  # a server that has more to do than that does it while trials are measured, which is then told
_STILL_S = 3.0  # longer than the second in which servers decide what to do next
_GLANCE_S = 0.25


@dataclass(frozen=True, slots=True)
class Left:
    """So much is left to do; up to `little` it is no matter, and a fall by no more than `stir` in some seconds is none.

    `to_the_end`: it is not at rest before that.
    """

    amount: float
    little: float = 0.0
    stir: float = 0.0
    to_the_end: bool = False


@dataclass(frozen=True, slots=True)
class Rest:
    """How long a server was waited for, and what was not at rest then."""

    waited_s: float
    restless: tuple[str, ...] = ()


Look = Callable[[], Mapping[str, Left]]
Course = list[tuple[float, Mapping[str, Left]]]


def restless(course: Course) -> list[str]:
    """What is not at rest by what was seen so far, each time with its moment in seconds, the last one now."""
    now_s, last = course[-1]
    earlier = [left for at_s, left in course if at_s <= now_s - _STILL_S]
    return [name for name, left in last.items() if not _is_at_rest(left, earlier[-1].get(name) if earlier else None)]


def _is_at_rest(left: Left, earlier: Left | None) -> bool:
    if left.amount <= left.little:
        return True
    return not left.to_the_end and earlier is not None and earlier.amount - left.amount <= left.stir


def wait(look: Look, stopped: Callable[[], bool], patience_s: float = PATIENCE_S) -> Rest:
    """Wait until all is at rest, or for so long. Raises what `look` raises."""
    began = time.monotonic()
    course: Course = []
    while True:
        course.append((time.monotonic() - began, look()))
        found = restless(course)
        waited_s = course[-1][0]
        if not found or waited_s >= patience_s or stopped():
            return Rest(waited_s, tuple(found))
        time.sleep(_GLANCE_S)
