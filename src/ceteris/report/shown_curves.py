"""The curves that a report shows: part of what `shown` holds."""

from dataclasses import dataclass

from ceteris.units import LoadLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """A point of a curve, in the curve's unit."""

    arm: str
    load: LoadLevel
    value: float
    low: float | None
    high: float | None
    text: str
    trials: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A metric over the load levels, one line per arm."""

    key: str
    title: str
    unit: str
    points: tuple[CurvePoint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftMark:
    """A block: when it was made in the chart's unit, how far it lies from the usual in percent, the arm made first."""

    time: float
    value: float
    first: str
    text: str
    trials: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftCurve:
    """How a response of both arms moved with time; `course` is a smooth line through the points, in percent."""

    key: str
    title: str
    unit: str
    points: tuple[DriftMark, ...]
    course: tuple[float, ...]
