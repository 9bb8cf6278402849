"""Throughput of a load while it settles, before its trial is measured."""

from collections.abc import Sequence

from paribus.engine.protocol import Interval
from paribus.model import Measurement

PHASE = "settle"
_LEAST_SHARE = 0.5  # of that time: less does not describe it


def settling_throughput(
    intervals: Sequence[Interval], measured_from_s: float, settle_s: float, first_s: float
) -> tuple[Measurement, ...]:
    """Return the throughput at the beginning of the settle time; nothing where too little of it was reported.

    Args:
        intervals: The intervals before the trial was measured.
        measured_from_s: When that began, by the engine's clock.
        settle_s: The settle time of this trial.
        first_s: Its part that is described, which is the same in all trials of a comparison.
    """
    begin_s = measured_from_s - settle_s
    first = [i for i in intervals if begin_s <= i.start_s and i.start_s + i.duration_s <= begin_s + first_s + 1e-3]
    duration_s = sum(interval.duration_s for interval in first)
    operations = sum(interval.operations - interval.fsyncs for interval in first)
    if duration_s <= 0 or duration_s < _LEAST_SHARE * first_s or not operations:
        return ()
    rates = [(interval.operations - interval.fsyncs) / interval.duration_s for interval in first]
    throughput = Measurement.of_series(
        "throughput_per_s", "1/s", rates, PHASE, "engine", mean=operations / duration_s, total=operations
    )
    return (throughput,)
