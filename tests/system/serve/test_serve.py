"""`paribus serve` as a process: what it prints, whom it answers, and how it ends."""

import contextlib
import signal
import sqlite3
import threading
import time
import urllib.request
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError

import pytest
from command import RUN_ENDED, Done, run_paribus
from watched import Serving, serving

from paribus.store.open import open_engine, store_url


@pytest.mark.gate
def test_server_answers_only_with_the_token_and_never_prints_it() -> None:
    with serving("--port", "0") as server:
        assert server.host == "127.0.0.1"
        assert "There is no store there yet" in server.get("/")
        for path, headers in (
            ("/", {"Cookie": ""}),
            ("/", {"Host": "elsewhere.example"}),
            ("/?token=x", {"Cookie": ""}),
        ):
            with pytest.raises(HTTPError, match="403"):
                server.get(path, **headers)
        assert server.get(f"/?token={server.token}", Cookie="")
        with pytest.raises(HTTPError, match="404"):
            server.get("/nothing")
        said = server.interrupt()
        assert server.process.returncode == 0
    assert server.token not in said
    assert said.startswith("there is no store at")
    assert said.count("\n") == 1


def test_server_ends_also_during_streams_and_reports(plan: Callable[..., str]) -> None:
    assert run_paribus("run", plan()).code in RUN_ENDED
    with serving("--port", "0") as server:
        server.get("/")
        streams = []
        for path in ("/stream", "/experiments/last/stream"):
            address = f"http://127.0.0.1:{server.port}{path}"
            headers = {"Cookie": f"paribus-{server.port}={server.token}"}
            streams.append(urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=20))
        assert all(stream.readline().startswith(b"data: ") for stream in streams)
        asking = threading.Thread(target=_ask_in_vain, args=(server,))
        asking.start()
        said = server.interrupt()  # the streams would have gone on for ever
        asking.join()
        for stream in streams:
            stream.read()
            stream.close()
        assert server.process.returncode == 0
    assert said == ""


def _ask_in_vain(server: Serving) -> None:
    with contextlib.suppress(OSError, HTTPException):
        server.get("/experiments/last/report")


@pytest.mark.gate
def test_the_report_is_the_one_of_the_command(plan: Callable[..., str], tmp_path: Path) -> None:
    assert run_paribus("run", plan()).code in RUN_ENDED
    run_paribus("report", "last", "--format", "html", "-o", str(tmp_path / "r.html"))
    with serving("--port", "0") as server:
        assert server.get("/experiments/last/report") == (tmp_path / "r.html").read_text(encoding="utf-8")


def test_pages_speak_the_language_of_the_command_line_else_that_of_the_reader() -> None:
    chinese, english = {"Accept-Language": "zh-CN"}, {"Accept-Language": "en-US"}
    with serving("--port", "0") as server:
        assert "那里还没有结果库" in server.get("/", **chinese)
        assert "There is no store there yet" in server.get("/", **english)
    with serving("--port", "0", "--lang", "zh") as server:
        assert "那里还没有结果库" in server.get("/", **english)


def test_two_servers_cannot_have_one_port() -> None:
    with serving("--port", "0") as server:
        second = run_paribus("serve", "--port", str(server.port))
        assert_refused(second, f"port {server.port}", "--port 0")
        assert second.code == 2
        assert "There is no store" in server.get("/")


@pytest.mark.gate
def test_an_address_of_another_machine_is_refused() -> None:
    done = run_paribus("serve", "--bind", "192.0.2.1", "--port", "0")
    assert_refused(done, "192.0.2.1", "--bind")
    assert done.code == 2


def test_other_machines_are_let_in_with_a_warning_and_by_address_only() -> None:
    with serving("--port", "0", "--bind", "0.0.0.0") as server:  # noqa: S104
        assert "There is no store" in server.get("/", Host="192.0.2.1:80")
        with pytest.raises(HTTPError, match="403"):
            server.get("/", Host="elsewhere.example")
        said = server.interrupt()
    assert "warning: other machines reach" in said
    assert "ssh -L" in said
    assert server.token not in said


def test_a_newer_store_is_refused_at_the_start(tmp_path: Path) -> None:
    path = tmp_path / "newer.db"
    open_engine(store_url(str(path)), create=True).dispose()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    done = run_paribus("serve", "--store", str(path))
    assert_refused(done, "newer Paribus", "upgrade Paribus")
    assert done.code == 3


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_browser_is_opened_by_a_file_that_goes_and_not_by_a_url_with_the_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    seen = tmp_path / "seen"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$@" > {seen}\nstat -c %a "$(dirname "${{1#file://}}")" >> {seen}\n')
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    with serving("--port", "0", "--open") as server:
        deadline = time.monotonic() + 10
        while not (seen.exists() and seen.read_text().count("\n") == 2) and time.monotonic() < deadline:
            time.sleep(0.05)
        address, mode = seen.read_text().split()
        page = Path(address.removeprefix("file://"))
        assert server.token not in address
        assert server.token in page.read_text(encoding="utf-8")
        assert mode == "700"
        server.interrupt(number)
        assert server.process.returncode == 0
    assert not page.parent.exists()


def assert_refused(done: Done, *words: str) -> None:
    assert done.err.startswith("paribus: ")
    assert all(word in done.err for word in words)
    assert "Traceback" not in done.err
