"""A target that is not to be trusted: a real sshd on loopback that answers every command by a script of the test."""

import contextlib
import os
import signal
import socket
import subprocess
from pathlib import Path

from ssh_target import HONEST, answer, configure_sshd, make_access, wait_until_reachable

NAME = "db1"


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
        configure_sshd(folder, "127.0.0.1", port, scripted=True)
        self.answer(HONEST)
        subprocess.run(["/usr/sbin/sshd", "-f", str(folder / "sshd_config")], check=True, capture_output=True)
        wait_until_reachable(self.path / "ssh", NAME)

    def answer(self, script: str, *, to: str = "") -> None:
        """Answer commands that contain a text by a script in sh; all others honestly."""
        answer(self.folder, script, to=to)

    def engine(self) -> Path:
        """Return the path of the pushed engine."""
        (pushed,) = (self.cache / "paribus").iterdir()
        return pushed

    def stop(self) -> None:
        """Let nobody connect any more."""
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            os.kill(int((self.folder / "sshd.pid").read_text()), signal.SIGTERM)
