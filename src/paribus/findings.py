"""What an experiment found beside effects: records like those of `model`, made by the analysis, read by the report."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from paribus.model import Precondition, TrialState, Verdict
from paribus.units import LoadLevel


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
class Moved:
    """A counter that moved when a factor's arm was put in place of its baseline, both given as means over the pairs.

    `estimate` with `low` and `high` is a log ratio where `is_ratio`, else a difference in the counter's unit;
    `per_operation` says that the counter was divided by the operations of its trial. Of the counters told, a share
    `q` at most is expected not to have moved.
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
    """What moved beside a comparison's response, the largest first, and how many counters were looked at."""

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
    """The Universal Scalability Law of an arm: the shares `contention` and `coherency`, and the level of its maximum.

    `miss` is the largest relative distance of a level from the law, at `miss_at`; `holds` says that noise explains it.
    """

    contention: Estimate
    coherency: Estimate
    peak_at: float | None
    miss: float
    miss_at: int
    holds: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaling:
    """How an arm's throughput follows the operations outstanding.

    `peak_at` is the level with the highest rate, `knee` the level at which more load only waits longer, None where it
    lies beyond the highest. `drive_at` is the lowest level that gives all but the margin of the peak: the share
    `drive_share` of it, and `highest` the highest that was tried. `law` is None where there are too few levels.
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
    """The response times of an arm at a load level over all its trials: of each quantile the time, in seconds."""

    factor: str
    workload: str
    arm: str
    load: LoadLevel
    count: int
    quantiles: tuple[tuple[float, float], ...]
    trials: tuple[int, ...]


class Limit(StrEnum):
    """What keeps a whole system from doing more at a load level."""

    ENGINE = "the load engine"
    OFFERED = "the rate offered"
    CPU = "processors"
    LOCKS = "locks"
    OPERATIONS = "device operations"
    BANDWIDTH = "device bandwidth"
    COMMITS = "commits"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounded:
    """What bounds an arm at a load level, and by which figures that is told."""

    factor: str
    workload: str
    arm: str
    load: LoadLevel
    limit: Limit
    evidence: str


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

    `confidence` is that of every interval in it; `large_order` is `sequential` or `random`.
    """

    name: str
    small_block_bytes: int
    large_block_bytes: int
    rounds: int
    confidence: float
    ceilings: tuple[Ceiling, ...]
    series: tuple[MatrixSeries, ...]
    large_order: str = "sequential"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Between:
    """How much more the baseline of one experiment does in another, over all load levels (`load` None) or at one.

    The estimate and its interval are log ratios, second over first; `rounds` are the units in each of the two.
    """

    workload: str
    response: str
    load: LoadLevel | None
    estimate: float
    low: float
    high: float
    confidence: float
    margin: float
    rounds: tuple[int, int]
    verdict: Verdict | None
    trials: tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectBetween:
    """An effect in two experiments, and how much larger it is in the second: log ratios with their intervals.

    `alike` is True where the difference lies within the margin, False where it excludes zero, else None.
    """

    factor: str
    baseline: str
    arm: str
    workload: str
    response: str
    first: Estimate
    second: Estimate
    difference: Estimate
    margin: float
    alike: bool | None


@dataclass(frozen=True, slots=True)
class Held:
    """What a condition of the machine was in some trials."""

    value: str
    trials: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Constancy:
    """What of the machine should be the same in all trials that count, by name, as the `trials` found it that tell."""

    same: Mapping[str, str]
    differed: Mapping[str, tuple[Held, ...]]
    trials: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """Stated figures that a law does not allow, by the law's English name, told in `words` for a person.

    `cells` are positions among what was looked at. Of the figures one is called wrong only where the others single it
    out: `metric` then, else empty; `stated` is what it says and `implied` what the others imply, in its base unit.
    `tolerance` is the law's slack beside rounding, as a share. `grave`: the figures contradict each other; else they
    may be right, and say less than they seem to.
    """

    law: str
    where: str
    cells: tuple[int, ...]
    words: str
    metric: str = ""
    stated: float | None = None
    implied: float | None = None
    tolerance: float = 0.0
    grave: bool = True
