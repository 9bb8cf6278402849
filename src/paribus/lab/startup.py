"""Preparation of the process before any other program is started."""

from paribus.hosts import environment


def withhold_passwords() -> None:
    """Remove the usual password variables of database clients from the environment of child processes."""
    environment.withhold(*environment.USUAL)
