"""The server: a socket that is ours before anything is said, and an end that waits for nobody."""

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
from paribus.web.acceptor import Acceptor
from paribus.web.addresses import is_loopback
from paribus.web.archive import Archive
from paribus.web.connection import Connection
from paribus.web.guard import Guard, Hosts, make_token
from paribus.web.interpreter import Interpreter
from paribus.web.limits import HEADER_BYTES, IDLE_S, ConnectionTable, connection_limits
from paribus.web.notices import NoticeHandler, Notices
from paribus.web.pages import Ending, Pages


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where it listens: the socket, the name that was asked for, and whether others than this machine reach it."""

    socket: socket.socket
    named: str
    address: str
    port: int

    @property
    def is_open(self) -> bool:
        """Whether other machines reach it."""
        return not is_loopback(self.address)

    @property
    def url(self) -> str:
        """Its address for a browser."""
        is_any = self.address in ("0.0.0.0", "::")  # noqa: S104  compared, not bound
        host = socket.gethostname() if is_any else self.address
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"


def listen(named: str, port: int) -> Place:
    """Listen at this address; port 0 takes any that is free. Raises UsageError where that is not possible."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(named, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as error:
        raise UsageError(f"{named} is no address: {error}", "name one of this machine with --bind") from error
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
        listening.listen(socket.SOMAXCONN)
    except OSError as error:
        listening.close()
        ours = "name an address of this machine with --bind"
        todo = ours if error.errno == errno.EADDRNOTAVAIL else "choose another with --port, or any free one: --port 0"
        raise UsageError(f"cannot listen at {named}, port {port}: {error.strerror}", todo) from error
    address, taken = listening.getsockname()[:2]
    return Place(socket=listening, named=named, address=address, port=taken)


class _Server(uvicorn.Server):
    """A server with connections of our own, which tells those who wait that it ends, instead of waiting for them."""

    def __init__(self, config: uvicorn.Config, listening: socket.socket, ending: Ending, notices: Notices) -> None:
        super().__init__(config)
        self._ending = ending
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
        """Close what is late, once a second; whether the server is to end."""
        if counter % 10 == 0:  # it ticks ten times a second
            self._table.check(asyncio.get_running_loop().time())
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End: streams and what is being made for someone come to nothing."""
        self._acceptor.stop()
        self._notices.stop()
        self._ending.announce()
        await super().shutdown(sockets)


def serve(
    archive: Archive, place: Place, language: Language | None, notices: Notices, ready: Callable[[str], None]
) -> None:
    """Answer requests until Ctrl-C; `ready` gets the URL with its token when it is time to say it.

    Pages are in this language; None: each in that of its reader. Hostile requests are reported to `notices`.
    """
    token = make_token()
    with place.socket, _logs_as_notices(notices), suppress(KeyboardInterrupt):
        ready(f"{place.url}/?token={token}")
        notices.start()
        asyncio.run(_answer(archive, place, language, token, notices))


async def _answer(archive: Archive, place: Place, language: Language | None, token: str, notices: Notices) -> None:
    ending = Ending()
    # Browsers keep the cookies of all ports together.
    guarded = Guard(
        Pages(archive, ending).application(), token, Hosts(place.address, {place.named}), f"paribus-{place.port}"
    )
    config = uvicorn.Config(
        Interpreter(guarded, language),
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
    await _Server(config, place.socket, ending, notices).serve(sockets=[])  # the acceptor listens


@contextmanager
def _logs_as_notices(notices: Notices) -> Iterator[None]:
    """What libraries log is counted, and nothing of it is written by a thread that serves."""
    handler, root = NoticeHandler(notices), logging.getLogger()
    root.addHandler(handler)
    logging.captureWarnings(True)
    try:
        yield
    finally:
        logging.captureWarnings(False)
        root.removeHandler(handler)
