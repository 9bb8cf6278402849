"""Distribution of response times: the merged histograms of an arm's trials. Described, not judged."""

import base64
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from paribus.analysis.paired.effects import whole_blocks
from paribus.findings import Distribution
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
    from hdrh.histogram import HdrHistogram

    members: dict[tuple[ArmKey, LoadLevel], list[int]] = defaultdict(list)
    for block in whole_blocks(trials).values():
        for trial in block:
            if histograms.get(trial.order):
                members[arm_of(trial), trial.load].append(trial.order)
    result = []
    for ((factor, workload, arm), load), orders in members.items():
        counts = np.zeros(0)
        widest: Any = None
        for order in orders:
            histogram = HdrHistogram.decode(base64.b64encode(histograms[order]))
            histogram.encoder = None  # breaks a reference cycle that keeps it in memory
            if histogram.counts_len > len(counts):  # smaller ranges share their first counts
                counts, widest = np.pad(counts, (0, histogram.counts_len - len(counts))), histogram
            counts[: histogram.counts_len] += np.ctypeslib.as_array(histogram.counts)[: histogram.counts_len]
        cumulative = counts.cumsum()
        count = int(cumulative[-1])
        if count == 0:
            continue
        quantiles = list(_quantiles(count))
        indices = np.searchsorted(cumulative, np.maximum(np.ceil(np.array(quantiles) * count), 1))
        times = [widest.get_highest_equivalent_value(widest.get_value_from_index(int(index))) for index in indices]
        result.append(
            Distribution(
                factor=factor,
                workload=workload,
                arm=arm,
                load=load,
                count=count,
                quantiles=tuple(
                    (quantile, time_ns / _NANOSECONDS) for quantile, time_ns in zip(quantiles, times, strict=True)
                ),
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
