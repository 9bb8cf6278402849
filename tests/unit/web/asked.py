"""Requests put to the application without a socket, and streams as they come."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paribus.i18n import Language
from paribus.lab.results import reporting
from paribus.store.open import store_url
from paribus.web import cut_offs
from paribus.web.archive import Archive, ViewOf
from paribus.web.guard import Guard, Hosts
from paribus.web.language import LanguageMiddleware
from paribus.web.pages import Pages, ShutdownSignal

TOKEN = "a-token-of-43-characters-as-secrets-makes-it"  # noqa: S105  for these tests
COOKIE = "paribus-8321"
KNOWN = {"host": "127.0.0.1:8321", "cookie": f"{COOKIE}={TOKEN}"}


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    text: str


class Site:
    """The pages of a store, in a language or in that of whoever asks."""

    def __init__(
        self,
        store: Path,
        view_of: ViewOf = reporting.report_view,
        language: Language | None = None,
        running_here: cut_offs.RunningHere = cut_offs.unknown,
    ) -> None:
        self.shutdown = ShutdownSignal()
        archive = Archive(store_url(str(store)), view_of, running_here)
        guarded = Guard(Pages(archive, self.shutdown).application(), TOKEN, Hosts("127.0.0.1"), COOKIE)
        self._app = LanguageMiddleware(guarded, language)

    async def ask(self, path: str, method: str = "GET", headers: dict[str, str] = KNOWN) -> Answer:
        """One request and its whole answer."""
        sent: asyncio.Queue[Any] = asyncio.Queue()
        await self._app(_scope(path, method, headers), _nothing, sent.put)
        start = await sent.get()
        body = b""
        while not sent.empty():
            body += (await sent.get()).get("body", b"")
        told = {name.decode(): value.decode() for name, value in start["headers"]}
        return Answer(start["status"], told, body.decode())

    @asynccontextmanager
    async def stream(self, path: str, headers: dict[str, str] = KNOWN) -> AsyncIterator["Stream"]:
        """A stream that is open."""
        sent: asyncio.Queue[Any] = asyncio.Queue()
        task = asyncio.create_task(self._app(_scope(path, "GET", headers), _nothing, sent.put))
        try:
            yield Stream(sent, task)
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


class Stream:
    """Events of a stream."""

    def __init__(self, sent: "asyncio.Queue[Any]", task: "asyncio.Task[None]") -> None:
        self._sent = sent
        self._task = task

    async def parts(self) -> dict[str, str]:
        """The parts of the next event."""
        while True:
            body = (await asyncio.wait_for(self._sent.get(), 10)).get("body", b"").decode()
            if body.startswith("data: "):
                found: dict[str, str] = json.loads(body.removeprefix("data: "))
                return found

    async def until(self, part: str, words: str) -> dict[str, str]:
        """The first event in which a part says this."""
        while True:
            found = await self.parts()
            if words in found.get(part, ""):
                return found

    async def end(self) -> None:
        """Wait until it ends by itself."""
        await asyncio.wait_for(self._task, 1)


def _scope(path: str, method: str, headers: dict[str, str]) -> dict[str, Any]:
    place, _, query = path.partition("?")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": place,
        "raw_path": place.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 40000),
        "server": ("127.0.0.1", 8321),
    }


async def _nothing() -> dict[str, Any]:
    """A client that stays and says no more."""
    await asyncio.Event().wait()
    return {}
