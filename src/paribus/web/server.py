"""The web server of `paribus serve`: listening, serving and ending without waiting for clients."""

import asyncio
import errno
import logging
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import uvicorn

from paribus.errors import UsageError
from paribus.i18n import Language
from paribus.web.archive import Archive
from paribus.web.connections.acceptor import Acceptor
from paribus.web.connections.addresses import is_loopback
from paribus.web.connections.connection import Connection
from paribus.web.connections.limits import HEADER_BYTES, IDLE_S, ConnectionTable, connection_limits
from paribus.web.connections.notices import NoticeHandler, Notices
from paribus.web.guard import Guard, Hosts
from paribus.web.language import LanguageMiddleware
from paribus.web.pages import Pages, ShutdownSignal


@dataclass(frozen=True, slots=True, kw_only=True)
class ListeningAddress:
    """The listening socket, the requested address name, and the bound address and port."""

    socket: socket.socket
    named: str
    address: str
    port: int

    @property
    def is_open(self) -> bool:
        """Whether other machines can connect."""
        return not is_loopback(self.address)

    @property
    def url(self) -> str:
        """URL for a browser, without the token."""
        is_any = self.address in ("0.0.0.0", "::")  # noqa: S104  compared, not bound
        host = socket.gethostname() if is_any else self.address
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"


def listen(address_name: str, port: int) -> ListeningAddress:
    """Listen at an address; port 0 takes any free port. Raises UsageError if that is not possible."""
    try:
        family, kind, protocol, _, socket_address = socket.getaddrinfo(address_name, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as error:
        raise UsageError(
            f"{address_name} is not an address: {error}", "name an address of this machine with --bind"
        ) from error
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(socket_address)
        listening.listen(socket.SOMAXCONN)
    except OSError as error:
        listening.close()
        bind_hint = "name an address of this machine with --bind"
        todo = (
            bind_hint if error.errno == errno.EADDRNOTAVAIL else "choose another with --port, or any free one: --port 0"
        )
        raise UsageError(f"cannot listen at {address_name}, port {port}: {error.strerror}", todo) from error
    address, bound_port = listening.getsockname()[:2]
    return ListeningAddress(socket=listening, named=address_name, address=address, port=bound_port)


class _Server(uvicorn.Server):
    """A server with its own connection handling, which notifies waiting tasks when it ends."""

    def __init__(
        self, config: uvicorn.Config, listening: socket.socket, shutdown: ShutdownSignal, notices: Notices
    ) -> None:
        super().__init__(config)
        self._shutdown = shutdown
        self._notices = notices
        self._table = ConnectionTable(connection_limits())
        self._acceptor = Acceptor(
            listening,
            lambda peer: Connection(config, self.server_state, self._table, notices, peer),
            self._table,
            notices,
        )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept connections."""
        await super().startup(sockets)
        self._acceptor.start()

    async def on_tick(self, counter: int) -> bool:
        """Close late connections once a second; return whether the server must end."""
        if counter % 10 == 0:  # it ticks ten times a second
            self._table.check(asyncio.get_running_loop().time())
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End; running streams and pages in progress are abandoned."""
        self._acceptor.stop()
        self._notices.stop()
        self._shutdown.announce()
        await super().shutdown(sockets)


def serve(
    archive: Archive,
    listening: ListeningAddress,
    language: Language | None,
    notices: Notices,
    ready: Callable[[str], None],
    token: str,
) -> None:
    """Answer requests for those who have the token, until Ctrl-C; `ready` receives the URL with it.

    Pages are in `language`; None: each in the language of its reader. Hostile requests are reported to `notices`.
    """
    with listening.socket, _logs_as_notices(notices), suppress(KeyboardInterrupt):
        ready(f"{listening.url}/?token={token}")
        notices.start()
        asyncio.run(_answer(archive, listening, language, token, notices))


async def _answer(
    archive: Archive, listening: ListeningAddress, language: Language | None, token: str, notices: Notices
) -> None:
    shutdown = ShutdownSignal()
    # Browsers keep the cookies of all ports together.
    guarded = Guard(
        Pages(archive, shutdown).application(),
        token,
        Hosts(listening.address, {listening.named}),
        f"paribus-{listening.port}",
    )
    config = uvicorn.Config(
        LanguageMiddleware(guarded, language),
        lifespan="off",
        ws="none",
        access_log=False,  # it would hold the token
        log_config=None,
        log_level="error",
        server_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=HEADER_BYTES,
        timeout_keep_alive=int(IDLE_S),
        timeout_graceful_shutdown=1,
    )
    await _Server(config, listening.socket, shutdown, notices).serve(sockets=[])  # the acceptor listens


@contextmanager
def _logs_as_notices(notices: Notices) -> Iterator[None]:
    """Count log records of libraries, so that no serving thread writes to standard error."""
    handler, root = NoticeHandler(notices), logging.getLogger()
    root.addHandler(handler)
    logging.captureWarnings(True)
    try:
        yield
    finally:
        logging.captureWarnings(False)
        root.removeHandler(handler)
