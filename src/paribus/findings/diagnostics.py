"""Records of what an experiment shows next to its effects: drift, counters, scaling, limits, conditions."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from paribus.findings.estimate import Estimate
from paribus.model import Precondition, TrialState
from paribus.units import LoadLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftPoint:
    """A block of trials on the time axis.

    `hours` is its time since the experiment began, `log_ratio` its distance from the usual level, and `first` the arm
    that ran first.
    """

    hours: float
    log_ratio: float
    first: str
    trials: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """The drift of the machine during the comparison of a factor; `course` is a smooth line through the points."""

    factor: str
    workload: str
    response: str
    points: tuple[DriftPoint, ...]
    course: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A counter that differs between a factor's baseline and its compared arm, both given as means over the pairs.

    `estimate`, `low` and `high` are log ratios where `is_ratio`, else differences in the counter's unit.
    `per_operation`: the counter was divided by the operations of its trial. Among the reported counters with a value of
    at most `q`, the expected share of false reports is at most `q`.
    """

    metric: str
    unit: str
    per_operation: bool
    baseline: float
    compared: float
    estimate: float
    low: float
    high: float
    is_ratio: bool
    q: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """The counters that moved with a comparison, largest change first, and the number of counters examined."""

    factor: str
    workload: str
    baseline: str
    arm: str
    moved: tuple[Moved, ...]
    examined: int
    confidence: float
    trials: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """The Universal Scalability Law of an arm: `contention`, `coherency`, and the level of its maximum.

    `miss` is the largest relative distance of a level from the law, at level `miss_at`; `holds`: noise explains it.
    """

    contention: Estimate
    coherency: Estimate
    peak_at: float | None
    miss: float
    miss_at: int
    holds: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaling:
    """An arm's throughput by outstanding operations.

    `peak_at` is the level with the highest rate. `knee` is the level beyond which more load only adds waiting; None
    where it lies beyond the highest level. `drive_at` is the lowest level whose rate reaches the peak within the
    margin; it gives the share `drive_share` of the peak. `highest` is the highest level measured. `law` is None for too
    few levels.
    """

    factor: str
    workload: str
    arm: str
    peak_at: int
    peak_per_s: Estimate
    knee: Estimate | None
    drive_at: int
    drive_share: float
    highest: int
    law: Law | None
    trials: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """The response times of an arm at a load level over all its trials: (quantile, seconds) pairs."""

    factor: str
    workload: str
    arm: str
    load: LoadLevel
    count: int
    quantiles: tuple[tuple[float, float], ...]
    trials: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseColumn:
    """The response times of one trial: for each row of its map the share of the operations."""

    arm: str
    trial: int
    shares: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseMap:
    """The response times of a comparison from trial to trial, at its highest load level.

    `edges_s` are the bounds of the rows, ascending; the columns of each arm are in run order. Of many `trials` of an
    arm every nth has a column.
    """

    factor: str
    workload: str
    load: LoadLevel
    trials: Mapping[str, int]
    edges_s: tuple[float, ...]
    columns: tuple[ResponseColumn, ...]


class Limit(StrEnum):
    """The resource that limits a whole system at a load level."""

    ENGINE = "the load engine"
    OFFERED = "the rate offered"
    CPU = "processors"
    LOCKS = "locks"
    DEVICE = "device"
    OPERATIONS = "device operations"
    BANDWIDTH = "device bandwidth"
    COMMITS = "commits"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounded:
    """The limit of an arm at a load level, and the figures that show it."""

    factor: str
    workload: str
    arm: str
    load: LoadLevel
    limit: Limit
    evidence: str


@dataclass(frozen=True, slots=True)
class Held:
    """A value of a machine condition, and the trials that had it."""

    value: str
    trials: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Constancy:
    """Machine conditions that should be equal in all valid trials.

    `same` holds the value of each constant condition, `differed` the values of the others; `trials` recorded them.
    """

    same: Mapping[str, str]
    differed: Mapping[str, tuple[Held, ...]]
    trials: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preconditioned:
    """The result of preconditioning one data set; `data` names it where a workload has several.

    `course` holds writes per second, one value per round. `average_per_s`, `spread` and `drift` describe the last
    rounds; the latter two are shares of the average. All are missing where preconditioning did not finish; `reason`
    says why.
    """

    trial: int
    workload: str
    data: str
    asked: Precondition
    state: TrialState
    reason: str
    course: tuple[float, ...]
    average_per_s: float | None
    spread: float | None
    drift: float | None
    steady: bool
