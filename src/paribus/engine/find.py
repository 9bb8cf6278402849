"""Where the engine's binary is."""

import os
import shutil
import sysconfig
from pathlib import Path

from paribus.errors import EngineError

NAME = "paribus-engine"


def binary() -> str:
    """The path of the engine: $PARIBUS_ENGINE, else beside this Python's scripts, else on PATH.

    Raises EngineError.
    """
    named = os.environ.get("PARIBUS_ENGINE")
    if named:
        if not os.access(named, os.X_OK):
            raise EngineError("no-engine", f"PARIBUS_ENGINE names {named}, which cannot be run", "correct or unset it")
        return named
    beside = Path(sysconfig.get_path("scripts")) / NAME
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which(NAME)
    if found is None:
        raise EngineError("no-engine", f"{NAME} is not installed", "install Paribus with pip, or run make")
    return found
