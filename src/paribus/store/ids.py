"""Experiment ids: the start time in UTC and a random suffix."""

import secrets
import time

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from paribus.store import schema
from paribus.store.open import connected


def new_id(store: Engine | None, started: float) -> str:
    """Return an unused id such as `20261121-091403-7f3a` (`started`: seconds since 1970). Raises StoreError."""
    while True:
        identifier = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(started))}-{secrets.token_hex(2)}"
        if store is None:
            return identifier
        with connected(store) as connection:
            if connection.scalar(sa.select(schema.experiment.c.id).where(schema.experiment.c.id == identifier)) is None:
                return identifier
