"""Distribution of response times: the merged histograms of an arm's trials. Described, not judged."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from paribus.analysis.paired.effects import whole_blocks
from paribus.findings import Distribution
from paribus.histogram import HdrHistogram
from paribus.model import ArmKey, Trial, arm_of
from paribus.units import LoadLevel

_FIRST = (0.0, 0.25, 0.5, 0.75)
_NANOSECONDS = 1e9


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
        of_trials = [HdrHistogram.decode(histograms[order]) for order in orders]
        widest = max(of_trials, key=lambda histogram: len(histogram.counts))
        counts = np.zeros_like(widest.counts)
        for histogram in of_trials:
            counts[: len(histogram.counts)] += histogram.counts  # smaller ranges share their first counts
        cumulative = counts.cumsum()
        count = int(cumulative[-1])
        if count == 0:
            continue
        quantiles = list(_quantiles(count))
        indices = np.searchsorted(cumulative, np.maximum(np.ceil(np.array(quantiles) * count), 1))
        times = widest.highest_values(indices)
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
