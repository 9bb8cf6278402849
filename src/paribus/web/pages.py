"""The pages, the streams that update them, and the error pages.

Input: an archive. Output: a read-only ASGI application. Slow work runs in threads for which the server does not wait
when it ends.
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
from paribus.web import markup, metrics
from paribus.web.archive import Archive
from paribus.web.feed import Feed
from paribus.web.guard import METRICS

_Result = TypeVar("_Result")
_STARLETTE_MESSAGES = (N_("Not Found"),)
_POLL_S = 1.0
_KEEP_ALIVE_S = 15.0
_PAGES_AT_ONCE, _REPORTS_AT_ONCE, _FEEDS_AT_ONCE = 8, 2, 2  # each opens the store
_ICON = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M2 11h12M8 11V4" stroke="#0a66a8" \
stroke-width="2"/><circle cx="8" cy="4" r="2" fill="#0a66a8"/></svg>'


class ShutdownSignal:
    """Signal that the server ends, for tasks that wait."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def announce(self) -> None:
        """Signal that the server ends."""
        self._event.set()

    async def wait(self, seconds: float) -> bool:
        """Wait for some seconds or until the server ends; return whether it ends."""
        try:
            await asyncio.wait_for(self._event.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def run(self, work: Callable[[], _Result]) -> _Result:
        """Run `work` in a separate thread, in the current language, and return its result.

        Raises HTTPException when the server ends.
        """
        if self._event.is_set():
            raise HTTPException(503, N_("the server ends"))
        loop = asyncio.get_running_loop()
        result: asyncio.Future[_Result] = loop.create_future()

        def settle(set_result: Callable[[], None]) -> None:
            if not result.done():
                set_result()

        def carry_out() -> None:
            try:
                set_result = functools.partial(result.set_result, work())
            except Exception as error:  # it is raised again where it is waited for
                set_result = functools.partial(result.set_exception, error)
            with contextlib.suppress(RuntimeError):  # the server has ended, and nobody waits
                loop.call_soon_threadsafe(settle, set_result)

        threading.Thread(target=contextvars.copy_context().run, args=(carry_out,), daemon=True).start()
        ended = asyncio.ensure_future(self._event.wait())
        either: tuple[asyncio.Future[Any], ...] = (result, ended)
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        ended.cancel()
        if not result.done():
            raise HTTPException(503, N_("the server ends"))
        return result.result()


class Pages:
    """The pages of an archive."""

    def __init__(self, archive: Archive, shutdown: ShutdownSignal) -> None:
        self._archive = archive
        self._shutdown = shutdown
        self._pages, self._reports = asyncio.Semaphore(_PAGES_AT_ONCE), asyncio.Semaphore(_REPORTS_AT_ONCE)
        self._making_feeds = asyncio.Semaphore(_FEEDS_AT_ONCE)
        self._feeds: weakref.WeakValueDictionary[Hashable, Feed] = weakref.WeakValueDictionary()

    def application(self) -> Starlette:
        """All routes, with their error pages."""
        routes = [
            Route("/", self._list),
            Route("/stream", self._list_stream),
            Route("/experiments/{name}", self._experiment),
            Route("/experiments/{name}/stream", self._experiment_stream),
            Route("/experiments/{name}/report", self._report),
            Route(METRICS, self._metrics),
            Route("/style.css", _fixed(markup.style, "text/css")),
            Route("/live.js", _fixed(markup.script, "text/javascript")),
            Route("/favicon.ico", _fixed(lambda: _ICON, "image/svg+xml")),
        ]
        return Starlette(routes=routes, exception_handlers={ParibusError: _trouble, HTTPException: _no_page})

    async def _list(self, _request: Request) -> Response:
        async with self._pages:
            listing = await self._shutdown.run(self._archive.listing)
        return HTMLResponse(markup.page("list.html", listing=listing))

    async def _experiment(self, request: Request) -> Response:
        async with self._pages:
            live = await self._shutdown.run(functools.partial(self._archive.live, request.path_params["name"]))
        return HTMLResponse(markup.page("experiment.html", live=live))

    async def _report(self, request: Request) -> Response:
        async with self._reports:
            page = await self._shutdown.run(functools.partial(self._archive.report, request.path_params["name"]))
        return HTMLResponse(page, headers={"content-security-policy": markup.policy_of(page)})

    async def _metrics(self, _request: Request) -> Response:
        async with self._pages:
            return Response(await self._shutdown.run(self._archive.metrics), media_type=metrics.MEDIA_TYPE)

    async def _list_stream(self, _request: Request) -> Response:
        feed = self._feed("", lambda: markup.parts("list.html", listing=self._archive.listing()))
        return _stream(self._changes(feed))

    async def _experiment_stream(self, request: Request) -> Response:
        name = request.path_params["name"]
        feed = self._feed(name, lambda: markup.parts("experiment.html", live=self._archive.live(name)))
        return _stream(self._changes(feed))

    def _feed(self, name: str, make_parts: Callable[[], dict[str, str]]) -> Feed:
        """The feed of an experiment, or of the list (""), in the current language; it exists while a stream uses it."""

        async def make() -> dict[str, str]:
            async with self._making_feeds:
                return {"trouble": ""} | await self._shutdown.run(functools.partial(_parts_or_error, make_parts))

        feed = self._feeds.get((name, tag()))
        if feed is None:
            feed = self._feeds[name, tag()] = Feed(self._archive.stamp, make)
        return feed

    async def _changes(self, feed: Feed) -> AsyncIterator[str]:
        """An event with the changed parts of a page, whenever the store changes."""
        version, silent_s = 0, 0.0
        while True:
            try:
                version, event = await feed.since(version)
            except HTTPException:  # the server ends: so does the stream, whole
                return
            if event:
                silent_s = 0.0
                yield event
            if await self._shutdown.wait(_POLL_S):
                return
            silent_s += _POLL_S
            if silent_s >= _KEEP_ALIVE_S:  # so that a connection that is gone is noticed
                silent_s = 0.0
                yield ": nothing new\n\n"


def _parts_or_error(make_parts: Callable[[], dict[str, str]]) -> dict[str, str]:
    try:
        return make_parts()
    except ParibusError as error:
        return markup.parts("trouble.html", title=gettext("Error"), error=error)


def _stream(events: AsyncIterator[str]) -> Response:
    return StreamingResponse(events, media_type="text/event-stream")


def _fixed(text: Callable[[], str], media_type: str) -> Callable[[Request], object]:
    async def answer(_request: Request) -> Response:
        return Response(text(), media_type=media_type)

    return answer


async def _trouble(_request: Request, error: Exception) -> Response:
    """Error page for a store that cannot be read, or an unknown experiment."""
    assert isinstance(error, ParibusError)
    is_unknown = isinstance(error, UsageError)
    title = gettext("The store cannot be read") if isinstance(error, StoreError) else gettext("The page cannot be made")
    title = gettext("No such experiment") if is_unknown else title
    page = markup.page("trouble.html", title=title, error=error, again=not is_unknown)
    return HTMLResponse(page, 404 if is_unknown else 503)


async def _no_page(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    shown_error = ParibusError(
        f"{error.status_code}: {gettext(error.detail)}", gettext("start from the list of experiments")
    )
    page = markup.page("trouble.html", title=gettext("No such page"), error=shown_error, again=False)
    return HTMLResponse(page, error.status_code)
