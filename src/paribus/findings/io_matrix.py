"""Records of an I/O matrix: points, series, knees and ceilings."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from paribus.findings.estimate import Estimate


class Bound(StrEnum):
    """The limit that a device has reached at a point of its I/O matrix."""

    IOPS = "iops"
    BANDWIDTH = "bandwidth"
    BOTH = "both"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixPoint:
    """A device with `small` small and `large` large operations outstanding.

    `measured` holds means by metric; `bound` is None where nothing was measured that shows it.
    """

    small: int
    large: int
    measured: Mapping[str, Estimate]
    trials: tuple[int, ...]
    bound: Bound | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Knee:
    """Knee of response time: outstanding operations, and the rate and mean response time at that level."""

    level: Estimate
    per_s: float
    response_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixSeries:
    """The points of one write share and one number of large operations, by rising number of small operations.

    `peak_per_s` is the highest rate of small operations and `peak_at` its level. `knee` is None where throughput still
    rises at the highest level. `bend` gives the two levels between which waiting starts to outgrow throughput.
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
    """Highest figures of a device at one write share: rate of small operations alone, and bytes with large ones."""

    write_share: float
    small_per_s: Estimate | None
    bytes_per_s: Estimate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """An I/O matrix: all series, by write share and number of large operations outstanding.

    `confidence` applies to every interval in it; `large_order` is `sequential` or `random`.
    """

    name: str
    small_block_bytes: int
    large_block_bytes: int
    rounds: int
    confidence: float
    ceilings: tuple[Ceiling, ...]
    series: tuple[MatrixSeries, ...]
    large_order: str = "sequential"
