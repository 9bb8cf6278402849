"""Opens a URL with a secret in a browser without showing it on the browser's command line, which all users can read."""

import html
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager

from paribus.temporary import TemporaryFolder

_PAGE = (
    '<!doctype html><meta http-equiv="refresh" content="0;url={url}"><title>Paribus</title><a href="{url}">Paribus</a>'
)


class RedirectPage:
    """A redirect page that only this user can read."""

    def __init__(self) -> None:
        self._folder: TemporaryFolder | None = None

    def open(self, url: str) -> None:
        """Open the URL in a browser; without a browser, do nothing."""
        self._folder = self._folder or TemporaryFolder("page")
        file = self._folder.path / "paribus.html"
        file.write_text(_PAGE.format(url=html.escape(url)), encoding="utf-8")
        webbrowser.open(file.as_uri())

    def remove(self) -> None:
        """Remove the page."""
        if self._folder is not None:
            self._folder.remove()


@contextmanager
def redirect_page() -> Iterator[RedirectPage]:
    """A redirect page, removed when the context ends."""
    page = RedirectPage()
    try:
        yield page
    finally:
        page.remove()
