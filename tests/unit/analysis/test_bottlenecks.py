"""Bottlenecks by the counters that were sampled; an absent counter is unknown."""

import pytest

from paribus.analysis.diagnostics.bottlenecks import bounds
from paribus.findings import Bounded, Limit
from paribus.model import Cell
from paribus.units import LoadLevel


def _bounded(**means: float) -> tuple[Bounded, ...]:
    return bounds(
        [
            Cell(
                factor="f",
                arm="a",
                workload="w",
                load=LoadLevel(1),
                metric=metric.replace("__", ":"),
                mean=mean,
                low=mean,
                high=mean,
                trials=(1,),
            )
            for metric, mean in {"throughput_per_s": 100.0, **means}.items()
        ],
        (),
    )


@pytest.mark.parametrize(
    ("means", "limit", "evidence"),
    [
        ({"cpu_user_share": 0.2}, Limit.NOTHING, "processors 20% busy, device not sampled"),
        ({"device_utilisation": 0.3}, Limit.NOTHING, "processors not sampled, device 30% busy"),
        (
            {"device_utilisation__vda": 0.9975, "device_utilisation__vdb": 0.1},
            Limit.DEVICE,
            "processors not sampled, device vda 99.75% busy",
        ),
        (
            {"device_utilisation": 0.95, "device_reads_per_s": 100.0, "device_read_bytes_per_s": 409600.0},
            Limit.OPERATIONS,
            "device 95% busy, 100 requests/s of 4 KiB",
        ),
        (
            {"cpu_user_share": 0.2, "fsyncs_per_s": 50.0},
            Limit.COMMITS,
            "0.5 syncs for each operation, processors 20% busy, device not sampled",
        ),
    ],
)
def test_a_limit_is_named_by_the_sampled_counters(means: dict[str, float], limit: Limit, evidence: str) -> None:
    (bounded,) = _bounded(**means)
    assert (bounded.limit, bounded.evidence) == (limit, evidence)


def test_no_counter_gives_no_limit() -> None:
    assert not _bounded()
    assert not _bounded(**{"cpu_user_share__job": 0.95})
