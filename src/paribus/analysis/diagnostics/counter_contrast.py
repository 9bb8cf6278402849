"""Counters of the machine and of the server that moved with a setting.

Rates are compared per operation, since an arm with more throughput does more of everything. The false discovery rate is
5 % (Benjamini and Hochberg 1995), and the intervals allow for the selection (Benjamini and Yekutieli 2005).
"""

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from paribus.analysis.paired.effects import PairSeries, Summaries
from paribus.findings import Contrast, Moved
from paribus.model import Measurement
from paribus.stats.huber import huber
from paribus.stats.multiplicity import benjamini_hochberg

_FEWEST_UNITS = 4
_THROUGHPUT = "throughput_per_s"
_WATCHED = ("sample", "server", "hypervisor")  # sources of counters; the others measure responses
_RATE = "_per_s"
_PROCESSOR = ("cpu_user_share", "cpu_system_share")
BUSY = "cpu_busy_share"  # sum of `_PROCESSOR`

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Counter:
    """A counter over all pairs: its values with the baseline and with the compared arm, shape (n,) each."""

    metric: str
    unit: str
    per_operation: bool
    baseline: Array
    compared: Array

    @property
    def is_ratio(self) -> bool:
        """Whether its change is given as a ratio: not for shares, nor where a value is zero."""
        positive = bool((self.baseline > 0).all() and (self.compared > 0).all())
        return positive and (self.per_operation or not self.metric.endswith(("_share", "_utilisation")))

    @property
    def differences(self) -> Array:
        """The differences of the pairs, shape (n,), log ratios where `is_ratio`."""
        return np.log(self.compared / self.baseline) if self.is_ratio else self.compared - self.baseline


def contrast(series: PairSeries, summaries: Summaries, confidence: float) -> Contrast | None:
    """Return the counters that moved with a comparison; None for too few units or where no counter varies.

    Args:
        series: The pairs of the comparison.
        summaries: Measurements by trial and metric.
        confidence: Coverage of the intervals; 1 - confidence is the false discovery rate.
    """
    if series.units < _FEWEST_UNITS:
        return None
    counters = [counter for counter in _counters(series, summaries) if np.ptp(counter.differences) > 0]
    fits = [_fit(series, counter.differences) for counter in counters]
    q_values = benjamini_hochberg([p for *_, p in fits])
    selected = [index for index, q in enumerate(q_values) if q <= 1 - confidence]
    if not counters:
        return None
    share = (1 - confidence) * len(selected) / len(counters)
    moved = [_moved(counters[index], *fits[index][:3], q_values[index], share) for index in selected]
    return Contrast(
        factor=series.factor,
        workload=series.workload,
        baseline=series.baseline,
        arm=series.arm,
        moved=tuple(sorted(moved, key=_size, reverse=True)),
        examined=len(counters),
        confidence=confidence,
        trials=tuple(sorted(order for pair in series.pairs for order in pair.trials)),
    )


def _size(moved: Moved) -> float:
    """The size of a change on the scale of log ratios; a share that was zero counts as 1."""
    if moved.is_ratio:
        return abs(moved.estimate)
    return abs(moved.estimate) / (max(abs(moved.baseline), abs(moved.compared)) or 1.0)


def _counters(series: PairSeries, summaries: Summaries) -> Iterator[_Counter]:
    """Every counter that all trials of the pairs have, and the processor time per operation."""
    sides = [[_of_side(pair.sides[side], summaries) for pair in series.pairs] for side in (0, 1)]
    operations = _values(sides, _THROUGHPUT)
    if operations is not None and not (operations > 0).all():
        operations = None
    for metric, unit in _common(measured for side in sides for measured in side).items():
        values = _values(sides, metric)
        assert values is not None
        if not metric.endswith(_RATE):
            yield _Counter(metric, unit, per_operation=False, baseline=values[0], compared=values[1])
        elif operations is not None:
            per_operation_values = values / operations
            yield _Counter(
                metric, unit, per_operation=True, baseline=per_operation_values[0], compared=per_operation_values[1]
            )
    busy = [_values(sides, name) for name in _PROCESSOR]
    if operations is not None and busy[0] is not None and busy[1] is not None:
        per_operation_values = (busy[0] + busy[1]) / operations
        yield _Counter(BUSY, "", per_operation=True, baseline=per_operation_values[0], compared=per_operation_values[1])


def _of_side(orders: Sequence[int], summaries: Summaries) -> Mapping[str, Measurement]:
    """The measurements that all trials of a side have, with their means over these trials."""
    first, *others = [summaries.get(order, {}) for order in orders]
    if not others:
        return first
    return {
        name: replace(measurement, mean=statistics.mean([measurement.mean, *(other[name].mean for other in others)]))
        for name, measurement in first.items()
        if all(name in other for other in others)
    }


def _values(sides: Sequence[Sequence[Mapping[str, Measurement]]], metric: str) -> Array | None:
    """A metric of both arms of all pairs, shape (2, n); None where a trial did not measure it."""
    if not all(metric in measured for side in sides for measured in side):
        return None
    return np.array([[measured[metric].mean for measured in side] for side in sides])


def _common(measured: Iterable[Mapping[str, Measurement]]) -> dict[str, str]:
    """The counters that all trials have, with their units."""
    everywhere: dict[str, str] | None = None
    for metrics in measured:
        watched = {name: measurement.unit for name, measurement in metrics.items() if measurement.source in _WATCHED}
        everywhere = (
            watched if everywhere is None else {name: unit for name, unit in everywhere.items() if name in watched}
        )
    return everywhere or {}


def _fit(series: PairSeries, differences: Array) -> tuple[float, float, int, float]:
    """The mean difference, its standard error, degrees of freedom and p value, as for responses."""
    from scipy import special

    if series.split:
        blocks = np.array([pair.block for pair in series.pairs])
        units = np.array([differences[blocks == block].mean() for block in dict.fromkeys(blocks.tolist())])
        design = np.ones((len(units), 1))
    else:
        units = differences
        later = np.array([float(pair.later) for pair in series.pairs])
        varies = float(np.ptp(later)) > 0 and len(later) > _FEWEST_UNITS
        design = np.column_stack([np.ones_like(later), later]) if varies else np.ones((len(later), 1))
    fitted = huber(units, design)
    estimate, error = fitted.estimate, fitted.error
    if error == 0:
        return estimate, 0.0, fitted.freedom, 1.0 if estimate == 0 else 0.0
    return estimate, error, fitted.freedom, float(2 * special.stdtr(fitted.freedom, -abs(estimate) / error))


def _moved(counter: _Counter, estimate: float, error: float, freedom: int, q: float, share: float) -> Moved:
    from scipy import special

    half_width = float(special.stdtrit(freedom, 1 - share / 2)) * error
    return Moved(
        metric=counter.metric,
        unit=counter.unit,
        per_operation=counter.per_operation,
        baseline=float(counter.baseline.mean()),
        compared=float(counter.compared.mean()),
        estimate=estimate,
        low=estimate - half_width,
        high=estimate + half_width,
        is_ratio=counter.is_ratio,
        q=q,
    )
