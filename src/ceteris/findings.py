"""What an experiment found beside effects: records like those of `model`, made by the analysis, read by the report."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from ceteris.model import Precondition, TrialState


class Bound(StrEnum):
    """What keeps a device from doing more at a point of its matrix."""

    IOPS = "iops"
    BANDWIDTH = "bandwidth"
    BOTH = "both"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and its interval; None where one round alone gives no interval."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftPoint:
    """A block: hours since the experiment began, how far it lies from the usual (log ratio), and the arm made first."""

    hours: float
    log_ratio: float
    first: str
    trials: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """How the machine changed while a factor was compared; `course` is a smooth line through the points."""

    factor: str
    workload: str
    response: str
    points: tuple[DriftPoint, ...]
    course: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixPoint:
    """What a device did with so many small and large operations outstanding.

    `measured` are means by metric; `bound` is None where nothing was measured to tell it by.
    """

    small: int
    large: int
    measured: Mapping[str, Estimate]
    trials: tuple[int, ...]
    bound: Bound | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Knee:
    """Where response time turns up: outstanding operations, and the rate and mean response time read off there."""

    level: Estimate
    per_s: float
    response_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixSeries:
    """The points of one write share beside so many large operations, from the fewest small ones to the most.

    `peak_per_s` is the highest rate of small operations, `peak_at` the level it was seen at. `knee` is None where
    throughput still rose at the highest level; `bend` are the two levels between which waiting began to prevail.
    """

    workload: str
    write_share: float
    large: int
    points: tuple[MatrixPoint, ...]
    peak_at: int
    peak_per_s: Estimate | None
    knee: Knee | None
    bend: tuple[int, int] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """The most that was seen of a device at one write share: small operations alone, and bytes of large ones."""

    write_share: float
    small_per_s: Estimate | None
    bytes_per_s: Estimate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """An I/O matrix: every series, by write share and large operations outstanding.

    `confidence` is that of every interval in it.
    """

    name: str
    small_block_bytes: int
    large_block_bytes: int
    rounds: int
    confidence: float
    ceilings: tuple[Ceiling, ...]
    series: tuple[MatrixSeries, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preconditioned:
    """What came of preconditioning one data set; `data` tells it from the workload's others where there are any.

    `course` are writes per second, one for each round; `average_per_s`, `spread` and `drift` are those of the last
    ones, the latter two as shares of the average. None of it is there where it did not end: then `reason` says why.
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
