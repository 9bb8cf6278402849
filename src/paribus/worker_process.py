"""Work that is done aside, by processes of our own: asked by pickles through stdin, answering through stdout.

They end when they are let go; and with us, however that is, once they have no more to do or nobody to tell.
"""

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any


class WorkerFailed(Exception):
    """No answer comes; with the exit code, or why there is no process."""


class WorkerProcess:
    """A process that runs a module which serves, and answers one request after another."""

    def __init__(self, module: str) -> None:
        """Start it. Raises Unanswered."""
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                process_group=0,  # what is typed to end us, we decide upon; in our session, where to be nice counts
            )
        except OSError as error:
            raise WorkerFailed(error.strerror) from error

    def ask(self, request: Any) -> Any:
        """Its answer. Raises Unanswered."""
        assert self._process.stdin
        assert self._process.stdout
        try:
            pickle.dump(request, self._process.stdin)
            self._process.stdin.flush()
            return pickle.load(self._process.stdout)  # noqa: S301  of our own process
        except (OSError, EOFError) as error:
            raise WorkerFailed(self._process.wait()) from error
        except Exception as error:  # something else was said, which may be anything
            self._process.kill()
            raise WorkerFailed(self._process.wait()) from error

    def end(self) -> None:
        """Let it go, whatever it is doing."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe
            with suppress(OSError):  # what was not read yet is lost
                pipe.close()


def share(workers: Sequence[WorkerProcess], requests: Sequence[Any]) -> list[Future[Any]]:
    """The answers to come, each of whoever is free; when none is left to begin, a worker is let go.

    A future may raise Unanswered. Nobody waits for the rest of them when we end.
    """
    futures: list[Future[Any]] = [Future() for _ in requests]
    waiting: SimpleQueue[tuple[Any, Future[Any]]] = SimpleQueue()
    for one in zip(requests, futures, strict=True):
        waiting.put(one)

    def work(worker: WorkerProcess) -> None:
        with suppress(Empty):
            while True:
                request, future = waiting.get_nowait()
                try:
                    future.set_result(worker.ask(request))
                except WorkerFailed as error:
                    future.set_exception(error)
        worker.end()

    for worker in workers:
        threading.Thread(target=work, args=(worker,), daemon=True).start()
    return futures


def serve(answer: Callable[[Any], Any]) -> None:
    """Answer what is asked until nobody asks any more."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # who asked is gone
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what else is said is no answer
    with suppress(EOFError):
        while True:
            request = pickle.load(sys.stdin.buffer)  # noqa: S301  of the process that began us
            pickle.dump(answer(request), answers, pickle.HIGHEST_PROTOCOL)
            answers.flush()
