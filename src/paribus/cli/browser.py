"""Opening a URL with a secret in a browser, whose command line everybody on this machine can read."""

import html
import tempfile
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PAGE = (
    '<!doctype html><meta http-equiv="refresh" content="0;url={url}"><title>Paribus</title><a href="{url}">Paribus</a>'
)


class Opened:
    """A file of this user's alone that sends a browser on."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "paribus.html"

    def open(self, url: str) -> None:
        """Have the browser go there; where there is none, nothing happens."""
        self._file.write_text(_PAGE.format(url=html.escape(url)), encoding="utf-8")
        webbrowser.open(self._file.as_uri())


@contextmanager
def page_to_open() -> Iterator[Opened]:
    """What opens a URL; its file goes at the end."""
    with tempfile.TemporaryDirectory(prefix="paribus-") as folder:  # for this user alone
        yield Opened(Path(folder))
