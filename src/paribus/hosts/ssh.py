"""A machine reached by the user's own OpenSSH: their configuration, agent and jump hosts.

One master connection carries everything. The engine is pushed once, by the hash of its content. One long-lived
`paribus-engine file-agent` reads files. Whatever runs on the target ends when its stdin does, and also when it has
heard nothing for a while: a link that is cut tells neither side.
"""

import shlex
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from paribus.errors import BadReply, HostError, TimedOut, Unreachable
from paribus.hosts import address, bounded, engine_copy, sandboxes
from paribus.hosts.file_agent import NAMES, FileAgent
from paribus.hosts.ssh_process import HEARTBEAT_S, LOST, LOST_S, NETWORK, SILENCE, SshProcess
from paribus.hosts.transport import Completed
from paribus.hosts.waiting import Report, Wait
from paribus.i18n import N_, stored_message
from paribus.temporary import TemporaryFolder

_MASTER_ONLY = ("-o", "ProxyCommand=false")  # else ssh connects by itself, past all checks, where the master is gone
_SOCKET = "master"
_CONNECT_S = 15
_RECONNECT_S = 600.0
_PATIENCE_S = 30.0
_MOST_STDERR = 2000  # characters, of a program
_MOST_MESSAGE = 1000  # characters, of ssh, which also prints a server's greeting
_ANSWERING = ("file-agent", "journal", "run", "sql")  # the others print on their own schedule
_LATE = "see whether that machine is overloaded, and whether this ends: "


def end_abandoned(folder: Path) -> None:
    """End the connection that a killed program has left, given its temporary folder."""
    if (socket := folder / _SOCKET).is_socket():
        exit_master = ["ssh", "-O", "exit", "-o", f"ControlPath={socket}", "--", "abandoned"]
        subprocess.run(exit_master, capture_output=True, check=False, timeout=_PATIENCE_S)


class SshHost:
    """A machine over SSH; `engine` is where its own copy of the engine lies."""

    def __init__(
        self,
        name: str,
        local_engine: str,
        more_engines: Sequence[Path] = (),
        *,
        become: bool = False,
        report: Report = lambda _words: None,
    ) -> None:
        """Connect and push the engine. `name` is `ssh://[user@]host[:port]`; `report` hears of long waits.

        `more_engines` are for targets of other architectures than this machine's. Raises UsageError and HostError.
        """
        parsed = address.parse(name)
        self.name = name
        self._label = parsed.host
        self._report = report
        self._become = ["sudo", "--non-interactive", "--"] if become else []
        self._destination = parsed.destination
        self._ssh_options = [*sandboxes.ssh_options(parsed.host), *(["-p", parsed.port] if parsed.port else [])]
        self._engines = Path(local_engine), more_engines
        self._folder = TemporaryFolder("ssh")
        self._master: subprocess.Popen[str] | None = None
        self._files = FileAgent(self.name, lambda: self.start([self.engine, "file-agent"]), self._lost)
        try:
            self.connect()
            self.engine = self._push()
        except BaseException:
            self.close()
            raise

    # --- the connection ---

    def connect(self) -> None:
        """Open the connection, again where it was lost. Raises Unreachable with ssh's own message."""
        self._drop()
        self._master = subprocess.Popen(
            [*self._ssh("-M"), "-N", self._destination],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        deadline = time.monotonic() + 2 * _CONNECT_S
        wait = Wait(f"the connection to {self.name}", self._report)
        while not self.is_connected():
            wait.report()
            if self._master.poll() is not None or time.monotonic() > deadline:
                message = self._end_master()
                by_hand = shlex.join(["ssh", *self._ssh_options, self._destination, "true"])
                raise Unreachable(
                    stored_message("cannot reach {target}: {words}", target=self.name, words=message),
                    f"this command must work without a prompt: {by_hand}",
                )
            time.sleep(0.05)

    def reconnect(self, stopped: Callable[[], bool]) -> None:
        """Connect and check the engine again, for some minutes or until `stopped`. Raises Unreachable and HostError."""
        deadline = time.monotonic() + _RECONNECT_S
        while True:
            try:
                self.connect()
                self.engine = self._push()  # the target may have restarted, or been changed
                return
            except Unreachable as error:
                if stopped() or time.monotonic() > deadline:
                    todo = f"it restores itself when it has heard nothing for {HEARTBEAT_S} s; look at it with:"
                    raise Unreachable(error.message, f"{todo} paribus undo --target {self.name}") from error
            time.sleep(1.0)

    def is_connected(self) -> bool:
        """Whether the master connection stands, as far as ssh knows."""
        check = subprocess.run([*self._ssh("-O", "check"), self._destination], capture_output=True, check=False)
        return check.returncode == 0

    def _end_master(self) -> str:
        """End the master; its message."""
        assert self._master is not None
        self._master.kill()
        _, stderr = self._master.communicate()
        self._master = None
        return " ".join(stderr.split())[-_MOST_MESSAGE:] or "no answer"

    def _ssh(self, *options: str) -> list[str]:
        return [
            "ssh", *options, *self._ssh_options,
            "-o", f"ControlPath={self._folder.path}/{_SOCKET}", "-o", "ControlPersist=no", "-o", "BatchMode=yes",
            "-o", f"ConnectTimeout={_CONNECT_S}", "-o", f"ServerAliveInterval={LOST_S // 2}",
            "-o", "ServerAliveCountMax=2", "-o", "ForwardX11=no", "-o", "ClearAllForwardings=yes", "-T",
        ]  # fmt: skip

    def _command(self, argv: Sequence[str], *, become: bool = True) -> list[str]:
        """The local command that runs `argv` on the target.

        Each word is quoted, since ssh passes one string to the shell.
        """
        remote = [*(self._become if become else []), *argv]
        options = self._ssh("-o", "ControlMaster=no", *_MASTER_ONLY)
        return [*options, self._destination, "--", shlex.join(remote)]

    def _drop(self) -> None:
        self._files.reset()
        if self._master is not None:
            self._end_master()
        (self._folder.path / _SOCKET).unlink(missing_ok=True)

    def close(self) -> None:
        """End the connection and all that runs over it."""
        self._drop()
        self._folder.remove()

    # --- the engine ---

    def _push(self) -> str:
        """The engine's path on the target; copied there if it is missing. Raises HostError where it cannot run."""
        path = engine_copy.install(self._print, self._label, *self._engines)
        try:
            self._print([path, "--version"], b"", _PATIENCE_S)
        except (Unreachable, BadReply):
            raise
        except HostError as error:
            raise HostError(
                f"the engine of this machine does not run on {self.name}: {error.message}",
                "build the engine for that machine, and name it: PARIBUS_ENGINE=/path/of/paribus-engine",
            ) from error
        return path

    def _print(self, argv: list[str], content: bytes, timeout_s: float) -> str:
        """The output of a command without privilege. Raises HostError."""
        completed = self._to_end(self._command(argv, become=False), argv[0], content, bounded.SHORT_BYTES, timeout_s)
        if completed.exit_code != 0:
            stderr = completed.stderr.strip() or f"exit code {completed.exit_code}"
            raise HostError(f"{argv[0]} on {self.name} failed: {stderr}")
        return completed.stdout

    def _to_end(self, command: list[str], name: str, content: bytes, most: int, timeout_s: float | None) -> Completed:
        """Run a command of ssh to its end. Raises Unreachable; BadReply where it does not end, or prints too much."""
        wait = Wait(f"{name} on {self.name}", self._report)
        try:
            completed = bounded.run(
                command,
                content,
                most=most,
                timeout_s=timeout_s,
                new_session=True,  # a Ctrl-C at the terminal must not cut off an undo
                waits=wait.report,
            )
        except subprocess.TimeoutExpired as error:
            destination = shlex.join([*self._ssh_options, self._destination])
            raise TimedOut(
                f"{name} on {self.name} did not end within {timeout_s:.0f} s", f"{_LATE}ssh {destination} true"
            ) from error
        except bounded.TooLong as error:
            raise BadReply(
                f"{name} on {self.name} printed {error}", "check that the program there is the intended one"
            ) from error
        stderr = completed.stderr[-_MOST_STDERR:]
        if completed.exit_code == LOST:
            raise self._lost(stderr.strip())
        return Completed(completed.exit_code, completed.stdout, stderr)

    def _lost(self, message: str) -> Unreachable:
        text = N_("the connection to {target} was lost: {words}")
        return Unreachable(stored_message(text, target=self.name, words=message or stored_message(SILENCE)), NETWORK)

    # --- files ---

    def read(self, path: str) -> str:
        """The text of a file. Raises Missing, Denied, HostError or Unreachable."""
        return self._files.ask("read", path)[0]

    def read_each(self, paths: Sequence[str]) -> list[str | None]:
        """The texts of many files in one round trip; None where one cannot be read. Raises Unreachable, HostError."""
        return self._files.read_each(paths)

    def names(self, path: str) -> list[str]:
        """The entries of a folder, sorted; empty when there is no such folder. Raises Unreachable."""
        try:
            return self._files.ask(NAMES, path)
        except (BadReply, Unreachable):
            raise
        except HostError:
            return []

    def resolve(self, path: str) -> str:
        """The path with every link followed."""
        return self._files.ask("resolve", path)[0]

    # --- programs ---

    def run(
        self,
        argv: Sequence[str],
        *,
        text: str = "",
        timeout_s: float | None = 60.0,
        connects: bool = False,  # noqa: ARG002
    ) -> Completed:
        """Run a program to its end, with `text` on its stdin. Raises HostError or Unreachable."""
        content = text.encode(errors="surrogateescape")
        return self._to_end(self._command(argv), argv[0], content, bounded.OUTPUT_BYTES, timeout_s)

    def start(self, argv: Sequence[str], *, connects: bool = False) -> SshProcess:  # noqa: ARG002
        """Start the engine as a process to talk to; it also ends when it has received nothing for a while."""
        engine, verb, *options = argv
        wait = Wait(f"{verb} on {self.name}", self._report if verb in _ANSWERING else lambda _words: None)
        command = self._command([engine, verb, "--heartbeat", str(HEARTBEAT_S), *options])
        return SshProcess(command, f"{verb} on {self.name}", self.name, wait)
