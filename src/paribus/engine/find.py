"""Location of the engine: that of this machine, and those for targets of other architectures."""

import os
import shutil
import sysconfig
from pathlib import Path

from paribus.errors import EngineError

NAME = "paribus-engine"
_OTHERS = Path(__file__).parent / "other_machines"


def binary() -> str:
    """The path of the engine: $PARIBUS_ENGINE, else next to this Python's scripts, else on PATH.

    Raises EngineError.
    """
    configured = os.environ.get("PARIBUS_ENGINE")
    if configured:
        if not os.access(configured, os.X_OK):
            raise EngineError(
                "no-engine",
                f"PARIBUS_ENGINE names {configured}, which cannot be run",
                "correct or unset PARIBUS_ENGINE",
            )
        return configured
    path = str(_installed()) if os.access(_installed(), os.X_OK) else shutil.which(NAME)
    if path is None:
        raise EngineError("no-engine", f"{NAME} is not installed", "run make in the clone of the repository")
    return path


def for_other_machines() -> list[Path]:
    """The paths of engines for other architectures, which wheels have and a clone has not.

    With $PARIBUS_ENGINE the engine next to this Python's scripts is one of them.
    """
    installed = [_installed()] if os.environ.get("PARIBUS_ENGINE") and os.access(_installed(), os.R_OK) else []
    return [*installed, *sorted(_OTHERS.glob(f"{NAME}-*"))]


def _installed() -> Path:
    return Path(sysconfig.get_path("scripts")) / NAME
