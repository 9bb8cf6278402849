"""What responses did within trials, as they are judged by; apart from judging, which takes long to load."""

from collections.abc import Mapping, Sequence

from sqlalchemy.engine import Engine as Store

from paribus.analysis.diagnostics.time_series import shortened
from paribus.model import Measurement, Plan, Trial, TrialState
from paribus.store import read

Series = Mapping[str, Mapping[int, Measurement]]


def made(trials: Sequence[Trial]) -> list[int]:
    """The orders of those that ended with a measurement to use."""
    return [trial.order for trial in trials if trial.state is TrialState.DONE]


def courses(store: Store, experiment: str, plan: Plan, trials: Sequence[Trial]) -> Series:
    """By response and trial the course within the trial, as short as it is judged by. Raises StoreError."""
    responses = sorted({response for workload in plan.workloads for response in workload.responses})
    orders = made(trials)
    return {
        response: {order: shortened(course) for order, course in read.each_series(store, experiment, response, orders)}
        for response in responses
    }
