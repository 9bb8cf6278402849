"""Time series of responses within trials, shortened for judging; separate because judging is slow to import."""

from collections.abc import Mapping, Sequence

from sqlalchemy.engine import Engine as Store

from paribus.analysis.diagnostics.time_series import shortened
from paribus.model import Measurement, Plan, Trial, TrialState
from paribus.store import read

Series = Mapping[str, Mapping[int, Measurement]]


def done_orders(trials: Sequence[Trial]) -> list[int]:
    """The orders of the trials that ended with a usable measurement."""
    return [trial.order for trial in trials if trial.state is TrialState.DONE]


def response_series(store: Store, experiment: str, plan: Plan, trials: Sequence[Trial]) -> Series:
    """By response and trial, the shortened time series within the trial. Raises StoreError."""
    responses = sorted({response for workload in plan.workloads for response in workload.responses})
    orders = done_orders(trials)
    return {
        response: {order: shortened(series) for order, series in read.each_series(store, experiment, response, orders)}
        for response in responses
    }
