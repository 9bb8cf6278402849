"""A target that is not to be trusted: a real sshd on loopback that answers every command by a script of the test."""

import contextlib
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

from ssh_target import make_access

NAME = "db1"

_SSHD_CONFIG = """
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/user_key.pub
PidFile {folder}/sshd.pid
PermitRootLogin yes
PasswordAuthentication no
UsePAM no
StrictModes no
ListenAddress 127.0.0.1
Port {port}
SetEnv CETERIS_STATE={folder}/state XDG_CACHE_HOME={folder}/cache SHLVL=1
ForceCommand {folder}/shell
MaxStartups 100
"""

HONEST = 'exec sh -c "$SSH_ORIGINAL_COMMAND"'


class HostileTarget:
    """The target `ssh://db1`; `answer` is what its shell does with a command."""

    address = f"ssh://{NAME}"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder / "cache"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.path = make_access(folder, NAME, "127.0.0.1", port)
        (folder / "sshd_config").write_text(_SSHD_CONFIG.format(folder=folder, port=port))
        self.answer(HONEST)
        Path("/run/sshd").mkdir(exist_ok=True)
        subprocess.run(["/usr/sbin/sshd", "-f", str(folder / "sshd_config")], check=True, capture_output=True)
        for _ in range(100):
            if subprocess.run([self.path / "ssh", NAME, "true"], capture_output=True, check=False).returncode == 0:
                return
            time.sleep(0.1)
        raise AssertionError("sshd cannot be reached")

    def answer(self, script: str, *, to: str = "") -> None:
        """Answer commands that contain a text by a script in sh; all others honestly."""
        shell = self.folder / "shell"
        lines = [f'case "$SSH_ORIGINAL_COMMAND" in *"{to}"*)', script, ";; esac", HONEST]
        shell.write_text("\n".join(["#!/bin/sh", *lines, ""]))
        shell.chmod(0o755)

    def engine(self) -> Path:
        """Where the engine was pushed to."""
        (pushed,) = (self.cache / "ceteris").iterdir()
        return pushed

    def stop(self) -> None:
        """Let nobody connect any more."""
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            os.kill(int((self.folder / "sshd.pid").read_text()), signal.SIGTERM)
