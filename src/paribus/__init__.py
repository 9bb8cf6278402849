"""Paribus: change one thing, hold the rest, measure, conclude."""

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paribus.lab.api import Lab as Lab

try:
    __version__ = version("paribus")
except PackageNotFoundError:  # run from a source tree that was never installed
    __version__ = "0+uninstalled"


def __getattr__(name: str) -> Any:
    """Import `Lab` at its first use, so that the package itself stays cheap to import."""
    if name == "Lab":
        from paribus.lab.api import Lab

        return Lab
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
