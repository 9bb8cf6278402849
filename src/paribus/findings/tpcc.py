"""Records of TPC-C: its throughput, and its kinds of transactions."""

from dataclasses import dataclass

from paribus.findings.estimate import Estimate
from paribus.units import LoadLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class KindFigures:
    """One kind of transaction: its share of all, and its 90th percentile of response times in seconds.

    `limit_s` is what that percentile may be at most by the specification.
    """

    kind: str
    share: float
    p90_s: Estimate
    limit_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmTpcc:
    """TPC-C with the settings of an arm under a workload at a load level.

    `new_orders_per_minute` counts those that are rolled back because the specification says so. `skipped` are
    deliveries of districts that had no new order, over all trials; `lost` are acknowledged New-Orders that a server
    did not have any more after it was killed, None where none was killed.
    """

    factor: str
    arm: str
    workload: str
    load: LoadLevel
    new_orders_per_minute: Estimate
    kinds: tuple[KindFigures, ...]
    skipped: int
    lost: int | None
    trials: tuple[int, ...]
