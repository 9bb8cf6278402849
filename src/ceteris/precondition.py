"""What is asked of preconditioning: a record like those of `model`, part of a workload and of what was found."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Precondition:
    """Before its first trial, data is overwritten in order, then at random until that is steady.

    Steady is: over the last `window` rounds the writes per second spread by at most `most_spread` of their average,
    and the line through them rises or falls by at most `most_drift` of it.
    """

    fills: int
    round_s: float
    most_rounds: int
    window: int
    most_spread: float
    most_drift: float
