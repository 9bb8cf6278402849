"""Removal of the time series of old experiments; their summaries stay."""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from paribus.i18n import StoredMessage
from paribus.model import RESPONSES
from paribus.store import schema
from paribus.store.open import connected
from paribus.store.write import add_note, transaction

_LOADS = ("engine", *RESPONSES)
"""Sources and metrics of the load itself: verdicts and their checks read these series again."""


def count_series(store: Engine, experiments: Sequence[str]) -> int:
    """Return the number of time series that `prune` would remove. Raises StoreError."""
    with connected(store) as connection:
        query = sa.select(sa.func.count()).select_from(schema.measurement).where(_removable(experiments))
        return int(connection.scalar(query) or 0)


def prune(store: Engine, experiments: Sequence[str], note: StoredMessage) -> None:
    """Remove the time series of these experiments that no verdict reads, and add a note to each. Raises StoreError."""
    with transaction(store) as connection:
        connection.execute(sa.update(schema.measurement).where(_removable(experiments)).values(points=None))
    for experiment in experiments:
        add_note(store, experiment, note)


def _removable(experiments: Sequence[str]) -> sa.ColumnElement[bool]:
    c = schema.measurement.c
    is_of_load = sa.or_(c.source.in_(_LOADS), c.metric.in_(_LOADS))
    return sa.and_(c.experiment.in_(experiments), c.points.is_not(None), sa.not_(is_of_load))
