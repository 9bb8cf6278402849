"""Language of a page: that of the page it updates, else the command line's, else the browser's."""

from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from starlette.datastructures import Headers

from paribus.i18n import Language, of_accepted, speaking

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


class LanguageMiddleware:
    """Answers every request in one language; None: the language that the browser prefers.

    A stream names the language of its page in its address (`?lang=zh-CN`), since the page is not rendered again.
    """

    def __init__(self, app: "ASGIApp", language: Language | None) -> None:
        self._app = app
        self._language = language

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer a request."""
        with speaking(self._of(scope)):
            await self._app(scope, receive, send)

    def _of(self, scope: "Scope") -> Language:
        languages = parse_qs(scope["query_string"].decode("latin-1")).get("lang")
        if languages:
            return of_accepted(languages[-1])
        return self._language or of_accepted(",".join(Headers(scope=scope).getlist("accept-language")))
