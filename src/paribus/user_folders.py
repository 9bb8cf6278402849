"""The user's folders by the XDG Base Directory Specification: configuration, cache and data.

A user without $HOME and without an entry in the user database, as in a container, has none.
"""

import os
from pathlib import Path

from paribus.errors import UsageError

_ROOT_DATA = Path("/var/lib/paribus")


def config_folder() -> Path | None:
    """Return the folder of configuration files, which may not exist; None for a user without a home."""
    return _folder("XDG_CONFIG_HOME", "~/.config")


def cache_folder() -> Path | None:
    """Return the folder of files that can be made again; None for a user without a home."""
    return _folder("XDG_CACHE_HOME", "~/.cache")


def data_folder() -> Path:
    """Return the folder of stores and sandboxes: root's, or the user's. Raises UsageError for a user without a home."""
    if os.geteuid() == 0:
        return _ROOT_DATA
    if folder := _folder("XDG_DATA_HOME", "~/.local/share"):
        return folder.absolute()
    raise UsageError("this user has no home folder to keep data in", "name a folder in the variable XDG_DATA_HOME")


def _folder(variable: str, default: str) -> Path | None:
    try:
        return Path(os.environ.get(variable) or default).expanduser() / "paribus"
    except RuntimeError:  # of expanduser, where nothing tells the home
        return None
