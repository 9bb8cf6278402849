"""The scripts that draw the charts of a page, as one text: bundled once, then kept in the user's cache."""

import contextlib
import os
import tempfile
from importlib.metadata import version
from pathlib import Path

from paribus.user_folders import cache_folder


def vega_embed() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script that defines `vegaEmbed`; bundling it takes two seconds."""
    if not (folder := cache_folder()):
        return _bundled()
    file = folder / f"vega-{version('vl-convert-python')}.js"
    with contextlib.suppress(OSError):
        if _is_only_ours(file):
            return file.read_text(encoding="utf-8")
    text = _bundled()
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _write_whole(file, text)
    return text


def _bundled() -> str:
    import vl_convert

    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")


def _is_only_ours(file: Path) -> bool:
    """Whether nobody else could have written what goes into a page of this user."""
    status = file.stat()
    return status.st_uid == os.geteuid() and not status.st_mode & 0o022


def _write_whole(file: Path, text: str) -> None:
    """Write so that a reader finds all of it or no file."""
    handle, name = tempfile.mkstemp(dir=file.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as temporary:
            temporary.write(text)
        Path(name).replace(file)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
