"""A machine reached by the user's own OpenSSH: their configuration, agent and jump hosts.

One master connection carries everything. The engine is pushed once, by the hash of its content; files are read and
written by one long-lived `ceteris-engine eyes`. Whatever runs on the target ends when its stdin does, and also when
it has heard nothing for a while: a link that is cut tells neither side.
"""

import hashlib
import json
import shlex
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ceteris.errors import HostError, Unreachable, UsageError
from ceteris.hosts.local import LocalProcess
from ceteris.hosts.transport import Completed, of_errno
from ceteris.language import later, recorded

HEARTBEAT_S = 20  # so long a silence means on the target that the controller is gone
_PULSE_S = 4.0
_LOST_S = 10  # so long without an answer to ssh's own asking means here that the target is gone
_CONNECT_S = 15
_RECONNECT_S = 600.0
_PATIENCE_S = 30.0
_LOST = 255  # ssh's own exit code
_SILENCE = later("no answer")
_NETWORK = "look at the network between the two; the target puts itself back"

_WHERE = 'file="${XDG_CACHE_HOME:-$HOME/.cache}/ceteris/$1"'
_WHOLE = 'test "$(sha256sum < "$file" | cut -c1-16)" = "${1##*-}"'  # a power cut can leave a part of it
_FIND = f'{_WHERE}; test -x "$file" && {_WHOLE} && printf %s "$file"; exit 0'
_PUSH = (
    f'{_WHERE}; set -e; umask 077; mkdir -p "${{file%/*}}"; dd of="$file.$$" conv=fsync 2>/dev/null; '
    'chmod 700 "$file.$$"; mv "$file.$$" "$file"; printf %s "$file"'
)


class SshProcess(LocalProcess):
    """A program on the target, spoken to line by line; it is told regularly that somebody is here."""

    def __init__(self, argv: Sequence[str]) -> None:
        self._sending = threading.Lock()
        self._ended = threading.Event()
        super().__init__(argv)
        threading.Thread(target=self._beat, daemon=True).start()

    def _beat(self) -> None:
        while not self._ended.wait(_PULSE_S):
            try:
                self.send("")
            except HostError:
                return

    def send(self, line: str) -> None:
        """Write one line to its stdin. Raises Unreachable or HostError when it is gone."""
        try:
            with self._sending:
                super().send(line)
        except HostError as error:
            self._raise_if_lost()
            raise error

    def receive(self, timeout_s: float) -> str | None:
        """The next line of its stdout, or None when none came in time. Raises EOFError at its end, or Unreachable."""
        try:
            return super().receive(timeout_s)
        except EOFError:
            self._raise_if_lost()
            raise

    def _raise_if_lost(self) -> None:
        """Raise Unreachable where it was the connection that ended."""
        if self.exit_code(_LOST_S) == _LOST:
            said = later("the connection to the target was lost: {words}")
            raise Unreachable(recorded(said, words=self.words() or recorded(_SILENCE)), _NETWORK)

    def end_input(self) -> None:
        """End its stdin; what it says until it ends can still be received."""
        self._ended.set()
        with self._sending:
            super().end_input()


class SshHost:
    """A machine over SSH; `engine` is where its own copy of the engine lies."""

    def __init__(self, address: str, local_engine: str, *, become: bool = False) -> None:
        """Connect and push the engine. `address` is `ssh://[user@]host[:port]`. Raises UsageError and HostError."""
        parts = urlsplit(address)
        if parts.scheme != "ssh" or not parts.hostname or parts.path not in ("", "/") or parts.password:
            raise UsageError(f"{address!r} is no target", "write local, or ssh://[user@]host[:port]")
        if parts.hostname.startswith("-") or (parts.username or "").startswith("-"):
            raise UsageError(f"{address!r} is no target", "a host's name does not begin with -")
        self.name = address
        self._become = ["sudo", "--non-interactive", "--"] if become else []
        self._destination = (f"{parts.username}@" if parts.username else "") + parts.hostname
        self._port = ["-p", str(parts.port)] if parts.port else []
        self._folder = Path(tempfile.mkdtemp(prefix="ceteris-ssh-"))
        self._master: subprocess.Popen[str] | None = None
        self._eyes: SshProcess | None = None
        self._asking = threading.Lock()
        try:
            self.connect()
            self.engine = self._push(Path(local_engine))
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
            start_new_session=True,
        )
        deadline = time.monotonic() + 2 * _CONNECT_S
        while not self.is_connected():
            if self._master.poll() is not None or time.monotonic() > deadline:
                words = self._words_of_master()
                raise Unreachable(
                    recorded("cannot reach {target}: {words}", target=self.name, words=words),
                    f"make this work without a question: ssh {shlex.join([*self._port, self._destination])} true",
                )
            time.sleep(0.05)

    def reconnect(self, stopped: Callable[[], bool]) -> None:
        """Connect again, trying for some minutes or until `stopped`. Raises Unreachable with the last cause."""
        deadline = time.monotonic() + _RECONNECT_S
        while True:
            try:
                return self.connect()
            except Unreachable as error:
                if stopped() or time.monotonic() > deadline:
                    todo = f"it puts itself back when it has heard nothing for {HEARTBEAT_S} s; look at it with:"
                    raise Unreachable(error.message, f"{todo} ceteris undo --target {self.name}") from error
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
        return " ".join(words.split()) or "no answer"

    def _ssh(self, *options: str) -> list[str]:
        return [
            "ssh", *options, *self._port,
            "-o", f"ControlPath={self._folder}/master", "-o", "ControlPersist=no", "-o", "BatchMode=yes",
            "-o", f"ConnectTimeout={_CONNECT_S}", "-o", f"ServerAliveInterval={_LOST_S // 2}",
            "-o", "ServerAliveCountMax=2", "-o", "ForwardX11=no", "-o", "ClearAllForwardings=yes", "-T",
        ]  # fmt: skip

    def _command(self, argv: Sequence[str], *, become: bool = True) -> list[str]:
        """The local command that runs `argv` there; ssh knows only strings, so each word is quoted for the shell."""
        words = [*(self._become if become else []), *argv]
        return [*self._ssh("-o", "ControlMaster=no"), self._destination, "--", shlex.join(words)]

    def _drop(self) -> None:
        if self._eyes is not None:
            self._eyes.close(timeout_s=1.0)
            self._eyes = None
        if self._master is not None:
            self._words_of_master()
        (self._folder / "master").unlink(missing_ok=True)

    def close(self) -> None:
        """End the connection and all that runs over it."""
        self._drop()
        shutil.rmtree(self._folder, ignore_errors=True)

    # --- the engine ---

    def _push(self, local_engine: Path) -> str:
        """Where the engine lies on the target, put there if it is not. Raises HostError where it cannot run."""
        content = local_engine.read_bytes()
        name = f"ceteris-engine-{hashlib.sha256(content).hexdigest()[:16]}"
        path = self._bare(["sh", "-c", _FIND, "sh", name])
        if not path:
            path = self._bare(["sh", "-c", _PUSH, "sh", name], content)
        try:
            self._bare([path, "--version"])
        except Unreachable:
            raise
        except HostError as error:
            raise HostError(
                f"the engine of this machine does not run on {self.name}: {error.message}",
                'install Ceteris there, and name its engine: target.engine = "/path/of/ceteris-engine"',
            ) from error
        return path

    def _bare(self, argv: Sequence[str], content: bytes = b"") -> str:
        """What a command without privilege prints. Raises HostError."""
        done = subprocess.run(
            self._command(argv, become=False), input=content, capture_output=True, timeout=600, check=False
        )
        words = done.stderr.decode(errors="replace").strip()
        if done.returncode == _LOST:
            raise self._lost(words)
        if done.returncode != 0:
            raise HostError(f"{argv[0]} on {self.name} failed: {words or f'exit code {done.returncode}'}")
        return done.stdout.decode(errors="replace").strip()

    def _lost(self, words: str) -> Unreachable:
        said = later("the connection to {target} was lost: {words}")
        return Unreachable(recorded(said, target=self.name, words=words or recorded(_SILENCE)), _NETWORK)

    # --- files ---

    def _ask(self, command: str, path: str) -> list[str]:
        """Let the eyes look. Raises Missing, Denied, HostError and Unreachable."""
        return self._seen(command, path, self._look(command, [path])[0])

    def _look(self, command: str, paths: Sequence[str]) -> list[str]:
        """What the eyes answer for each path, all asked for before the first answer. Raises HostError, Unreachable."""
        found: list[str] = []
        with self._asking:
            try:
                if self._eyes is None:
                    self._eyes = self.start([self.engine, "eyes"])
                self._eyes.send("\n".join(json.dumps({command: {"path": path}}) for path in paths))
                while len(found) < len(paths) and (line := self._eyes.receive(_PATIENCE_S)) is not None:
                    found.append(line)
            except Unreachable:
                self._eyes = None
                raise
            except (HostError, EOFError) as error:
                words = self._eyes.words() if self._eyes else str(error)
                self._eyes = None
                raise HostError(f"the engine on {self.name} ended: {words}", "look at that machine") from error
        if len(found) < len(paths):
            raise self._lost(f"no answer for {_PATIENCE_S:.0f} s")
        return found

    def _seen(self, command: str, path: str, line: str) -> list[str]:
        """The texts of an answer. Raises Missing, Denied and HostError."""
        answer: dict[str, Any] = json.loads(line)
        if answer["event"] == "unseen":
            raise of_errno(path, command, answer["errno"], answer["reason"])
        if answer["event"] != "seen":
            raise HostError(f"the engine on {self.name} said {line.strip()[:200]}", "install one release on both")
        texts: list[str] = answer["texts"]
        return texts

    def read(self, path: str) -> str:
        """The text of a file. Raises Missing, Denied, HostError or Unreachable."""
        return self._ask("read", path)[0]

    def read_each(self, paths: Sequence[str]) -> list[str | None]:
        """The texts of many files in one round trip; None where one cannot be read. Raises Unreachable, HostError."""
        found: list[str | None] = []
        for path, line in zip(paths, self._look("read", paths), strict=True):
            try:
                found.append(self._seen("read", path, line)[0])
            except HostError:
                found.append(None)
        return found

    def names(self, path: str) -> list[str]:
        """The entries of a folder, sorted; empty when there is no such folder. Raises Unreachable."""
        try:
            return self._ask("names", path)
        except Unreachable:
            raise
        except HostError:
            return []

    def resolve(self, path: str) -> str:
        """The path with every link followed."""
        return self._ask("resolve", path)[0]

    # --- programs ---

    def run(self, argv: Sequence[str], *, text: str = "", timeout_s: float | None = 60.0) -> Completed:
        """Run a program to its end, with `text` on its stdin. Raises HostError or Unreachable."""
        try:
            done = subprocess.run(
                self._command(argv),
                input=text,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=timeout_s,
                check=False,
                start_new_session=True,  # a Ctrl-C at the terminal must not cut off an undo
            )
        except subprocess.TimeoutExpired as error:
            raise HostError(f"{argv[0]} on {self.name} did not end within {timeout_s:.0f} s") from error
        if done.returncode == _LOST:
            raise self._lost(done.stderr.strip())
        return Completed(done.returncode, done.stdout, done.stderr)

    def start(self, argv: Sequence[str]) -> SshProcess:
        """Start the engine to speak with; it ends also when it has heard nothing for a while."""
        engine, verb, *more = argv
        return SshProcess(self._command([engine, verb, "--heartbeat", str(HEARTBEAT_S), *more]))
