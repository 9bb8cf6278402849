"""Folders of the sandboxes on this machine, and the ssh options that reach them as `ssh://NAME.sandbox`.

In: the name of a host. Out: the options of ssh for it. Called by `hosts.ssh` and by `paribus.sandbox`.
"""

import os
import re
from pathlib import Path

SUFFIX = ".sandbox"
NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")


def folder() -> Path:
    """The folder of sandboxes: $PARIBUS_SANDBOX, else below the folder of root's or of the user's data."""
    if named := os.environ.get("PARIBUS_SANDBOX"):
        return Path(named).expanduser().absolute()
    data = Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share").expanduser() / "paribus"
    return (Path("/var/lib/paribus") if os.geteuid() == 0 else data).absolute() / "sandbox"


def ssh_options(host: str) -> list[str]:
    """The configuration of a sandbox of this user, in place of the user's own; none for other machines."""
    name = host.removesuffix(SUFFIX)
    configuration = folder() / name / "ssh_config"
    is_sandbox = host.endswith(SUFFIX) and NAME.fullmatch(name) and configuration.exists()
    return ["-F", str(configuration)] if is_sandbox else []
