"""Controllers of a fleet: a process of this program for each machine, some of them at once.

Each is a process, since an experiment handles signals, locks and connections of its own. Where one dies, the
experiments of the other machines continue.
"""

import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from paribus.errors import Interrupted
from paribus.hosts import environment
from paribus.lab.machine.connection import Report

MOST_AT_ONCE = 16
"""Controllers at the same time, unless the user says otherwise; one takes about 130 MB."""
_POLL_S = 0.2
_MESSAGE_PREFIX = "paribus: "
_NOTE_PREFIX = "note: "


@dataclass(frozen=True, slots=True)
class ControllerCommand:
    """Words of a command line for one machine, and the machines that no other command may use at the same time."""

    arguments: Sequence[str]
    uses: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ControllerEnd:
    """End of a controller: its exit code, its standard output where that is kept, and its last message on stderr.

    An exit code below 0 is that of a signal.
    """

    exit_code: int
    output: str
    message: str

    @property
    def was_stopped(self) -> bool:
        """Whether a stop request ended it, also before it could handle signals."""
        return self.exit_code in (Interrupted.exit_code, -signal.SIGTERM)

    @property
    def reason(self) -> str:
        """Its last message, else its exit code in words; the signal that ended it."""
        if self.exit_code < 0:
            return f"the controller was ended by {signal.Signals(-self.exit_code).name}"
        return self.message or f"the controller ended with code {self.exit_code}"


class Controllers:
    """Processes for the machines of a fleet; lines that they write on stderr are reported with the machine's name."""

    def __init__(
        self,
        at_once: int,
        report: Report,
        stop_requested: Callable[[], bool] = lambda: False,
        *,
        keeps_output: bool = False,
    ) -> None:
        self._at_once = at_once
        self._report = report
        self._stop_requested = stop_requested
        self._keeps_output = keeps_output
        self._lock = threading.Lock()
        self._processes: set[subprocess.Popen[str]] = set()
        self._stopped = False
        self._notes: set[str] = set()

    def run(
        self,
        commands: Mapping[str, ControllerCommand],
        on_end: Callable[[str, ControllerEnd], None] = lambda _name, _end: None,
    ) -> dict[str, ControllerEnd]:
        """Carry out a command for each machine and wait for the end of all; a stop request is passed on to each once.

        Machines that had not begun by then are left out of the result. `on_end` receives each end when it happens.
        """
        waiting, running = dict(commands), dict[Future[ControllerEnd | None], str]()
        ends: dict[str, ControllerEnd] = {}
        with ThreadPoolExecutor(max_workers=self._at_once) as pool:
            try:
                while waiting or running:
                    if self._stop_requested():
                        self._stop()
                        waiting.clear()
                    for name in self._startable(waiting, [commands[name] for name in running.values()]):
                        running[pool.submit(self._attend, name, waiting.pop(name).arguments)] = name
                    for future in wait(running, timeout=_POLL_S, return_when=FIRST_COMPLETED).done:
                        name, end = running.pop(future), future.result()
                        if end is not None:
                            ends[name] = end
                            on_end(name, end)
            except BaseException:
                self._stop()
                raise
        return ends

    def _startable(
        self, waiting: Mapping[str, ControllerCommand], running: Sequence[ControllerCommand]
    ) -> Sequence[str]:
        """Return the machines to begin with now, in order: those whose machines no running command uses."""
        used = frozenset[str]().union(*(command.uses for command in running))
        names: list[str] = []
        for name, command in waiting.items():
            if len(running) + len(names) < self._at_once and not command.uses & used:
                names.append(name)
                used |= command.uses
        return names

    def _stop(self) -> None:
        with self._lock:
            if not self._stopped:
                self._stopped = True
                for process in self._processes:
                    process.terminate()

    def _attend(self, name: str, arguments: Sequence[str]) -> ControllerEnd | None:
        """Run a controller to its end, and report its lines; None after a stop request."""
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
            with self._lock:
                if self._stopped:
                    return None
                process = subprocess.Popen(
                    [sys.executable, "-P", "-m", "paribus", *arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=output if self._keeps_output else subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    text=True,
                    encoding="utf-8",
                    errors="replace",
                    env=environment.of_child(connects=True),
                    process_group=0,  # Ctrl-C reaches it once, through this process
                )
                self._processes.add(process)
            message = self._follow(name, process)
            exit_code = process.wait()
            with self._lock:
                self._processes.discard(process)
            output.seek(0)
            return ControllerEnd(exit_code, output.read(), message)

    def _follow(self, name: str, process: "subprocess.Popen[str]") -> str:
        """Report each line on stderr; return the last one, or the last message with the lines that belong to it."""
        message: list[str] = []
        is_marked = False
        assert process.stderr is not None
        with process.stderr:
            for raw in process.stderr:
                line = raw.rstrip()
                if not line:
                    continue
                if line.startswith("  ") and is_marked:
                    message.append(line)
                else:
                    is_marked = line.startswith(_MESSAGE_PREFIX)
                    message = [line.removeprefix(_MESSAGE_PREFIX)]
                self._pass_on(name, line.removeprefix(_MESSAGE_PREFIX))
        return "\n".join(message)

    def _pass_on(self, name: str, line: str) -> None:
        """Report a line; a note that is the same on many machines once, for the first of them."""
        with self._lock:
            if line.startswith(_NOTE_PREFIX):
                if line in self._notes:
                    return
                self._notes.add(line)
            self._report(f"{name}: {line}")
