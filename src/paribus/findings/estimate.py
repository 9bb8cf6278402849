"""An estimate with its interval."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and its interval; the ends are None where a single round gives no interval."""

    value: float
    low: float | None
    high: float | None
