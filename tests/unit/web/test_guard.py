"""Access to pages: only with the token, under a name of this machine, and only to read."""

import asyncio
from pathlib import Path

import pytest
from asked import COOKIE, KNOWN, TOKEN, Answer, Site

from paribus.web.guard import Hosts

EVERYWHERE = [
    "/",
    "/stream",
    "/experiments/last",
    "/experiments/last/stream",
    "/experiments/last/report",
    "/style.css",
    "/live.js",
    "/favicon.ico",
    "/metrics/",
    "/nothing",
]


def ask(tmp_path: Path, path: str, method: str = "GET", headers: dict[str, str] = KNOWN) -> Answer:
    async def once() -> Answer:
        return await Site(tmp_path / "no.db").ask(path, method, headers)

    return asyncio.run(once())


@pytest.mark.parametrize("path", EVERYWHERE)
@pytest.mark.parametrize(
    "headers",
    [
        {"host": "localhost:8321"},
        {"host": "localhost:8321", "cookie": f"{COOKIE}="},
        {"host": "localhost:8321", "cookie": f"{COOKIE}={TOKEN[:-1]}"},
        {"host": "localhost:8321", "cookie": f"paribus-8322={TOKEN}"},
        {"host": "localhost:8321", "cookie": f"{COOKIE}=\xe4"},
        {"host": "localhost:8321", "authorization": f"Bearer {TOKEN}"},
    ],
)
def test_without_the_token_nothing_is_shown(tmp_path: Path, path: str, headers: dict[str, str]) -> None:
    answer = ask(tmp_path, path, headers=headers)
    assert answer.status == 403
    assert "paribus serve" in answer.text
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("query", ["?token=", "?token=wrong", f"?token={TOKEN}x", f"?other={TOKEN}"])
def test_a_wrong_token_in_the_url_opens_nothing(tmp_path: Path, query: str) -> None:
    answer = ask(tmp_path, f"/{query}", headers={"host": "localhost"})
    assert answer.status == 403
    assert "set-cookie" not in answer.headers


def test_a_wrong_token_in_the_url_is_no_way_in_beside_a_right_cookie(tmp_path: Path) -> None:
    assert ask(tmp_path, "/?token=wrong").headers.get("set-cookie") is None


def test_the_token_in_the_url_becomes_a_strict_cookie_and_leaves_the_url(tmp_path: Path) -> None:
    answer = ask(tmp_path, f"/?token={TOKEN}", headers={"host": "localhost:8321"})
    assert answer.status == 200
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"{COOKIE}={TOKEN};")
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))
    assert TOKEN not in answer.text
    assert 'content="0;url=/"' in answer.text


@pytest.mark.parametrize("path", ["//elsewhere.example/", "/\\elsewhere.example"])
def test_the_way_in_leads_nowhere_else(tmp_path: Path, path: str) -> None:
    answer = ask(tmp_path, f"{path}?token={TOKEN}", headers={"host": "localhost"})
    assert "url=/elsewhere" in answer.text or "url=/%5Celsewhere" in answer.text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_only_reading_methods_are_accepted(tmp_path: Path, method: str) -> None:
    assert ask(tmp_path, "/", method).status == 405
    assert ask(tmp_path, "/", method, {"host": "localhost"}).status == 403


def test_a_page_may_hold_nothing_of_others_and_no_other_may_hold_it(tmp_path: Path) -> None:
    headers = ask(tmp_path, "/", headers=KNOWN | {"origin": "http://elsewhere.example"}).headers
    assert headers["content-security-policy"].startswith("default-src 'self'")
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert not [name for name in headers if name.startswith("access-control")]


LOCAL = ["localhost", "LOCALHOST:8321", "127.0.0.1:8321", "127.0.0.1:9000", "127.1.2.3", "[::1]:8321"]
ELSEWHERE = [
    "",
    "elsewhere.example",
    "elsewhere.example:8321",
    "localhost.elsewhere.example",
    "127.0.0.1.elsewhere.example",
    "127.0.0.1@elsewhere.example",
    "elsewhere.example@127.0.0.1",
    "127.0.0.1/x",
    "localhost, elsewhere.example",
    "[::1",
]


@pytest.mark.parametrize("host", LOCAL)
def test_this_machine_is_known_under_its_names(tmp_path: Path, host: str) -> None:
    assert ask(tmp_path, "/", headers=KNOWN | {"host": host}).status == 200


@pytest.mark.parametrize("host", [*ELSEWHERE, "192.0.2.7", "192.0.2.7:8321", "[2001:db8::1]:8321"])
def test_another_name_is_refused_even_with_the_token(tmp_path: Path, host: str) -> None:
    assert ask(tmp_path, "/", headers=KNOWN | {"host": host}).status == 403
    assert ask(tmp_path, f"/?token={TOKEN}", headers={"host": host}).status == 403


def test_a_request_without_a_host_is_refused(tmp_path: Path) -> None:
    assert ask(tmp_path, "/", headers={"cookie": KNOWN["cookie"]}).status == 403


def test_bound_to_all_addresses_it_goes_by_any_of_them_but_by_no_foreign_name() -> None:
    hosts = Hosts("0.0.0.0", {"db1.example"})  # noqa: S104  nothing is bound
    assert all(hosts.allow(host) for host in [*LOCAL, "192.0.2.7:8321", "[2001:db8::1]", "db1.example:8321"])
    assert not any(hosts.allow(host) for host in ELSEWHERE)
