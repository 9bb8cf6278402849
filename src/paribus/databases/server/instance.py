"""One private database server: its life from creation to removal, and its data's copies."""

import contextlib
import secrets
import time
from collections.abc import Mapping, Sequence

from pydantic import SecretStr

from paribus.databases.mysql import mysql_server  # noqa: F401  mysql and postgres register their kinds
from paribus.databases.postgres import postgres_server  # noqa: F401  mysql and postgres register their kinds
from paribus.databases.server.client import ServerClient
from paribus.databases.server.data_directory import DataDirectory
from paribus.databases.server.instance_address import InstanceAddress
from paribus.databases.server.kind import database_kinds
from paribus.databases.server.snapshot import Copy, restore, size_bytes, take, try_out
from paribus.databases.server.start_failure import effective_values, log_excerpt, would_not_start
from paribus.databases.server.state import Ask
from paribus.engine.protocol import DatabaseServer, Ended, Rows
from paribus.engine.sql import Sql
from paribus.engine.supervised_process import SupervisedProcess
from paribus.errors import DatabaseError, EngineError, ParibusError, QueryRefused, ServerGone
from paribus.hosts.transport import Host
from paribus.model import READY_S

_ABORT_S = 10.0
_DYING_S = 3.0  # of a server whose keeper was killed; another's goes on
_PATIENCE_S = 600.0  # a large buffer pool is long in being written out
_GLANCE_S = 0.05


class Instance(ServerClient):
    """A server of our own in a folder of its own, reached by its socket; the system's servers are not touched.

    It reads no configuration of the system, listens to no network, and ends when this program does. If this program is
    root, the server runs as an unprivileged user.
    """

    def __init__(
        self,
        host: Host,
        engine: str,
        folder: str,
        kind: str,
        *,
        program: str = "",
        settings: Mapping[str, str] | None = None,
        loopback: bool = False,
        patience_s: float = _PATIENCE_S,
    ) -> None:
        """Find the server's program; nothing is made yet.

        `folder` is for `create` to make; `settings` hold in every start; `loopback` asks for a port too; `patience_s`
        is how long a stop may take. Raises UsageError for a kind that is not known, DatabaseError for no such server.
        """
        self._host = host
        self._kind = database_kinds.get(kind)
        self._directory = DataDirectory(host, engine, folder, self._kind.accounts)
        self.program = self._kind.find(host, program)
        self._settings = self._spelled(settings or {})
        self._loopback = loopback
        self._patience_s = patience_s
        self._address = InstanceAddress(host, engine, self._kind, self._directory)
        self._conditions: tuple[str, ...] = ()
        self._process: SupervisedProcess | None = None
        self._sql: Sql | None = None
        self._variables = {}
        self._ended: Ended | None = None

    def _spelled(self, settings: Mapping[str, str]) -> dict[str, str]:
        return {name.replace("-", "_"): self._kind.spell(value) for name, value in settings.items()}

    def let_pass(self, folder: str) -> None:
        """Let the user that the server runs as pass a folder above its own. Raises DatabaseError."""
        self._directory.let_pass(folder)

    def create(self, settings: Mapping[str, str] | None = None) -> None:
        """Make the folder and the data in it, with the settings that are fixed for the life of the data.

        Raises DatabaseError; nothing is left behind then.
        """
        requested = self._spelled(settings or {}).items()
        built_in = {name: value for name, value in requested if self._kind.is_built_in(name)}
        all_settings = self._settings | built_in
        argv = self._kind.making(self._host, self.program, self._directory, all_settings)
        self._directory.make()
        try:
            ended = self._directory.carry_out(argv)
            if ended.exit_code != 0:
                log = self._directory.words()  # the cause is long before the last lines
                raise would_not_start(self._kind, self.program, built_in, "its data was not made", log)
        except BaseException:
            self.remove()
            raise
        self._settings = all_settings

    def remove(self) -> None:
        """End the server and remove the folder; nothing where it is gone already.

        Raises DatabaseError for a folder that was not made by `create`. Raises it too if the server of a dead
        controller does not end in time.
        """
        if self._process is not None and self._kind.abort_signal:
            self._host.run(["kill", "-s", self._kind.abort_signal, str(self._process.pid)])
            with contextlib.suppress(EngineError):
                self._process.ended(_ABORT_S)
        self.kill()
        self._directory.remove(self._patience_s)

    def start(
        self,
        settings: Mapping[str, str] | None = None,
        *,
        conditions: Sequence[str] = (),
        within_s: float = READY_S,
    ) -> dict[str, str]:
        """Start it with these settings and those of the instance; the value in force of each.

        `conditions` are options of the engine for the server's process. Raises ServerWouldNotStart where it ends or is
        not ready within that time, or does not know a setting.
        """
        if self.is_running():
            raise DatabaseError(f"the {self._name} in {self._directory.folder} is running already", "stop it first")
        tested = self._spelled(settings or {})
        for name, value in tested.items():
            if self._kind.is_built_in(name) and self._settings.get(name) != value:
                raise DatabaseError(
                    f"{name} cannot become {value}: it is fixed for the existing data", "recreate the data"
                )
        all_settings = self._settings | tested
        self._conditions = tuple(conditions)
        if self._loopback:
            self._let_in(all_settings, tested or self._settings, within_s)
        self._run(
            all_settings, tested or self._settings, self._directory.free_port() if self._loopback else None, within_s
        )
        try:
            return effective_values(self._kind, self.program, self.query, all_settings, tested)
        except BaseException:
            self.kill()
            raise

    def _run(
        self, all_settings: Mapping[str, str], tested: Mapping[str, str], port: int | None, within_s: float
    ) -> None:
        """Run it, and wait until it answers; the error names the settings `tested` where it does not."""
        self._address.port = port
        self._directory.wait_until_free(_DYING_S)
        for name, text in self._kind.files(self._directory, all_settings, port).items():
            self._directory.write(name, text)
        self._directory.must(["rm", "--force", *(f"{self._directory.folder}/{name}" for name in self._kind.stale)])
        self._ended, self._variables = None, {}
        self._process = self._directory.start(
            self._kind.running(self.program, self._directory, all_settings, port),
            conditions=self._conditions,
            stop_signal=self._kind.stop_signal,
            patience_s=self._patience_s,
        )
        try:
            self._sql = self._wait_until_ready(tested, within_s)
        except BaseException:
            self.kill()
            raise

    def _let_in(self, all_settings: Mapping[str, str], tested: Mapping[str, str], within_s: float) -> None:
        """Set a new password of the network user before the server listens on a port, which other users can reach."""
        self._run(all_settings, tested, None, within_s)
        password = secrets.token_urlsafe(24)
        user = self._kind.let_in(self.query, password)
        self.stop()
        self._address.network_user = (user, SecretStr(password))

    def _wait_until_ready(self, settings: Mapping[str, str], within_s: float) -> Sql:
        assert self._process is not None
        deadline = time.monotonic() + within_s
        while True:
            ended = self._process.ended(_GLANCE_S)
            if ended is not None:
                raise would_not_start(self._kind, self.program, settings, "", ended.last_words)
            try:
                self._address.connect(within_s).close()
                return self._address.connect()
            except (EngineError, QueryRefused) as error:
                answer = error.message
            if time.monotonic() > deadline:
                words = self._process.kill().last_words
                late = f"it was not ready within {within_s:.0f} s: {answer}"
                raise would_not_start(self._kind, self.program, settings, late, words)

    @property
    def pid(self) -> int:
        """The process of the running server. Raises ServerGone where none runs."""
        if self._process is None:
            raise self._gone("it is not running")
        return self._process.pid

    def is_running(self) -> bool:
        """Whether the server runs. Raises EngineError or Unreachable where its keeper is lost, and ends it then."""
        if self._process is not None:
            try:
                self._ended = self._process.ended()
            except ParibusError:
                self._forget()
                raise
            if self._ended is not None:
                self._forget()
        return self._process is not None

    def _forget(self) -> None:
        if self._sql is not None:
            self._sql.close()
        self._sql = self._process = None

    def stop(self) -> None:
        """End it in good order; nothing where it does not run. Raises DatabaseError where it had to be killed."""
        if not self.is_running() or self._process is None:
            return
        try:
            ended = self._process.stop()
        finally:
            self._forget()
        if ended.signal == 9:
            wrong = f"{self._name} did not stop within {self._patience_s:.0f} s, and was killed"
            raise DatabaseError(wrong, "allow it more time, or restore its data")

    def kill(self) -> None:
        """End it as a crash would; nothing where it does not run."""
        if self._process is not None:
            try:
                self._process.kill()
            finally:
                self._forget()

    def restart(self, settings: Mapping[str, str] | None = None, *, within_s: float = READY_S) -> dict[str, str]:
        """Stop it, and start it with these settings; those of the earlier start and live ones are lost."""
        self.stop()
        return self.start(settings, within_s=within_s)

    def snapshot(self) -> Copy:
        """Copy the data of the stopped server, for `restore`. Raises DatabaseError."""
        self._must_be_stopped()
        return take(self._directory)

    def restore(self) -> Copy:
        """Restore the data of the stopped server from its copy. Raises DatabaseError."""
        self._must_be_stopped()
        return restore(self._directory)

    def try_copy(self) -> Copy:
        """The cost of a copy where the data is, measured with a small one. Raises DatabaseError."""
        return try_out(self._directory)

    def size_bytes(self) -> int:
        """The size of the data on the disk. Raises DatabaseError."""
        return size_bytes(self._directory)

    def _must_be_stopped(self) -> None:
        if self.is_running() or self._directory.is_in_use():
            raise DatabaseError(f"the data in {self._directory.folder} is in use", "stop the server first")

    def address(self) -> DatabaseServer:
        """Return the address and user of a workload: the loopback if the server listens to it, else the socket."""
        return self._address.for_workloads()

    def _administrator(self) -> DatabaseServer:
        return self._address.for_administrator()

    def query(self, text: str) -> Rows:
        """The result of one statement. Raises QueryRefused with the server's message, and ServerGone."""
        try:
            if self._sql is None:
                if not self.is_running():
                    raise self._gone("it is not running")
                self._sql = self._address.connect()
            return self._sql.query(text)
        except EngineError as error:
            if self._sql is not None:
                self._sql.close()
                self._sql = None
            self._wait_for_its_end()
            raise self._gone(error.message) from error

    def inside(self, database: str) -> contextlib.AbstractContextManager[Ask]:
        """A connection to one of its databases. Raises QueryRefused and EngineError."""
        return self._address.inside(database)

    def drop_cache(self) -> None:
        """Drop the data of the stopped server from the page cache. Raises DatabaseError."""
        self._must_be_stopped()
        self._directory.drop_cache()

    def _wait_for_its_end(self) -> None:
        if self._process is not None:
            self._process.ended(1.0)  # a server that dies may have closed its connections first
        self.is_running()

    def _gone(self, cause: str) -> ServerGone:
        message = "; ".join([cause, *self._complaints()])
        return ServerGone(f"{self._name} in {self._directory.folder}: {message}", "start it again")

    def _complaints(self) -> list[str]:
        return log_excerpt(self._kind, self._ended.last_words) if self._ended is not None else []

    def last_words(self) -> str:
        """The server's messages before it ended by itself; empty while it runs. Raises EngineError and Unreachable."""
        self._wait_for_its_end()
        return "; ".join(self._complaints())
