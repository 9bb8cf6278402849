"""The user's tools on the target: their folders, their data, and one start of a program that nothing survives.

In: workloads and settings. Out: folders made and removed, programs kept by the engine. Called by bench and runner.
"""

import contextlib
import shlex
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from paribus.engine.protocol import Ended, TendJob
from paribus.engine.tend import Tend
from paribus.errors import EngineError, HostError, Interrupted
from paribus.hosts.transport import Host
from paribus.model import Settings, Workload
from paribus.registry import data_of, parameters_of
from paribus.trial.confinement import Confinement
from paribus.workloads.tools import Argv, ToolKind, request_of

_GLANCE_S = 0.1
_PATIENCE_S = 2.0  # what a tool may take to end when it is asked to
_LONG_S = 600.0  # removing what a tool has left may take
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Tools:
    """The tools of one experiment, each with a folder below `folder`: its directory, and the log of its last run."""

    def __init__(
        self, host: Host, engine: str, folder: str, confinement: Confinement, stopped: Callable[[], bool]
    ) -> None:
        self._host = host
        self._engine = engine
        self._folder = folder
        self._confinement = confinement
        self._stopped = stopped

    def directory(self, workload: Workload, settings: Settings) -> str:
        """Where it works."""
        return f"{self._place(workload, settings)}/files"

    def start(self, workload: Workload, settings: Settings, argv: Argv, conditions: Sequence[str] = ()) -> "Started":
        """Start a program, confined to its folder where the target can. Raises EngineError and HostError."""
        order = request_of(workload, self.directory(workload, settings))
        confined = self._confinement.confined(workload, settings, order, argv)
        place = self._place(workload, settings)
        log = f"{place}/log"
        self._must(["rm", "--force", "--", log])
        job = TendJob(
            argv=confined,
            directory=f"{place}/files",
            environment={"PATH": _PATH, "LC_ALL": "C", "HOME": place, "TMPDIR": place},
            patience_s=_PATIENCE_S,
            log=log,
        )
        return Started(self._host, Tend(self._host, self._engine, job, conditions), argv, log)

    def make(self, kind: ToolKind, workload: Workload, settings: Settings) -> None:
        """Its data made anew in an empty directory. Raises EngineError, HostError and Interrupted."""
        with contextlib.suppress(EngineError):  # there may be less to clean than it expects, after an interruption
            self.remove(kind, workload, settings)
        self._must(["mkdir", "--parents", "--", self.directory(workload, settings)])
        order = request_of(workload, self.directory(workload, settings))
        self._carry_out(workload, settings, kind.preparing(parameters_of(workload, settings), order))

    def remove(self, kind: ToolKind, workload: Workload, settings: Settings) -> None:
        """Its folder gone, and what it has elsewhere; nothing where it was not made."""
        place = self._place(workload, settings)
        if not self._host.names(place):
            return
        order = request_of(workload, self.directory(workload, settings))
        try:
            self._carry_out(
                workload, settings, kind.cleaning(parameters_of(workload, settings), order), until_done=True
            )
        finally:
            self._must(["rm", "--recursive", "--force", "--one-file-system", "--", place])

    def _carry_out(self, workload: Workload, settings: Settings, argv: Argv, *, until_done: bool = False) -> None:
        """Run a program to its end, whatever is asked meanwhile where it must be done."""
        if not argv:
            return
        started = self.start(workload, settings, argv)
        try:
            while (ended := started.ended(_GLANCE_S)) is None:
                if self._stopped() and not until_done:
                    raise Interrupted("stopped while making data", "go on with: paribus resume")
        except BaseException:
            started.stop()
            raise
        started.refuse_failure(ended)

    def _place(self, workload: Workload, settings: Settings) -> str:
        return str(PurePosixPath(self._folder) / f"{workload.plan_name}-{data_of(workload, settings).shape}")

    def _must(self, argv: Argv) -> None:
        done = self._host.run(argv, timeout_s=_LONG_S)
        if done.exit_code != 0:
            raise HostError(f"{shlex.join(argv)} failed: {done.stderr.strip() or f'exit code {done.exit_code}'}")


class Started:
    """One start of a program, with all that descends from it; it ends when this program does."""

    def __init__(self, host: Host, tend: Tend, argv: Argv, log: str) -> None:
        self._host = host
        self._tend = tend
        self._name = PurePosixPath(argv[0]).name
        self._log = log
        self._over = False
        self.pid = tend.pid

    def ended(self, timeout_s: float) -> Ended | None:
        """How it ended; None while it runs. Raises EngineError and HostError where its keeper is lost."""
        found = self._tend.ended(timeout_s)
        self._over = found is not None
        return found

    def refuse_failure(self, ended: Ended) -> None:
        """Raise EngineError, with its last words, where it did not end well."""
        if ended.exit_code == 0:
            return
        how = f"signal {ended.signal}" if ended.signal else f"exit code {ended.exit_code}"
        raise EngineError("load-error", f"{self._name} ended with {how}: {_last(ended.last_words)}")

    def text(self) -> str:
        """What it has printed. Raises HostError."""
        return self._host.read(self._log)

    def stop(self) -> None:
        """End it at once, if it runs."""
        if not self._over:
            self._over = True
            self._tend.kill()


def _last(words: Sequence[str]) -> str:
    """The last lines that say something, in one."""
    return " / ".join([word.strip() for word in words if word.strip()][-5:]) or "no word"
