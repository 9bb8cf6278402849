"""Folders of the sandboxes on this machine, and the ssh options that reach them as `ssh://NAME.sandbox`.

In: the name of a host. Out: the options of ssh for it. Called by `hosts.ssh` and by `paribus.sandbox`.
"""

import os
import re
from pathlib import Path

from paribus.user_folders import data_folder

SUFFIX = ".sandbox"
NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")


def folder() -> Path:
    """The folder of sandboxes: $PARIBUS_SANDBOX, else in the folder of data. Raises UsageError."""
    if named := os.environ.get("PARIBUS_SANDBOX"):
        return Path(named).expanduser().absolute()
    return data_folder() / "sandbox"


def ssh_options(host: str) -> list[str]:
    """The configuration of a sandbox of this user, in place of the user's own; none for other machines."""
    name = host.removesuffix(SUFFIX)
    if not host.endswith(SUFFIX) or not NAME.fullmatch(name):
        return []
    configuration = folder() / name / "ssh_config"
    return ["-F", str(configuration)] if configuration.exists() else []
