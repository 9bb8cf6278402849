"""The whole distribution of response times: the histograms of an arm's trials put together.

In: trials, and the histogram of each as the engine wrote it. Out: Distributions. It is described, not judged.
"""

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
    """Of each arm at each load level, by the order of a trial its histogram (HDR V2, deflated, in nanoseconds)."""
    from hdrh.histogram import HdrHistogram

    members: dict[tuple[ArmKey, LoadLevel], list[int]] = defaultdict(list)
    for block in whole_blocks(trials).values():
        for trial in block:
            if histograms.get(trial.order):
                members[arm_of(trial), trial.load].append(trial.order)
    found = []
    for ((factor, workload, arm), load), orders in members.items():
        counts = np.zeros(0)
        longest: Any = None
        for order in orders:
            one = HdrHistogram.decode(base64.b64encode(histograms[order]))
            one.encoder = None  # which holds it, so that it would stay in memory
            if one.counts_len > len(counts):  # those of a smaller range have the same first ones
                counts, longest = np.pad(counts, (0, one.counts_len - len(counts))), one
            counts[: one.counts_len] += np.ctypeslib.as_array(one.counts)[: one.counts_len]
        reached = counts.cumsum()
        count = int(reached[-1])
        if count == 0:
            continue
        quantiles = list(_quantiles(count))
        places = np.searchsorted(reached, np.maximum(np.ceil(np.array(quantiles) * count), 1))
        times = [longest.get_highest_equivalent_value(longest.get_value_from_index(int(at))) for at in places]
        found.append(
            Distribution(
                factor=factor,
                workload=workload,
                arm=arm,
                load=load,
                count=count,
                quantiles=tuple((q, time / _NANOSECONDS) for q, time in zip(quantiles, times, strict=True)),
                trials=tuple(orders),
            )
        )
    return tuple(found)


def _quantiles(count: int) -> Iterator[float]:
    """Ever closer to 1, as long as some operations lie beyond."""
    yield from _FIRST
    beyond = 0.1
    while count * beyond >= 1:
        yield from (1 - share * beyond for share in (1.0, 0.5, 0.25) if count * share * beyond >= 1)
        beyond /= 10
