"""Worker processes that answer pickled requests on stdin through stdout.

They end when they are told to. If this process ends first, they end after their current request.
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
    """A request was not answered; carries the exit code, or the reason why there is no process."""


class WorkerProcess:
    """A process that runs a module's `serve` and answers one request after another."""

    def __init__(self, module: str) -> None:
        """Start it. Raises WorkerFailed."""
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
        """The answer to a request. Raises WorkerFailed."""
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
        """Kill it, whatever it is doing."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe
            with suppress(OSError):  # what was not read yet is lost
                pipe.close()


def share(workers: Sequence[WorkerProcess], requests: Sequence[Any]) -> list[Future[Any]]:
    """Futures of the answers, each from the first free worker; a worker ends when no request is left.

    A future may raise WorkerFailed. When this process ends, it does not wait for the remaining answers.
    """
    futures: list[Future[Any]] = [Future() for _ in requests]
    waiting: SimpleQueue[tuple[Any, Future[Any]]] = SimpleQueue()
    for request_and_future in zip(requests, futures, strict=True):
        waiting.put(request_and_future)

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
    """Answer requests until stdin ends."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # who asked is gone
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what else is said is no answer
    with suppress(EOFError):
        while True:
            request = pickle.load(sys.stdin.buffer)  # noqa: S301  of the process that began us
            pickle.dump(answer(request), answers, pickle.HIGHEST_PROTOCOL)
            answers.flush()
