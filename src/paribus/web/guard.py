"""Access control of the pages: the token, the host name and read-only methods.

The token arrives once in a URL, then as a cookie that no script and no other site can use. A program that collects
numbers sends it with each request for these, in the header that RFC 6750 names. A foreign name in the Host
header belongs to a page whose owner points that name here (DNS rebinding).
"""

import secrets
import socket
from collections.abc import Collection, MutableMapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from paribus.i18n import gettext
from paribus.web import markup
from paribus.web.connections.addresses import is_loopback
from paribus.web.connections.connection import ADMIT

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
_SECURITY_HEADERS = {
    "content-security-policy": POLICY,
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
METRICS = "/metrics"
_READING = ("GET", "HEAD")
_CLOSE = {"connection": "close"}


class Hosts:
    """Host names accepted in requests; for a loopback address only names of this machine.

    For other addresses every IP address too, since rebinding needs a name; ports differ under forwarding.
    """

    def __init__(self, address: str, named: Collection[str] = ()) -> None:
        self._is_local = is_loopback(address)
        self._names = (
            {"localhost"}
            if self._is_local
            else {"localhost", *(name.lower() for name in (socket.gethostname(), *named))}
        )

    def allow(self, header: str) -> bool:
        """Whether this Host header belongs to this machine."""
        try:
            parts = urlsplit(f"//{header}")
            host = parts.hostname or ""
        except ValueError:
            return False
        if parts.netloc != header or "@" in header:
            return False
        try:
            return is_loopback(host) or not self._is_local
        except ValueError:
            return host in self._names


class Guard:
    """Refuses requests without the token, and adds security headers to every answer."""

    def __init__(self, app: "ASGIApp", token: str, hosts: Hosts, cookie: str) -> None:
        self._app = app
        self._token = token.encode()
        self._hosts = hosts
        self._cookie = cookie

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Pass a request on, or answer it."""

        async def send_strictly(message: "Message") -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        if scope["type"] == "http":
            answer: ASGIApp = self._refusal(scope) or self._entrance(scope) or self._app
            await answer(scope, receive, send_strictly)

    def _refusal(self, scope: MutableMapping[str, Any]) -> Response | None:
        headers = Headers(scope=scope)
        if not self._hosts.allow(headers.get("host", "")):
            return PlainTextResponse(gettext("This host name does not belong to this machine.") + "\n", 403, _CLOSE)
        cookie = cookie_parser(headers.get("cookie", "")).get(self._cookie, "")
        candidates = cookie, _token_in(scope), _bearer(headers) if scope["path"] == METRICS else ""
        if not any(map(self._is_token, candidates)):
            message = gettext("Open the URL that paribus serve printed when it was started.")
            return PlainTextResponse(f"{message}\n", 403, _CLOSE)
        if not scope.get("state", {}).get(ADMIT, lambda: True)():
            return PlainTextResponse(gettext("Too many pages are open: close some.") + "\n", 503, _CLOSE)
        if "transfer-encoding" in headers or headers.get("content-length", "0") != "0":
            return PlainTextResponse(gettext("Requests to these pages must not have a body.") + "\n", 413, _CLOSE)
        if scope["method"] not in _READING:
            return PlainTextResponse(
                gettext("These pages can only be read.") + "\n", 405, {"allow": ", ".join(_READING)}
            )
        return None

    def _entrance(self, scope: MutableMapping[str, Any]) -> Response | None:
        """For a URL with the token, a page that sets the cookie and continues without the token.

        It is no redirect: coming from another site, a browser would not send a strict cookie with it.
        """
        if not self._is_token(_token_in(scope)):
            return None
        path = "/" + scope["path"].lstrip("/")
        answer = HTMLResponse(markup.page("entrance.html", path=path))
        answer.set_cookie(self._cookie, self._token.decode(), httponly=True, samesite="strict")
        return answer

    def _is_token(self, candidate: str) -> bool:
        return secrets.compare_digest(candidate.encode(), self._token)


def _bearer(headers: Headers) -> str:
    """The token of an Authorization header of that scheme."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _token_in(scope: MutableMapping[str, Any]) -> str:
    query: dict[str, list[str]] = parse_qs(scope["query_string"].decode("latin-1"))
    return query.get("token", [""])[-1]
