"""A machine reached by the user's own OpenSSH: their configuration, agent and jump hosts.

One master connection carries everything. The engine is pushed once, by the hash of its content; files are read and
written by one long-lived `paribus-engine eyes`. Whatever runs on the target ends when its stdin does, and also when
it has heard nothing for a while: a link that is cut tells neither side.
"""

import json
import shlex
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, TypeAdapter, ValidationError

from paribus.errors import BadReply, HostError, Unreachable
from paribus.hosts import address, bounded, engine_copy
from paribus.hosts.ssh_process import HEARTBEAT_S, LOST, LOST_S, NETWORK, SILENCE, SshProcess
from paribus.hosts.transport import Completed, of_errno
from paribus.hosts.waiting import Report, Wait
from paribus.i18n import N_, stored_message

_MASTER_ONLY = ("-o", "ProxyCommand=false")  # where the master is gone, ssh would connect anew, past all checks
_CONNECT_S = 15
_RECONNECT_S = 600.0
_PATIENCE_S = 30.0
_MOST_STDERR = 2000  # characters, of a program
_MOST_WORDS = 1000  # characters, of ssh, which also prints what a server greets with
_ANSWERING = ("eyes", "journal", "run", "sql")  # the others speak when they have something to say
_LATE = "see whether that machine is overloaded, and whether this ends: "
_NAMES = "names"  # the one command that may be answered with nothing
_ONE_RELEASE = "install one release on both"


class _Seen(BaseModel):
    """The eyes' answer: texts of a file, a directory or a path."""

    event: Literal["seen"]
    texts: list[str]


class _Unseen(BaseModel):
    """The system call failed."""

    event: Literal["unseen"]
    errno: int
    reason: str


_ANSWER: TypeAdapter[_Seen | _Unseen] = TypeAdapter(_Seen | _Unseen)


class SshHost:
    """A machine over SSH; `engine` is where its own copy of the engine lies."""

    def __init__(
        self, name: str, local_engine: str, *, become: bool = False, report: Report = lambda _words: None
    ) -> None:
        """Connect and push the engine. `name` is `ssh://[user@]host[:port]`; `report` hears of long waits.

        Raises UsageError and HostError.
        """
        where = address.parse(name)
        self.name = name
        self._label = where.host
        self._report = report
        self._become = ["sudo", "--non-interactive", "--"] if become else []
        self._destination = where.destination
        self._port = ["-p", where.port] if where.port else []
        self._local_engine = Path(local_engine)
        self._folder = Path(tempfile.mkdtemp(prefix="paribus-ssh-"))
        self._master: subprocess.Popen[str] | None = None
        self._eyes: SshProcess | None = None
        self._blind: HostError | None = None  # why the eyes are not asked again on this connection
        self._asking = threading.Lock()
        try:
            self.connect()
            self.engine = self._push(self._local_engine)
        except BaseException:
            self.close()
            raise

    # --- the connection ---

    def connect(self) -> None:
        """Open the connection, anew where it was lost. Raises Unreachable with ssh's own words."""
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
                words = self._words_of_master()
                raise Unreachable(
                    stored_message("cannot reach {target}: {words}", target=self.name, words=words),
                    f"make this work without a question: ssh {shlex.join([*self._port, self._destination])} true",
                )
            time.sleep(0.05)

    def reconnect(self, stopped: Callable[[], bool]) -> None:
        """Connect and check the engine again, for some minutes or until `stopped`. Raises Unreachable and HostError."""
        deadline = time.monotonic() + _RECONNECT_S
        while True:
            try:
                self.connect()
                self.engine = self._push(self._local_engine)  # the target may have restarted, or been changed
                return
            except Unreachable as error:
                if stopped() or time.monotonic() > deadline:
                    todo = f"it puts itself back when it has heard nothing for {HEARTBEAT_S} s; look at it with:"
                    raise Unreachable(error.message, f"{todo} paribus undo --target {self.name}") from error
            time.sleep(1.0)

    def is_connected(self) -> bool:
        """Whether the master connection stands, as far as ssh knows."""
        asked = subprocess.run([*self._ssh("-O", "check"), self._destination], capture_output=True, check=False)
        return asked.returncode == 0

    def _words_of_master(self) -> str:
        """End the master; what it had said."""
        assert self._master is not None
        self._master.kill()
        _, words = self._master.communicate()
        self._master = None
        return " ".join(words.split())[-_MOST_WORDS:] or "no answer"

    def _ssh(self, *options: str) -> list[str]:
        return [
            "ssh", *options, *self._port,
            "-o", f"ControlPath={self._folder}/master", "-o", "ControlPersist=no", "-o", "BatchMode=yes",
            "-o", f"ConnectTimeout={_CONNECT_S}", "-o", f"ServerAliveInterval={LOST_S // 2}",
            "-o", "ServerAliveCountMax=2", "-o", "ForwardX11=no", "-o", "ClearAllForwardings=yes", "-T",
        ]  # fmt: skip

    def _command(self, argv: Sequence[str], *, become: bool = True) -> list[str]:
        """The local command that runs `argv` there; ssh knows only strings, so each word is quoted for the shell."""
        words = [*(self._become if become else []), *argv]
        options = self._ssh("-o", "ControlMaster=no", *_MASTER_ONLY)
        return [*options, self._destination, "--", shlex.join(words)]

    def _drop(self) -> None:
        self._close_eyes()
        self._blind = None
        if self._master is not None:
            self._words_of_master()
        (self._folder / "master").unlink(missing_ok=True)

    def _close_eyes(self) -> None:
        if self._eyes is not None:
            self._eyes.close(timeout_s=1.0)
            self._eyes = None

    def close(self) -> None:
        """End the connection and all that runs over it."""
        self._drop()
        shutil.rmtree(self._folder, ignore_errors=True)

    # --- the engine ---

    def _push(self, local_engine: Path) -> str:
        """Where the engine lies on the target, put there if it is not. Raises HostError where it cannot run."""
        path = engine_copy.install(self._print, self._label, local_engine)
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
        """What a command without privilege prints. Raises HostError."""
        done = self._to_end(self._command(argv, become=False), argv[0], content, bounded.SHORT_BYTES, timeout_s)
        if done.exit_code != 0:
            words = done.stderr.strip() or f"exit code {done.exit_code}"
            raise HostError(f"{argv[0]} on {self.name} failed: {words}")
        return done.stdout

    def _to_end(self, command: list[str], name: str, content: bytes, most: int, timeout_s: float | None) -> Completed:
        """Run a command of ssh to its end. Raises Unreachable; BadReply where it does not end, or prints too much."""
        wait = Wait(f"{name} on {self.name}", self._report)
        try:
            done = bounded.run(
                command,
                content,
                most=most,
                timeout_s=timeout_s,
                new_session=True,  # a Ctrl-C at the terminal must not cut off an undo
                waits=wait.report,
            )
        except subprocess.TimeoutExpired as error:
            shown = shlex.join([*self._port, self._destination])
            raise BadReply(
                f"{name} on {self.name} did not end within {timeout_s:.0f} s", f"{_LATE}ssh {shown} true"
            ) from error
        except bounded.TooLong as error:
            raise BadReply(f"{name} on {self.name} printed {error}", "look at what runs there") from error
        words = done.stderr[-_MOST_STDERR:]
        if done.exit_code == LOST:
            raise self._lost(words.strip())
        return Completed(done.exit_code, done.stdout, words)

    def _lost(self, words: str) -> Unreachable:
        said = N_("the connection to {target} was lost: {words}")
        return Unreachable(stored_message(said, target=self.name, words=words or stored_message(SILENCE)), NETWORK)

    # --- files ---

    def _ask(self, command: str, path: str) -> list[str]:
        """Let the eyes look. Raises Missing, Denied, HostError and Unreachable."""
        return self._seen(command, path, self._look(command, [path])[0])

    def _look(self, command: str, paths: Sequence[str]) -> list[_Seen | _Unseen]:
        """What the eyes answer for each path, all asked for before the first answer. Raises HostError, Unreachable."""
        with self._asking:
            if self._blind is not None:
                raise self._blind
            try:
                if self._eyes is None:
                    self._eyes = self.start([self.engine, "eyes"])
                self._eyes.send("\n".join(json.dumps({command: {"path": path}}) for path in paths))
                return [self._answer(self._eyes) for _ in paths]
            except (HostError, EOFError) as error:
                words = self._eyes.words() if self._eyes else str(error)
                self._close_eyes()
                if isinstance(error, BadReply | Unreachable):
                    self._blind = error
                    raise
                raise HostError(f"the engine on {self.name} ended: {words}", "look at that machine") from error

    def _answer(self, eyes: SshProcess) -> _Seen | _Unseen:
        """The next answer of the eyes. Raises EOFError, BadReply and Unreachable."""
        line = eyes.receive(_PATIENCE_S)
        if line is None:
            raise self._lost(f"no answer for {_PATIENCE_S:.0f} s")
        try:
            return _ANSWER.validate_json(line)
        except ValidationError as error:
            raise BadReply(f"the engine on {self.name} said {line.strip()[:200]!r}", _ONE_RELEASE) from error

    def _seen(self, command: str, path: str, answer: _Seen | _Unseen) -> list[str]:
        """The texts of an answer. Raises Missing, Denied and HostError."""
        if isinstance(answer, _Unseen):
            raise of_errno(path, command, answer.errno, answer.reason)
        if not answer.texts and command != _NAMES:
            raise BadReply(f"the engine on {self.name} said nothing of {path}", _ONE_RELEASE)
        return answer.texts

    def read(self, path: str) -> str:
        """The text of a file. Raises Missing, Denied, HostError or Unreachable."""
        return self._ask("read", path)[0]

    def read_each(self, paths: Sequence[str]) -> list[str | None]:
        """The texts of many files in one round trip; None where one cannot be read. Raises Unreachable, HostError."""
        found: list[str | None] = []
        for path, answer in zip(paths, self._look("read", paths), strict=True):
            try:
                found.append(self._seen("read", path, answer)[0])
            except BadReply:
                raise
            except HostError:
                found.append(None)
        return found

    def names(self, path: str) -> list[str]:
        """The entries of a folder, sorted; empty when there is no such folder. Raises Unreachable."""
        try:
            return self._ask(_NAMES, path)
        except (BadReply, Unreachable):
            raise
        except HostError:
            return []

    def resolve(self, path: str) -> str:
        """The path with every link followed."""
        return self._ask("resolve", path)[0]

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
        """Start the engine to speak with; it ends also when it has heard nothing for a while."""
        engine, verb, *more = argv
        wait = Wait(f"{verb} on {self.name}", self._report if verb in _ANSWERING else lambda _words: None)
        command = self._command([engine, verb, "--heartbeat", str(HEARTBEAT_S), *more])
        return SshProcess(command, f"{verb} on {self.name}", wait)
