"""The curves that a report shows: part of what `shown` holds."""

from dataclasses import dataclass

from paribus.units import LoadLevel


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
class LoadCurve:
    """A metric over the load levels, one line per arm; `to_use` are arms with the load level that is named for them."""

    key: str
    title: str
    unit: str
    points: tuple[CurvePoint, ...]
    to_use: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftMark:
    """A block: when it was made in the chart's unit, how far it lies from the usual in percent, the arm made first."""

    time: float
    value: float
    first: str
    trials: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftCurve:
    """Drift of a response of both arms over time; `trend` is a smooth line through the points, in percent."""

    key: str
    title: str
    unit: str
    points: tuple[DriftMark, ...]
    trend: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantilePoint:
    """The response time, in the chart's unit, that all but one of so many operations (`one_in`) stay below."""

    arm: str
    load: LoadLevel
    one_in: float
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileCurve:
    """The distributions of response times of all arms, at each load level."""

    key: str
    unit: str
    points: tuple[QuantilePoint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PathPoint:
    """The response time of an arm at a load level, and the throughput there, in the chart's units."""

    time: CurvePoint
    rate: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PathCurve:
    """Response time over throughput: along a line more and more load is offered."""

    key: str
    unit: str
    rate_unit: str
    points: tuple[PathPoint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialTimeSeries:
    """A metric within one trial: its values in the chart's unit, each standing for `step_s` seconds."""

    trial: int
    metric: str
    step_s: float
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSeriesChart:
    """Chart of trials over time; `note` says what is left out."""

    key: str
    note: str
    series: tuple[TrialTimeSeries, ...]
