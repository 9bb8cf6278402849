"""`paribus serve` while it runs."""

import re
import resource
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any
from urllib.error import HTTPError


class Serving:
    """The server while it runs."""

    def __init__(self, process: "subprocess.Popen[str]", url: str) -> None:
        self.process = process
        self.url = url
        found = re.fullmatch(r"http://(\S+):(\d+)/\?token=([\w-]{43})", url)
        assert found, url
        self.host, self.port, self.token = found[1], int(found[2]), found[3]

    def get(self, path: str, **headers: str) -> str:
        """A page, asked for with the cookie."""
        known = {"Cookie": f"paribus-{self.port}={self.token}"} | headers
        address = f"http://127.0.0.1:{self.port}{path}"
        with urllib.request.urlopen(urllib.request.Request(address, headers=known), timeout=20) as answer:
            text: str = answer.read().decode()
            return text

    def shows_its_list(self) -> bool:
        """True where the owner is shown the list of experiments."""
        try:
            return "<!doctype html>" in self.get("/")
        except (OSError, HTTPError):
            return False

    def interrupt(self, number: int = signal.SIGINT) -> str:
        """Ctrl-C, or another signal; what it said beside the URL until it had ended."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=60)
        return out + (err or "")


@contextmanager
def serving(*arguments: str, err: int | IO[Any] = subprocess.PIPE, descriptors: int = 1024) -> Iterator[Serving]:
    """The server, until the test is over; `err` is its standard error, and so many files it may open."""
    process = subprocess.Popen(
        [sys.executable, "-m", "paribus.cli.main", "serve", *arguments],
        stdout=subprocess.PIPE,
        stderr=err,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors)),  # noqa: PLW1509
    )
    assert process.stdout is not None
    try:
        yield Serving(process, process.stdout.readline().strip())
    finally:
        process.kill()
        process.communicate()
