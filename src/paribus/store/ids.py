"""What an experiment is called by: when it began, and what tells it from others of the same second."""

import secrets
import time

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from paribus.store import schema
from paribus.store.open import failing_as_store_error


def new_id(store: Engine | None, started: float) -> str:
    """An id that no experiment of the store has: `20261121-091403-7f3a`, in UTC. Raises StoreError."""
    while True:
        name = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(started))}-{secrets.token_hex(2)}"
        if store is None:
            return name
        with failing_as_store_error(store.url.render_as_string(hide_password=True)), store.connect() as connection:
            if connection.scalar(sa.select(schema.experiment.c.id).where(schema.experiment.c.id == name)) is None:
                return name
