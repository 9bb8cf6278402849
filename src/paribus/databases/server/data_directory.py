"""The folder on the target that holds one server: data, log, socket, snapshot."""

import secrets
import shlex
import time
from collections.abc import Sequence
from typing import Literal

from paribus.engine.protocol import Ended, SuperviseJob
from paribus.engine.supervised_process import SupervisedProcess
from paribus.errors import DatabaseError
from paribus.hosts import environment
from paribus.hosts.transport import Host

_LONGEST_SOCKET = 107  # what a socket's address has room for
_SOCKET_NAME = 16  # no server's socket has a longer name
_MARK = ".paribus-instance"
_SHORT = "/tmp/paribus-server-"  # noqa: S108  made by mktemp, for its owner alone
_FIRST_PORT, _LAST_PORT = 21000, 29999  # below those that the kernel gives to clients
_LONG_S = 6 * 3600.0  # data may be large
_MAKING_S = 600.0
_LOG_BYTES = 1 << 16


def abandoned_sockets(host: Host) -> list[str]:
    """Folders for sockets that this user made for servers whose own folder is gone."""
    user = host.run(["id", "-u"]).stdout.strip()
    depth = ["-mindepth", "2", "-maxdepth", "2"]
    marks = host.run(["find", "/tmp", *depth, "-path", f"{_SHORT}*/{_MARK}", "-type", "f", "-uid", user])  # noqa: S108
    return [
        mark.removesuffix(f"/{_MARK}")
        for mark in marks.stdout.splitlines()
        if host.run(["test", "-e", host.read(mark)]).exit_code != 0
    ]


def remove_sockets(host: Host, folder: str) -> None:
    """Remove a folder for sockets."""
    host.run(["rm", "--recursive", "--force", "--one-file-system", "--", folder])


class DataDirectory:
    """A folder that is ours alone, on a host; programs in it run as the first of `accounts` where we are root."""

    def __init__(self, host: Host, engine: str, folder: str, accounts: Sequence[str]) -> None:
        self.host = host
        self.engine = engine
        self.folder = folder.rstrip("/")
        self.data = f"{self.folder}/data"
        self.snapshot = f"{self.folder}/snapshot"
        self.temporary = f"{self.folder}/temporary"
        self._log = f"{self.folder}/server.log"
        self._accounts = accounts

    def must(self, argv: Sequence[str], *, text: str = "", timeout_s: float = _LONG_S) -> str:
        """The output of a program. Raises DatabaseError with its message where it fails."""
        completed = self.host.run(argv, text=text, timeout_s=timeout_s)
        if completed.exit_code != 0:
            message = completed.stderr.strip() or f"exit code {completed.exit_code}"
            raise DatabaseError(f"on {self.host.name}, {shlex.join(argv)} failed: {message}")
        return completed.stdout

    def account(self) -> str | None:
        """The user that the server runs as; None for the current one, where that is not root."""
        if self.must(["id", "-u"]).strip() != "0":
            return None
        for name in self._accounts:
            if self.host.run(["id", "-u", name]).exit_code == 0:
                return name
        raise DatabaseError(
            f"{self.host.name} has none of the users {', '.join(self._accounts)}", "create one of these users"
        )

    def make(self) -> None:
        """Make the folder, which must not exist yet. Raises DatabaseError.

        It stays ours, and others cannot pass it; the server's files are in folders below, for its user alone.
        """
        account = self.account()
        self.must(["mkdir", "--mode=0700", self.folder])
        try:
            self.must(["touch", f"{self.folder}/{_MARK}"])
            if len(f"{self.folder}/run/".encode()) + _SOCKET_NAME <= _LONGEST_SOCKET:
                self.must(["mkdir", "--mode=0700", f"{self.folder}/run"])
            else:
                short = self.must(["mktemp", "--directory", f"{_SHORT}XXXXXXXX"]).strip()
                self.must(["tee", f"{short}/{_MARK}"], text=self.folder)
                self.must(["ln", "--symbolic", short, f"{self.folder}/run"])
            server_folders = [self.data, self.temporary]
            self.must(["mkdir", "--mode=0700", *server_folders])
            if account is not None:
                self.must(["chown", f"{account}:", *server_folders, self.sockets()])
                self.let_pass(self.folder)
            if self.carry_out(["test", "-w", self.data]).exit_code != 0:
                raise DatabaseError(
                    f"the user {account} cannot reach {self.data}",
                    "let other users enter the folders above it (chmod o+x), or choose another target.path",
                )
        except BaseException:
            self.remove(0.0)
            raise

    def let_pass(self, folder: str) -> None:
        """Let the server's user, where that is not us, pass a folder that is ours alone. Raises DatabaseError."""
        if (account := self.account()) is not None:
            self.must(["chgrp", "--", self.must(["id", "-gn", account]).strip(), folder])
            self.must(["chmod", "0710", "--", folder])

    def start(
        self,
        argv: Sequence[str],
        *,
        conditions: Sequence[str] = (),
        stop_signal: Literal["TERM", "INT"] = "TERM",
        patience_s: float,
    ) -> SupervisedProcess:
        """Start a program as the server's user, with nothing of our environment, under options of the engine."""
        job = SuperviseJob(
            argv=list(argv),
            user=self.account(),
            directory=self.data,
            environment=environment.independent(self.folder, self.temporary),
            stop_signal=stop_signal,
            patience_s=patience_s,
            log=self._log,
        )
        return SupervisedProcess(self.host, self.engine, job, conditions)

    def carry_out(self, argv: Sequence[str]) -> Ended:
        """Run a program to its end as the server's user. Raises DatabaseError where it does not end."""
        process = self.start(argv, patience_s=1.0)
        try:
            ended = process.ended(_MAKING_S)
            if ended is None:
                raise DatabaseError(f"{argv[0]} did not end within {_MAKING_S:.0f} s")
        except BaseException:
            process.kill()
            raise
        return ended

    def words(self) -> list[str]:
        """The end of the log of the programs in this folder."""
        return self.must(["tail", f"--bytes={_LOG_BYTES}", self._log]).splitlines()

    def drop_cache(self) -> None:
        """Drop the data, which nobody may use, from the page cache. Raises DatabaseError."""
        self.must(["sync", "--file-system", self.data])
        drop = ["dd", "if={}", "iflag=nocache", "count=0", "status=none"]  # for each file; works for any user
        self.must(["find", self.data, "-type", "f", "-exec", *drop, ";"])

    def sockets(self) -> str:
        """The folder for sockets, with a path that is short enough."""
        return self.host.resolve(f"{self.folder}/run")

    def write(self, name: str, text: str) -> None:
        """Write a file into the folder, which the server can read. Raises DatabaseError."""
        path = f"{self.folder}/{name}"
        self.must(["tee", path], text=text)
        self.must(["chmod", "0644", path])  # the folder keeps others out

    def is_in_use(self) -> bool:
        """Whether a server still runs here, whoever started it: it keeps the log locked."""
        if self._log.rsplit("/", 1)[1] not in self.host.names(self.folder):
            return False
        held = 9
        done = self.host.run(["flock", "--nonblock", "--conflict-exit-code", str(held), self._log, "true"])
        return done.exit_code == held

    def wait_until_free(self, patience_s: float) -> None:
        """Wait for the end of a server that has lost its supervisor. Raises DatabaseError where it continues."""
        deadline = time.monotonic() + patience_s
        while self.is_in_use():
            if time.monotonic() > deadline:
                raise DatabaseError(
                    f"a server still runs in {self.folder}", "stop that server, then repeat the command"
                )
            time.sleep(0.1)

    def remove(self, patience_s: float) -> None:
        """Remove the folder and all in it; nothing where it is gone already.

        Raises DatabaseError where it is not ours, or a server still runs in it after `patience_s`.
        """
        entries = self.host.names(self.folder)
        if not entries and self.host.run(["test", "-e", self.folder]).exit_code != 0:
            return
        if entries and _MARK not in entries:
            raise DatabaseError(
                f"{self.folder} was not created by Paribus and is not removed", "remove it by hand if it is not needed"
            )
        self.wait_until_free(patience_s)
        if "run" in entries:
            sockets = self.sockets()
            if sockets.startswith(_SHORT):
                self.must(["rm", "--recursive", "--force", "--one-file-system", "--", sockets])
        self.must(["rm", "--recursive", "--force", "--one-file-system", "--", self.folder])

    def free_port(self) -> int:
        """A port of the loopback that is free at the moment."""
        used = set()
        for table in ("/proc/net/tcp", "/proc/net/tcp6"):
            if table.rsplit("/", 1)[1] in self.host.names("/proc/net"):
                rows = self.host.read(table).splitlines()[1:]
                used |= {int(row.split()[1].rsplit(":", 1)[1], 16) for row in rows if row.strip()}
        free = [port for port in range(_FIRST_PORT, _LAST_PORT + 1) if port not in used]
        return secrets.choice(free)
