"""Connections to machines, and the lines that they report to a person."""

import contextlib
from collections.abc import Callable, Iterator

from paribus.engine import find
from paribus.errors import EngineError, HostError
from paribus.hosts.local import LocalHost
from paribus.hosts.ssh import SshHost
from paribus.knobs import catalog
from paribus.knobs.journals import not_inspected
from paribus.trial.target_session import Site

LOCAL = "local"
Report = Callable[[str], None]
"""Receiver of a line of text for a person."""


def discard(_line: str) -> None:
    """Ignore a line of text."""


@contextlib.contextmanager
def site(
    address: str = LOCAL, *, become: bool = False, report: Report = discard, subject: str = catalog.LOAD
) -> Iterator[Site]:
    """Connect to a machine: `local`, or `ssh://[user@]host[:port]`; disconnect when the context ends.

    `subject` is the process that short names of conditions such as `process.numa` are for. `report` receives lines
    about the connection. Raises EngineError when the engine is not installed here, UsageError and HostError where there
    is no such machine.
    """
    engine, knobs = find.binary(), catalog.load().with_subject(subject)
    if address == LOCAL:
        yield Site(LocalHost(), engine, knobs)
        return
    host = SshHost(address, engine, find.for_other_machines(), become=become, report=report)
    try:
        yield Site(host, host.engine, knobs)
    finally:
        host.close()


@contextlib.contextmanager
def inspected_site(address: str = LOCAL, *, become: bool = False, report: Report = discard) -> Iterator[Site]:
    """Connect as `site` does, to read journals; raises NotInspected (exit code 4) where the connection fails."""
    try:
        with site(address, become=become, report=report) as connected:
            yield connected
    except (HostError, EngineError) as error:
        raise not_inspected(address, error.message, error.todo) from error
