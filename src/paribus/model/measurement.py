"""Measurement of one metric during one trial."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self


@dataclass(slots=True, kw_only=True)
class Measurement:
    """One metric of one trial: the summary, and the points (equally spaced) or the histogram behind it.

    Not frozen like other records, as half a million are read for a large report: to freeze them takes as long as that.
    """

    phase: str
    metric: str
    unit: str
    source: str
    n: int
    mean: float
    low: float
    high: float
    total: float
    start_s: float | None = None
    step_s: float | None = None
    points: tuple[float, ...] = ()
    histogram: bytes = b""

    @classmethod
    def of_value(cls, metric: str, unit: str, value: float, phase: str, source: str) -> Self:
        """Return a single number as a measurement."""
        return cls(
            phase=phase, metric=metric, unit=unit, source=source, n=1, mean=value, low=value, high=value, total=value
        )

    @classmethod
    def of_series(
        cls,
        metric: str,
        unit: str,
        values: Sequence[float],
        phase: str,
        source: str,
        *,
        mean: float | None = None,
        total: float,
        start_s: float | None = None,
        step_s: float | None = None,
    ) -> Self:
        """Return the summary of values, and the values themselves if they are equally spaced by `step_s`.

        `mean` defaults to that of the values; without values it has to be stated.
        """
        mean = sum(values) / len(values) if mean is None else mean
        is_time_series = bool(values) and step_s is not None
        return cls(
            phase=phase,
            metric=metric,
            unit=unit,
            source=source,
            n=len(values) or 1,
            mean=mean,
            low=min(values, default=mean),
            high=max(values, default=mean),
            total=total,
            start_s=start_s if is_time_series else None,
            step_s=step_s if is_time_series else None,
            points=tuple(values) if is_time_series else (),
        )
