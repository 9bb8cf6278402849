"""Alembic migrations from earlier releases."""

HEAD = "0012"
