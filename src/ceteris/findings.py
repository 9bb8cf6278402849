"""What an experiment found beside effects: records like those of `model`, made by the analysis, read by the report."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


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
