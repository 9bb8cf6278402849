"""The user's tools on the target: their folders, their data, and processes that leave no descendants.

In: workloads and settings. Out: folders made and removed, programs supervised by the engine. Called by bench and
runner.
"""

import contextlib
import shlex
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from paribus.engine.protocol import DatabaseServer, Ended, SuperviseJob
from paribus.engine.supervised_process import SupervisedProcess
from paribus.errors import EngineError, HostError, Interrupted
from paribus.hosts import environment
from paribus.hosts.transport import Host
from paribus.model import Settings, Workload
from paribus.parsers.redact import redact
from paribus.registry import data_of, parameters_of
from paribus.trial.tools.confinement import Confinement
from paribus.units import LoadLevel
from paribus.workloads import server_login
from paribus.workloads.tools import Argv, RunRequest, ToolKind, request_of, tool_of

_GLANCE_S = 0.1
_PATIENCE_S = 2.0  # for a tool to end after it was asked to
_LONG_S = 600.0  # for removing the files of a tool
_KEPT = "files-made"  # the working directory as its prepare command left it


class Tools:
    """The tools of one experiment, each with a folder below `folder` for its files and the log of its last run."""

    def __init__(
        self,
        host: Host,
        engine: str,
        folder: str,
        confinement: Confinement,
        stopped: Callable[[], bool],
        server_of: Callable[[Workload, Settings], DatabaseServer] | None = None,
        server_kind: str = "",
    ) -> None:
        """`server_of`: where a workload on a server connects to; None where the experiment has no server."""
        self._server_of = server_of
        self._server_kind = server_kind
        self._host = host
        self._engine = engine
        self._folder = folder
        self._confinement = confinement
        self._stopped = stopped

    def request(
        self,
        workload: Workload,
        settings: Settings,
        load: LoadLevel | None = None,
        settle_s: float = 0.0,
        measure_s: float = 0.0,
    ) -> RunRequest:
        """The parameters of a run, with the server of a workload on one."""
        server = self._server_of(workload, settings) if self._server_of and workload.database else None
        directory = self.directory(workload, settings)
        return request_of(workload, directory, load, settle_s, measure_s, server, self._server_kind)

    def directory(self, workload: Workload, settings: Settings) -> str:
        """The tool's working directory."""
        return f"{self._folder_of(workload, settings)}/files"

    def start(
        self, workload: Workload, settings: Settings, argv: Argv, conditions: Sequence[str] = ()
    ) -> "ToolProcess":
        """Start a program, confined to its folder where the target can do that. Raises EngineError and HostError."""
        request = self.request(workload, settings)
        confined = self._confinement.confined(workload, settings, request, argv)
        kind, server = tool_of(workload), request.server
        assert kind is not None
        tool_folder = self._folder_of(workload, settings)
        log = f"{tool_folder}/log"
        self._run_checked(["rm", "--force", "--", log])
        job = SuperviseJob(
            argv=confined,
            directory=f"{tool_folder}/files",
            environment={
                **environment.independent(tool_folder, tool_folder),
                **(server_login.environment(server, request.password_file) if server else {}),
            },
            login=kind.login(server, request.password_file) if server else None,
            patience_s=_PATIENCE_S,
            log=log,
        )
        name = kind.tool.program(parameters_of(workload, settings)) if kind.tool and argv[0] == "sh" else argv[0]
        return ToolProcess(self._host, SupervisedProcess(self._host, self._engine, job, conditions), name, log)

    def make(self, kind: ToolKind, workload: Workload, settings: Settings) -> None:
        """Make the tool's data anew in an empty directory. Raises EngineError, HostError and Interrupted."""
        with contextlib.suppress(EngineError):  # after an interruption there may be less to clean than the tool expects
            self.remove(kind, workload, settings)
        self._run_checked(["mkdir", "--parents", "--", self.directory(workload, settings)])
        parameters = parameters_of(workload, settings)
        self._carry_out(workload, settings, kind.prepare_command(parameters, self.request(workload, settings)))

    def remove(self, kind: ToolKind, workload: Workload, settings: Settings) -> None:
        """Remove the tool's folder and its data elsewhere; nothing where the folder was not made.

        Tables on a server are not removed here: their database is dropped.
        """
        tool_folder = self._folder_of(workload, settings)
        if not self._host.names(tool_folder):
            return
        order = request_of(workload, self.directory(workload, settings))
        try:
            self._carry_out(
                workload, settings, kind.cleanup_command(parameters_of(workload, settings), order), until_done=True
            )
        finally:
            self._run_checked(["rm", "--recursive", "--force", "--one-file-system", "--", tool_folder])

    def keep_files(self, workload: Workload, settings: Settings) -> None:
        """Copy the tool's working directory, for `restore_files`. Raises HostError."""
        directory = self.directory(workload, settings)
        copy = f"{self._folder_of(workload, settings)}/{_KEPT}"
        self._run_checked(["rm", "--recursive", "--force", "--one-file-system", "--", copy])
        self._run_checked(["cp", "--archive", "--reflink=auto", "--", directory, copy])

    def restore_files(self, workload: Workload, settings: Settings) -> None:
        """Restore the tool's working directory from its copy. Raises HostError."""
        directory = self.directory(workload, settings)
        copy = f"{self._folder_of(workload, settings)}/{_KEPT}"
        self._run_checked(["rm", "--recursive", "--force", "--one-file-system", "--", directory])
        self._run_checked(["cp", "--archive", "--reflink=auto", "--", copy, directory])

    def _carry_out(self, workload: Workload, settings: Settings, argv: Argv, *, until_done: bool = False) -> None:
        """Run a program to its end; `until_done`: also when the user asks to stop meanwhile."""
        if not argv:
            return
        process = self.start(workload, settings, argv)
        try:
            while (ended := process.ended(_GLANCE_S)) is None:
                if self._stopped() and not until_done:
                    raise Interrupted("stopped while making data", "continue with: paribus resume")
        except BaseException:
            process.stop()
            raise
        process.refuse_failure(ended)

    def _folder_of(self, workload: Workload, settings: Settings) -> str:
        return str(PurePosixPath(self._folder) / f"{workload.plan_name}-{data_of(workload, settings).shape}")

    def _run_checked(self, argv: Argv) -> None:
        ended = self._host.run(argv, timeout_s=_LONG_S)
        if ended.exit_code != 0:
            raise HostError(f"{shlex.join(argv)} failed: {ended.stderr.strip() or f'exit code {ended.exit_code}'}")


class ToolProcess:
    """A running program and its descendants, which end when this program does."""

    def __init__(self, host: Host, process: SupervisedProcess, program: str, log: str) -> None:
        self._host = host
        self._process = process
        self._name = PurePosixPath(program).name
        self._log = log
        self._over = False
        self.pid = process.pid

    def ended(self, timeout_s: float) -> Ended | None:
        """Return the end of the tool; None while it runs. Raises EngineError and HostError for a lost supervisor."""
        ended = self._process.ended(timeout_s)
        self._over = ended is not None
        return ended

    def refuse_failure(self, ended: Ended) -> None:
        """Raise EngineError with the program's last output where it failed."""
        if ended.exit_code == 0:
            return
        how = f"signal {ended.signal}" if ended.signal else f"exit code {ended.exit_code}"
        raise EngineError("load-error", f"{self._name} ended with {how}: {_last_lines(ended.last_words)}")

    def text(self) -> str:
        """Its output. Raises HostError."""
        return self._host.read(self._log)

    def stop(self) -> None:
        """End it at once, if it runs."""
        if not self._over:
            self._over = True
            self._process.kill()


def _last_lines(lines: Sequence[str]) -> str:
    """The last non-empty lines, joined; a password that the tool shows is hidden."""
    return redact(" / ".join([line.strip() for line in lines if line.strip()][-5:])) or "no word"
