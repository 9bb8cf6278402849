"""Opens a URL with a secret in a browser without showing it on the browser's command line, which all users can read."""

import html
import tempfile
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PAGE = (
    '<!doctype html><meta http-equiv="refresh" content="0;url={url}"><title>Paribus</title><a href="{url}">Paribus</a>'
)


class RedirectPage:
    """A redirect page that only this user can read."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "paribus.html"

    def open(self, url: str) -> None:
        """Open the URL in a browser; without a browser, do nothing."""
        self._file.write_text(_PAGE.format(url=html.escape(url)), encoding="utf-8")
        webbrowser.open(self._file.as_uri())


@contextmanager
def redirect_page() -> Iterator[RedirectPage]:
    """A redirect page, removed when the context ends."""
    with tempfile.TemporaryDirectory(prefix="paribus-") as folder:  # for this user alone
        yield RedirectPage(Path(folder))
