"""A program on a target over SSH that exchanges lines."""

import threading
import time
from collections.abc import Sequence

from paribus.errors import HostError, Unreachable
from paribus.hosts.local import LocalProcess
from paribus.hosts.waiting import Wait
from paribus.i18n import N_, stored_message

HEARTBEAT_S = 20  # after such a silence the target takes the controller for gone
LOST_S = 10  # after so long without an answer to ssh's keepalives the target is taken for lost
LOST = 255  # ssh's own exit code
SILENCE = N_("no answer")
NETWORK = "look at the network between the two; the target restores itself"
_PULSE_S = 4.0
_SLICE_S = 1.0


class SshProcess(LocalProcess):
    """A program on the target that exchanges lines; a heartbeat tells it that the controller is alive."""

    def __init__(self, argv: Sequence[str], name: str, target: str, wait: Wait) -> None:
        self._target = target
        self._sending = threading.Lock()
        self._ended = threading.Event()
        self._wait = wait
        super().__init__(argv, name)
        threading.Thread(target=self._beat, daemon=True).start()

    def _beat(self) -> None:
        while not self._ended.wait(_PULSE_S):
            try:
                self.send("")
            except HostError:
                return

    def send(self, line: str) -> None:
        """Write one line to its stdin. Raises Unreachable or HostError when it is gone."""
        if line:
            self._wait.restart()
        try:
            with self._sending:
                super().send(line)
        except HostError as error:
            self._raise_if_lost()
            raise error

    def receive(self, timeout_s: float) -> str | None:
        """The next line of its stdout, or None when none came in time.

        Raises EOFError at its end, BadReply where a line is too long, and Unreachable.
        """
        deadline = time.monotonic() + timeout_s
        try:
            while True:
                left_s = deadline - time.monotonic()
                line = super().receive(max(0.0, min(_SLICE_S, left_s)))
                if line is not None:
                    self._wait.restart()
                    return line
                self._wait.report()
                if left_s <= _SLICE_S:
                    return None
        except EOFError:
            self._raise_if_lost()
            raise

    def _raise_if_lost(self) -> None:
        """Raise Unreachable where it was the connection that ended."""
        if self.exit_code(LOST_S) == LOST:
            text = N_("the connection to {target} was lost: {words}")
            raise Unreachable(
                stored_message(text, target=self._target, words=self.words() or stored_message(SILENCE)), NETWORK
            )

    def end_input(self) -> None:
        """End its stdin; what it says until it ends can still be received."""
        self._ended.set()
        with self._sending:
            super().end_input()
