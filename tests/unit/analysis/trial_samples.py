"""Trials and what they measured, of which a test says only what matters to it."""

from typing import Any

from paribus.model import Measurement, Purpose, Trial, TrialState
from paribus.units import LoadLevel


def trial(order: int, arm: str = "a", load: int | LoadLevel = 1, **known: Any) -> Trial:
    """A trial that is done; arm `a` is the baseline unless that is said."""
    usual: dict[str, Any] = {
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
    return Trial(order=order, arm=arm, load=level, **usual | known)


def measured(value: float, metric: str = "throughput_per_s", **known: Any) -> Measurement:
    """One value of a metric."""
    usual: dict[str, Any] = {"phase": "measure", "unit": "", "source": "engine", "n": 1}
    return Measurement(metric=metric, **usual | dict.fromkeys(("mean", "low", "high", "total"), value) | known)
