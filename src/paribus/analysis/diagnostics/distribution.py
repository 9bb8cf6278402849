"""Distribution of response times: of an arm over all its trials, and from trial to trial. Described, not judged."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from paribus.analysis.paired.effects import whole_blocks
from paribus.findings import Distribution, ResponseColumn, ResponseMap
from paribus.histogram import HdrHistogram
from paribus.model import ArmKey, Trial, arm_of
from paribus.units import LoadLevel

_FIRST = (0.0, 0.25, 0.5, 0.75)
_NANOSECONDS = 1e9
_ROWS = 24
_MOST_COLUMNS = 60  # of an arm: every nth trial, where there are more
_FEWEST_COLUMNS = 4
_NARROWEST = 1.5  # the highest edge over the lowest

_Times = tuple[NDArray[np.float64], NDArray[np.int64]]  # seconds, and how many operations took them


def distributions(trials: Iterable[Trial], histograms: Mapping[int, bytes]) -> tuple[Distribution, ...]:
    """Return the distribution of each arm at each load level.

    Args:
        trials: All trials of an experiment.
        histograms: HDR histogram of each trial (V2, deflated, in nanoseconds).
    """
    members: dict[tuple[ArmKey, LoadLevel], list[int]] = defaultdict(list)
    for block in whole_blocks(trials).values():
        for trial in block:
            if histograms.get(trial.order):
                members[arm_of(trial), trial.load].append(trial.order)
    result = []
    for ((factor, workload, arm), load), orders in members.items():
        histogram = HdrHistogram.total([HdrHistogram.decode(histograms[order]) for order in orders])
        count = int(histogram.counts.sum())
        if count == 0:
            continue
        quantiles = list(_quantiles(count))
        times = histogram.quantiles(quantiles)
        result.append(
            Distribution(
                factor=factor,
                workload=workload,
                arm=arm,
                load=load,
                count=count,
                quantiles=tuple(zip(quantiles, (times / _NANOSECONDS).tolist(), strict=True)),
                trials=tuple(orders),
            )
        )
    return tuple(result)


def _quantiles(count: int) -> Iterator[float]:
    """Quantiles ever closer to 1, as long as at least one operation lies beyond."""
    yield from _FIRST
    beyond = 0.1
    while count * beyond >= 1:
        yield from (1 - share * beyond for share in (1.0, 0.5, 0.25) if count * share * beyond >= 1)
        beyond /= 10


def response_maps(trials: Iterable[Trial], histograms: Mapping[int, bytes]) -> tuple[ResponseMap, ...]:
    """Return the map of each factor under each workload; none where few trials have a histogram.

    Args:
        trials: All trials of an experiment.
        histograms: HDR histogram of each trial (V2, deflated, in nanoseconds).
    """
    members: dict[tuple[str, str], dict[LoadLevel, dict[str, list[int]]]] = {}
    for block in whole_blocks(trials).values():
        for trial in block:
            if histograms.get(trial.order):
                levels = members.setdefault((trial.factor, trial.workload), {})
                levels.setdefault(trial.load, defaultdict(list))[trial.arm].append(trial.order)
    maps = (_map(*pair, max(levels), levels[max(levels)], histograms) for pair, levels in members.items())
    return tuple(each for each in maps if each is not None)


def _map(
    factor: str,
    workload: str,
    load: LoadLevel,
    orders: Mapping[str, list[int]],
    histograms: Mapping[int, bytes],
) -> ResponseMap | None:
    times = {
        (arm, order): counted
        for arm, of_arm in orders.items()
        for order in sorted(of_arm)[:: -(-len(of_arm) // _MOST_COLUMNS)]
        if (counted := _times(histograms[order])) is not None
    }
    if len(times) < _FEWEST_COLUMNS:
        return None
    low = min(seconds[0] for seconds, _ in times.values())
    high = max(seconds[-1] for seconds, _ in times.values())
    middle = (low * high) ** 0.5
    low, high = min(low, middle / _NARROWEST**0.5), max(high, middle * _NARROWEST**0.5)
    edges = np.geomspace(low, high, _ROWS + 1)
    edges[0], edges[-1] = low, high  # which the powers miss by a little
    return ResponseMap(
        factor=factor,
        workload=workload,
        load=load,
        trials={arm: len(of_arm) for arm, of_arm in orders.items()},
        edges_s=tuple(edges.tolist()),
        columns=tuple(
            ResponseColumn(arm=arm, trial=order, shares=tuple((_binned(counted, edges)).tolist()))
            for (arm, order), counted in times.items()
        ),
    )


def _times(content: bytes) -> _Times | None:
    """The times that were counted; None where there are none."""
    histogram = HdrHistogram.decode(content)
    (indices,) = np.nonzero(histogram.counts)
    if not indices.size:
        return None
    return np.maximum(histogram.highest_values(indices), 1) / _NANOSECONDS, histogram.counts[indices]


def _binned(counted: _Times, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    seconds, counts = counted
    binned, _ = np.histogram(seconds, edges, weights=counts)
    shares: NDArray[np.float64] = binned / counts.sum()
    return shares
