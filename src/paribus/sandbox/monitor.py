"""QEMU's monitor protocol: one command at a time over a Unix socket.

In: a socket and a command. Out: what QEMU returns. A library for it would be a dependency for three commands.
"""

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from paribus.errors import SandboxError

_PATIENCE_S = 60.0


class Monitor:
    """A connection to one machine's monitor. All methods raise SandboxError."""

    def __init__(self, path: Path) -> None:
        """Connect and agree on the protocol."""
        self._path = path
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(_PATIENCE_S)
        try:
            self._socket.connect(str(path))
            self._file = self._socket.makefile("r", encoding="utf-8")
            self._file.readline()  # its greeting
        except OSError as error:
            self._socket.close()
            raise self._silent(error) from error
        self.execute("qmp_capabilities")

    def execute(self, command: str, **arguments: object) -> Any:
        """Return the result of a command."""
        try:
            self._socket.sendall(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
        except OSError as error:
            raise self._silent(error) from error
        for message in self._messages():
            if "return" in message:
                return message["return"]
            if "error" in message:
                words = message["error"].get("desc", command)
                raise SandboxError(f"the virtual machine refused {command}: {words}", "see: paribus sandbox status")
        raise self._silent(EOFError("it closed the connection"))

    def wait_for(self, event: str, subject: str) -> None:
        """Until the event of a device has come."""
        deadline = time.monotonic() + _PATIENCE_S
        for message in self._messages():
            if message.get("event") == event and message.get("data", {}).get("device") == subject:
                return
            if time.monotonic() > deadline:
                break
        raise self._silent(TimeoutError(f"no {event} of {subject}"))

    def _messages(self) -> Iterator[dict[str, Any]]:
        try:
            for line in self._file:
                yield json.loads(line)
        except (OSError, ValueError) as error:
            raise self._silent(error) from error

    def _silent(self, error: Exception) -> SandboxError:
        return SandboxError(f"the virtual machine does not answer at {self._path}: {error}", "paribus sandbox status")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
