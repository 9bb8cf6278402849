"""Paribus: change one thing, hold the rest, measure, conclude."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("paribus")
except PackageNotFoundError:  # run from a source tree that was never installed
    __version__ = "0+uninstalled"
