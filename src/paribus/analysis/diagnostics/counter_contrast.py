"""Why: which counters of the machine and of the server moved when a setting was changed.

In: the pairs of a comparison and what was measured beside them. Out: a Contrast. What happens once an operation is
compared per operation, since an arm that does more of them does more of everything; of what is compared, a share of
5 % at most is expected to be told without having moved (Benjamini and Hochberg 1995), and the intervals allow for
the choice (Benjamini and Yekutieli 2005).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paribus.analysis.paired.effects import PairSeries, Summaries
from paribus.findings import Contrast, Moved
from paribus.model import Measurement
from paribus.stats.huber import huber
from paribus.stats.multiplicity import benjamini_hochberg

_FEWEST_UNITS = 4
_THROUGHPUT = "throughput_per_s"
_WATCHED = ("sample", "server")  # who measured what is no response
_RATE = "_per_s"
_PROCESSOR = ("cpu_user_share", "cpu_system_share")
BUSY = "cpu_busy_share"  # their sum

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Counter:
    """A counter over all pairs: its values of shape (n,) at the baseline and the compared arm."""

    metric: str
    unit: str
    per_operation: bool
    baseline: Array
    compared: Array

    @property
    def is_ratio(self) -> bool:
        """Whether a ratio says more than a difference: of all but shares, where nothing is zero."""
        positive = bool((self.baseline > 0).all() and (self.compared > 0).all())
        return positive and (self.per_operation or not self.metric.endswith(("_share", "_utilisation")))

    @property
    def differences(self) -> Array:
        """Of the pairs, as log ratios or as they are."""
        return np.log(self.compared / self.baseline) if self.is_ratio else self.compared - self.baseline


def contrast(one: PairSeries, summaries: Summaries, confidence: float) -> Contrast | None:
    """What moved; None where there are too few pairs to tell."""
    if one.units < _FEWEST_UNITS:
        return None
    counters = [found for found in _counters(one, summaries) if np.ptp(found.differences) > 0]
    fits = [_fit(one, found.differences) for found in counters]
    q_values = benjamini_hochberg([p for *_, p in fits])
    chosen = [at for at, q in enumerate(q_values) if q <= 1 - confidence]
    if not counters:
        return None
    share = (1 - confidence) * len(chosen) / len(counters)
    moved = [_moved(counters[at], *fits[at][:3], q_values[at], share) for at in chosen]
    return Contrast(
        factor=one.factor,
        workload=one.workload,
        baseline=one.baseline,
        arm=one.arm,
        moved=tuple(sorted(moved, key=_size, reverse=True)),
        examined=len(counters),
        confidence=confidence,
        trials=tuple(sorted(order for pair in one.pairs for order in pair.trials)),
    )


def _size(moved: Moved) -> float:
    """How far it moved, on the scale of log ratios; a share that was nothing counts whole."""
    if moved.is_ratio:
        return abs(moved.estimate)
    return abs(moved.estimate) / (max(abs(moved.baseline), abs(moved.compared)) or 1.0)


def _counters(one: PairSeries, summaries: Summaries) -> Iterator[_Counter]:
    """Every counter that all trials of the pairs have, and the processor time of an operation."""
    sides = [[summaries.get(pair.trials[side], {}) for pair in one.pairs] for side in (0, 1)]
    operations = _values(sides, _THROUGHPUT)
    if operations is not None and not (operations > 0).all():
        operations = None
    for metric, unit in _common(measured for side in sides for measured in side).items():
        values = _values(sides, metric)
        assert values is not None
        if not metric.endswith(_RATE):
            yield _Counter(metric, unit, per_operation=False, baseline=values[0], compared=values[1])
        elif operations is not None:
            each = values / operations
            yield _Counter(metric, unit, per_operation=True, baseline=each[0], compared=each[1])
    busy = [_values(sides, name) for name in _PROCESSOR]
    if operations is not None and busy[0] is not None and busy[1] is not None:
        each = (busy[0] + busy[1]) / operations
        yield _Counter(BUSY, "", per_operation=True, baseline=each[0], compared=each[1])


def _values(sides: Sequence[Sequence[Mapping[str, Measurement]]], metric: str) -> Array | None:
    """A metric of both sides of all pairs, of shape (2, n); None where a trial has not measured it."""
    if not all(metric in measured for side in sides for measured in side):
        return None
    return np.array([[measured[metric].mean for measured in side] for side in sides])


def _common(measured: Iterable[Mapping[str, Measurement]]) -> dict[str, str]:
    """The counters that all have, with their units."""
    everywhere: dict[str, str] | None = None
    for one in measured:
        mine = {name: found.unit for name, found in one.items() if found.source in _WATCHED}
        everywhere = mine if everywhere is None else {n: u for n, u in everywhere.items() if n in mine}
    return everywhere or {}


def _fit(one: PairSeries, differences: Array) -> tuple[float, float, int, float]:
    """The mean difference, its standard error, degrees of freedom and p value, as for responses."""
    from scipy import special

    if one.split:
        blocks = np.array([pair.block for pair in one.pairs])
        units = np.array([differences[blocks == block].mean() for block in dict.fromkeys(blocks.tolist())])
        design = np.ones((len(units), 1))
    else:
        units = differences
        later = np.array([float(pair.later) for pair in one.pairs])
        varies = float(np.ptp(later)) > 0 and len(later) > _FEWEST_UNITS
        design = np.column_stack([np.ones_like(later), later]) if varies else np.ones((len(later), 1))
    fitted = huber(units, design)
    estimate, error = fitted.estimate, fitted.error
    if error == 0:
        return estimate, 0.0, fitted.freedom, 1.0 if estimate == 0 else 0.0
    return estimate, error, fitted.freedom, float(2 * special.stdtr(fitted.freedom, -abs(estimate) / error))


def _moved(counter: _Counter, estimate: float, error: float, freedom: int, q: float, share: float) -> Moved:
    from scipy import special

    half = float(special.stdtrit(freedom, 1 - share / 2)) * error
    return Moved(
        metric=counter.metric,
        unit=counter.unit,
        per_operation=counter.per_operation,
        baseline=float(counter.baseline.mean()),
        compared=float(counter.compared.mean()),
        estimate=estimate,
        low=estimate - half,
        high=estimate + half,
        is_ratio=counter.is_ratio,
        q=q,
    )
