"""A program beside the load of one trial, such as a backup; it ends with the trial.

In: its argument list, and the server that its placeholders are of. Out: whether it is over, and how it failed.
"""

from collections.abc import Sequence

from paribus.engine.protocol import DatabaseServer, Ended, SuperviseJob
from paribus.engine.supervised_process import SupervisedProcess
from paribus.errors import HostError
from paribus.hosts import environment
from paribus.hosts.transport import Host
from paribus.i18n import N_, StoredMessage, stored_message
from paribus.parsers.redact import redact
from paribus.workloads import server_login

_PATIENCE_S = 2.0
_LAST_LINES = 3


class BackgroundJob:
    """A program that was started, and its descendants."""

    def __init__(
        self,
        host: Host,
        engine: str,
        folder: str,
        server: DatabaseServer | None,
        number: int,
        argv: Sequence[str],
    ) -> None:
        """Start it, the one of this `number` in the trial, in a folder of its own. Raises EngineError and HostError."""
        directory = f"{folder}/job-{number}"
        made = host.run(["mkdir", "--parents", "--", directory])
        if made.exit_code != 0:
            raise HostError(f"{directory} cannot be made: {made.stderr.strip()}")
        password_file = f"{directory}/password"
        values = server_login.address_values(server, password_file) if server else {}
        needs_password = server is not None and "password_file" in server_login.placeholders(list(argv))
        self._program = argv[0]
        self._ended: Ended | None = None
        self._is_stopped = False
        self._process = SupervisedProcess(
            host,
            engine,
            SuperviseJob(
                argv=[server_login.filled(word, values) for word in argv],
                directory=directory,
                environment={
                    **environment.independent(directory, directory),
                    **(server_login.environment(server, password_file) if server else {}),
                },
                login=server_login.login(server, password_file) if server and needs_password else None,
                patience_s=_PATIENCE_S,
                log=f"{directory}/log",
            ),
        )
        self.pid = self._process.pid

    def is_over(self) -> bool:
        """Whether it has ended by itself. Raises EngineError and HostError where its keeper is lost."""
        if not self._is_stopped:
            self._ended = self._ended or self._process.ended()
        return self._ended is not None

    def failure(self) -> StoredMessage | None:
        """Return the failure of the job; None where it did not fail, or still runs."""
        if self._ended is None or self._ended.exit_code == 0:
            return None
        words = redact(" / ".join([line.strip() for line in self._ended.last_words if line.strip()][-_LAST_LINES:]))
        how = f"signal {self._ended.signal}" if self._ended.signal else f"exit code {self._ended.exit_code}"
        return stored_message(N_("{program} ended with {how}: {words}"), program=self._program, how=how, words=words)

    def stop(self) -> None:
        """End it, where it still runs; once is enough. Raises EngineError and HostError."""
        if self._ended is None and not self._is_stopped:
            self._is_stopped = True
            self._process.stop()
