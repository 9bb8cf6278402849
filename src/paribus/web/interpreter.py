"""In which language a page speaks: that of the page it follows, else the command line's, else its reader's."""

from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from starlette.datastructures import Headers

from paribus.i18n import Language, of_accepted, speaking

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


class Interpreter:
    """Has every request answered in one language; None: in that which its browser asks for.

    A stream names the language of its page in its address (`?lang=zh-CN`), since the page is not made anew.
    """

    def __init__(self, app: "ASGIApp", language: Language | None) -> None:
        self._app = app
        self._language = language

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer a request."""
        with speaking(self._of(scope)):
            await self._app(scope, receive, send)

    def _of(self, scope: "Scope") -> Language:
        named = parse_qs(scope["query_string"].decode("latin-1")).get("lang")
        if named:
            return of_accepted(named[-1])
        return self._language or of_accepted(",".join(Headers(scope=scope).getlist("accept-language")))
