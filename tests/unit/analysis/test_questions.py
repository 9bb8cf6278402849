"""From the pairs of a comparison to the arrays that are judged."""

import pytest

from paribus.analysis.paired.effects import Faults, Pair, PairSeries
from paribus.analysis.paired.questions import arrays
from paribus.model import Purpose


def _series(counts: list[int]) -> PairSeries:
    pairs = tuple(
        Pair(
            block=block,
            load=4,
            baseline=100.0,
            compared=100.0 + block,
            later=1,
            sides=((2 * block,), (2 * block + 1,)),
            count=n,
        )
        for block, n in enumerate(counts)
    )
    return PairSeries(
        purpose=Purpose.COMPARE,
        factor="sqlite.synchronous",
        workload="oltp_read_write",
        response="throughput_per_s",
        baseline="full",
        arm="normal",
        planned=len(pairs),
        pairs=pairs,
        faults=Faults(),
        split=False,
    )


@pytest.mark.parametrize(
    ("counts", "resolution"),
    [
        ([500] * 15 + [20], 1 / 500),  # one starved trial makes no response coarse
        ([20] * 12 + [500] * 4, 1 / 20),
        ([500] * 15 + [0], 0.0),  # unknown
    ],
)
def test_the_resolution_of_a_count_is_that_of_most_pairs(counts: list[int], resolution: float) -> None:
    pairs = arrays(_series(counts))
    assert pairs.resolution == pytest.approx(resolution)
    assert pairs.count == min(counts)
