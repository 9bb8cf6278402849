"""Files of a target over SSH, read by one long-lived process of the engine there (its file agent)."""

import json
import threading
from collections.abc import Callable, Sequence
from typing import Literal

from pydantic import BaseModel, TypeAdapter, ValidationError

from paribus.errors import BadReply, HostError, Unreachable
from paribus.hosts.ssh_process import SshProcess
from paribus.hosts.transport import of_errno

NAMES = "names"  # the one command that may be answered with nothing
_PATIENCE_S = 30.0
_ONE_RELEASE = "install one release on both"


class _FileTexts(BaseModel):
    """An answer: the text of a file, the names of a directory or a resolved path."""

    event: Literal["seen"]
    texts: list[str]


class _FileError(BaseModel):
    """An answer: the system call failed."""

    event: Literal["unseen"]
    errno: int
    reason: str


_ANSWER: TypeAdapter[_FileTexts | _FileError] = TypeAdapter(_FileTexts | _FileError)


class FileAgent:
    """The file agent of one connection; started at the first question."""

    def __init__(self, target: str, start: Callable[[], SshProcess], lost: Callable[[str], Unreachable]) -> None:
        """Prepare the agent; the first request starts its process.

        `target`: the host's name in errors. `start` starts the process. `lost` makes the error of a lost target.
        """
        self._target = target
        self._start = start
        self._lost = lost
        self._process: SshProcess | None = None
        self._failure: HostError | None = None  # why the agent is not asked again on this connection
        self._asking = threading.Lock()

    def reset(self) -> None:
        """End the process, and use another one for the next question."""
        self._close()
        self._failure = None

    def _close(self) -> None:
        if self._process is not None:
            self._process.close(timeout_s=1.0)
            self._process = None

    def ask(self, command: str, path: str) -> list[str]:
        """The texts that answer a command. Raises Missing, Denied, HostError and Unreachable."""
        return self._texts(command, path, self._answers(command, [path])[0])

    def read_each(self, paths: Sequence[str]) -> list[str | None]:
        """The texts of many files in one round trip; None where one cannot be read. Raises Unreachable, HostError."""
        texts: list[str | None] = []
        for path, answer in zip(paths, self._answers("read", paths), strict=True):
            try:
                texts.append(self._texts("read", path, answer)[0])
            except BadReply:
                raise
            except HostError:
                texts.append(None)
        return texts

    def _answers(self, command: str, paths: Sequence[str]) -> list[_FileTexts | _FileError]:
        """The answer for each path; all questions are sent before the first answer is read.

        Raises HostError and Unreachable.
        """
        with self._asking:
            if self._failure is not None:
                raise self._failure
            try:
                if self._process is None:
                    self._process = self._start()
                self._process.send("\n".join(json.dumps({command: {"path": path}}) for path in paths))
                return [self._answer(self._process) for _ in paths]
            except (HostError, EOFError) as error:
                stderr = self._process.words() if self._process else str(error)
                self._close()
                if isinstance(error, BadReply | Unreachable):
                    self._failure = error
                    raise
                raise HostError(
                    f"the engine on {self._target} ended: {stderr}", f"check {self._target}, then repeat the command"
                ) from error

    def _answer(self, process: SshProcess) -> _FileTexts | _FileError:
        """The next answer. Raises EOFError, BadReply and Unreachable."""
        line = process.receive(_PATIENCE_S)
        if line is None:
            raise self._lost(f"no answer for {_PATIENCE_S:.0f} s")
        try:
            return _ANSWER.validate_json(line)
        except ValidationError as error:
            raise BadReply(
                f"the engine on {self._target} sent an unknown answer: {line.strip()[:200]!r}", _ONE_RELEASE
            ) from error

    def _texts(self, command: str, path: str, answer: _FileTexts | _FileError) -> list[str]:
        """The texts of an answer. Raises Missing, Denied and HostError."""
        if isinstance(answer, _FileError):
            raise of_errno(path, command, answer.errno, answer.reason)
        if not answer.texts and command != NAMES:
            raise BadReply(f"the engine on {self._target} did not answer about {path}", _ONE_RELEASE)
        return answer.texts
