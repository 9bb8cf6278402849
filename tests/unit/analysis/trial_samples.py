"""Trials and measurements with defaults for all that a test does not set."""

from collections.abc import Iterable
from typing import Any

from paribus.analysis.paired.effects import Pair, PairSeries
from paribus.analysis.paired.unusable import Faults
from paribus.model import Measurement, Purpose, Trial, TrialState
from paribus.units import LoadLevel


def trial(order: int, arm: str = "a", load: int | LoadLevel = 1, **fields: Any) -> Trial:
    """Return a done trial; arm `a` is the baseline unless `baseline` is given."""
    defaults: dict[str, Any] = {
        "experiment": "e",
        "round": 1,
        "block": order,
        "position": 1,
        "attempt": 1,
        "factor": "k",
        "baseline": arm == "a",
        "purpose": Purpose.COMPARE,
        "settings": {},
        "workload": "w",
        "state": TrialState.DONE,
    }
    level = load if isinstance(load, LoadLevel) else LoadLevel(load)
    return Trial(order=order, arm=arm, load=level, **defaults | fields)


def measured(value: float, metric: str = "throughput_per_s", **fields: Any) -> Measurement:
    """Return a measurement with one value."""
    defaults: dict[str, Any] = {"phase": "measure", "unit": "", "source": "engine", "n": 1}
    return Measurement(metric=metric, **defaults | dict.fromkeys(("mean", "low", "high", "total"), value) | fields)


def series(pairs: Iterable[Pair], **fields: Any) -> PairSeries:
    """Return the pairs of arms `a` and `b` as a whole comparison of throughput."""
    made = tuple(pairs)
    defaults: dict[str, Any] = {
        "purpose": Purpose.COMPARE,
        "factor": "k",
        "workload": "w",
        "response": "throughput_per_s",
        "baseline": "a",
        "arm": "b",
        "planned": len(made),
        "faults": Faults(),
        "split": False,
    }
    return PairSeries(pairs=made, **defaults | fields)
