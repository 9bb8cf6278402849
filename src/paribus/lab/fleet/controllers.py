"""Controllers of a fleet: a process of this program for each machine, some of them at once.

A process each, since an experiment handles signals, locks and connections of its own; and the death of one is that of
one machine's controller alone.
"""

import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass

from paribus.hosts import environment
from paribus.lab.machine.connection import Report

_POLL_S = 0.2
_SAYS = "paribus: "
_NOTE = "note: "


@dataclass(frozen=True, slots=True)
class ControllerEnd:
    """The end of a controller: its exit code, its standard output, and its last message on stderr."""

    exit_code: int
    output: str
    message: str


class Controllers:
    """Processes for the machines of a fleet; lines that they write on stderr are reported with the machine's name."""

    def __init__(self, at_once: int, report: Report, stop_requested: Callable[[], bool] = lambda: False) -> None:
        self._at_once = at_once
        self._report = report
        self._stop_requested = stop_requested
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[str]] = set()
        self._stopped = False
        self._notes: set[str] = set()

    def run(self, commands: Mapping[str, Sequence[str]]) -> dict[str, ControllerEnd]:
        """Carry out a command for each machine and wait for the end of all; a stop request is passed on to each once.

        Machines that had not begun by then are left out of the result.
        """
        with ThreadPoolExecutor(max_workers=self._at_once) as pool:
            futures = {name: pool.submit(self._attend, name, arguments) for name, arguments in commands.items()}
            try:
                while not_done := wait(futures.values(), timeout=_POLL_S).not_done:
                    if self._stop_requested():
                        self._stop()
                        wait(not_done)
            except KeyboardInterrupt:  # where nobody asks for signals
                self._stop()
                raise
        results = {name: future.result() for name, future in futures.items()}
        return {name: ended for name, ended in results.items() if ended is not None}

    def _stop(self) -> None:
        with self._lock:
            if not self._stopped:
                self._stopped = True
                for process in self._running:
                    process.terminate()

    def _attend(self, name: str, arguments: Sequence[str]) -> ControllerEnd | None:
        """Run a controller to its end, and pass its lines on; None after a stop request."""
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
            with self._lock:
                if self._stopped:
                    return None
                process = subprocess.Popen(
                    [sys.executable, "-P", "-m", "paribus", *arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=output,  # a file: a controller whose fleet was killed still ends its experiment
                    stderr=subprocess.PIPE,
                    text=True,
                    encoding="utf-8",
                    errors="replace",
                    env=environment.of_child(connects=True),
                    process_group=0,  # Ctrl-C reaches it once, through this process
                )
                self._running.add(process)
            message = self._lines(name, process)
            exit_code = process.wait()
            with self._lock:
                self._running.discard(process)
            output.seek(0)
            return ControllerEnd(exit_code, output.read(), message)

    def _lines(self, name: str, process: "subprocess.Popen[str]") -> str:
        """Report each line that it writes on stderr; return the last message, with the lines that belong to it."""
        message: list[str] = []
        assert process.stderr is not None
        with process.stderr:
            for raw in process.stderr:
                line = raw.rstrip()
                if not line:
                    continue
                if line.startswith(_SAYS):
                    message = [line.removeprefix(_SAYS)]
                elif message and line.startswith("  "):
                    message.append(line)
                self._pass_on(name, line.removeprefix(_SAYS))
        return "\n".join(message)

    def _pass_on(self, name: str, line: str) -> None:
        """Report a line; a note that is the same on many machines once, for the first of them."""
        with self._lock:
            if line.startswith(_NOTE):
                if line in self._notes:
                    return
                self._notes.add(line)
            self._report(f"{name}: {line}")
