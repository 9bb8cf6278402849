"""The pages, the streams that keep them up to date, and what is shown where the store cannot be read.

In: an archive. Out: an ASGI application that only reads. What takes long is done in threads that nobody waits for when
the server ends.
"""

import asyncio
import contextlib
import contextvars
import functools
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Hashable
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from paribus.errors import ParibusError, StoreError, UsageError
from paribus.i18n import N_, gettext, tag
from paribus.web import markup
from paribus.web.archive import Archive
from paribus.web.feed import Feed

_Made = TypeVar("_Made")
_SAID_BY_STARLETTE = (N_("Not Found"),)
_LOOK_EVERY_S = 1.0
_ALIVE_EVERY_S = 15.0
_PAGES_AT_ONCE, _REPORTS_AT_ONCE, _FEEDS_AT_ONCE = 8, 2, 2  # each opens the store
_ICON = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M2 11h12M8 11V4" stroke="#0a66a8" \
stroke-width="2"/><circle cx="8" cy="4" r="2" fill="#0a66a8"/></svg>'


class Ending:
    """Whether the server ends; what waits for it hears of it at once."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def announce(self) -> None:
        """The server ends now."""
        self._event.set()

    async def within(self, seconds: float) -> bool:
        """Wait for so long, or until the server ends; whether it does."""
        try:
            await asyncio.wait_for(self._event.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def unless(self, work: Callable[[], _Made]) -> _Made:
        """Do this in a thread of its own, in the language spoken here, and return what came of it.

        Raises HTTPException when the server ends.
        """
        if self._event.is_set():
            raise HTTPException(503, N_("the server ends"))
        loop = asyncio.get_running_loop()
        made: asyncio.Future[_Made] = loop.create_future()

        def settle(result: Callable[[], None]) -> None:
            if not made.done():
                result()

        def carry_out() -> None:
            try:
                done = functools.partial(made.set_result, work())
            except Exception as error:  # it is raised again where it is waited for
                done = functools.partial(made.set_exception, error)
            with contextlib.suppress(RuntimeError):  # the server has ended, and nobody waits
                loop.call_soon_threadsafe(settle, done)

        threading.Thread(target=contextvars.copy_context().run, args=(carry_out,), daemon=True).start()
        ended = asyncio.ensure_future(self._event.wait())
        either: tuple[asyncio.Future[Any], ...] = (made, ended)
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        ended.cancel()
        if not made.done():
            raise HTTPException(503, N_("the server ends"))
        return made.result()


class Pages:
    """What is answered to each address."""

    def __init__(self, archive: Archive, ending: Ending) -> None:
        self._archive = archive
        self._ending = ending
        self._pages, self._reports = asyncio.Semaphore(_PAGES_AT_ONCE), asyncio.Semaphore(_REPORTS_AT_ONCE)
        self._making_feeds = asyncio.Semaphore(_FEEDS_AT_ONCE)
        self._feeds: weakref.WeakValueDictionary[Hashable, Feed] = weakref.WeakValueDictionary()

    def application(self) -> Starlette:
        """All addresses, and what is shown where one fails."""
        routes = [
            Route("/", self._list),
            Route("/stream", self._list_stream),
            Route("/experiments/{name}", self._experiment),
            Route("/experiments/{name}/stream", self._experiment_stream),
            Route("/experiments/{name}/report", self._report),
            Route("/style.css", _fixed(markup.style, "text/css")),
            Route("/live.js", _fixed(markup.script, "text/javascript")),
            Route("/favicon.ico", _fixed(lambda: _ICON, "image/svg+xml")),
        ]
        return Starlette(routes=routes, exception_handlers={ParibusError: _trouble, HTTPException: _no_page})

    async def _list(self, _request: Request) -> Response:
        async with self._pages:
            listing = await self._ending.unless(self._archive.listing)
        return HTMLResponse(markup.page("list.html", listing=listing))

    async def _experiment(self, request: Request) -> Response:
        async with self._pages:
            seen = await self._ending.unless(functools.partial(self._archive.live, request.path_params["name"]))
        return HTMLResponse(markup.page("experiment.html", live=seen))

    async def _report(self, request: Request) -> Response:
        async with self._reports:
            page = await self._ending.unless(functools.partial(self._archive.report, request.path_params["name"]))
        return HTMLResponse(page, headers={"content-security-policy": markup.policy_of(page)})

    async def _list_stream(self, _request: Request) -> Response:
        feed = self._feed("", lambda: markup.parts("list.html", listing=self._archive.listing()))
        return _stream(self._changes(feed))

    async def _experiment_stream(self, request: Request) -> Response:
        name = request.path_params["name"]
        feed = self._feed(name, lambda: markup.parts("experiment.html", live=self._archive.live(name)))
        return _stream(self._changes(feed))

    def _feed(self, name: str, made: Callable[[], dict[str, str]]) -> Feed:
        """The feed of an experiment, or of the list (""), in the language spoken here, as long as it has a stream."""

        async def make() -> dict[str, str]:
            async with self._making_feeds:
                return {"trouble": ""} | await self._ending.unless(functools.partial(_or_trouble, made))

        feed = self._feeds.get((name, tag()))
        if feed is None:
            feed = self._feeds[name, tag()] = Feed(self._archive.stamp, make)
        return feed

    async def _changes(self, feed: Feed) -> AsyncIterator[str]:
        """An event with the parts of a page that are other than before, whenever the store changed."""
        version, silent_s = 0, 0.0
        while True:
            try:
                version, event = await feed.since(version)
            except HTTPException:  # the server ends: so does the stream, whole
                return
            if event:
                silent_s = 0.0
                yield event
            if await self._ending.within(_LOOK_EVERY_S):
                return
            silent_s += _LOOK_EVERY_S
            if silent_s >= _ALIVE_EVERY_S:  # so that a connection that is gone is noticed
                silent_s = 0.0
                yield ": nothing new\n\n"


def _or_trouble(made: Callable[[], dict[str, str]]) -> dict[str, str]:
    try:
        return made()
    except ParibusError as error:
        return markup.parts("trouble.html", title=gettext("Error"), error=error)


def _stream(events: AsyncIterator[str]) -> Response:
    return StreamingResponse(events, media_type="text/event-stream")


def _fixed(text: Callable[[], str], kind: str) -> Callable[[Request], object]:
    async def answer(_request: Request) -> Response:
        return Response(text(), media_type=kind)

    return answer


async def _trouble(_request: Request, error: Exception) -> Response:
    """What is wrong with the store, or that it holds no such experiment."""
    assert isinstance(error, ParibusError)
    is_unknown = isinstance(error, UsageError)
    title = gettext("The store cannot be read") if isinstance(error, StoreError) else gettext("The page cannot be made")
    title = gettext("No such experiment") if is_unknown else title
    page = markup.page("trouble.html", title=title, error=error, again=not is_unknown)
    return HTMLResponse(page, 404 if is_unknown else 503)


async def _no_page(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    known = ParibusError(f"{error.status_code}: {gettext(error.detail)}", gettext("start from the list of experiments"))
    page = markup.page("trouble.html", title=gettext("No such page"), error=known, again=False)
    return HTMLResponse(page, error.status_code)
