"""Planned trials that are withdrawn, since what was learned makes them needless or too expensive."""

from collections.abc import Collection, Sequence

from sqlalchemy.engine import Engine as Store

from paribus.model import Trial
from paribus.plan.schedule.design import schedule_hash
from paribus.store import write


def without(orders: Collection[int], trials: Sequence[Trial], experiment: str, store: Store) -> list[Trial]:
    """The trials but those of these orders, which are deleted from the store. Raises StoreError."""
    remaining = [trial for trial in trials if trial.order not in orders]
    write.drop(store, experiment, orders, max(trial.round for trial in remaining), schedule_hash(remaining))
    return remaining
