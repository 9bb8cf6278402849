"""`paribus` as a fork of this process, which has imported all of it: imports take longer than an experiment here."""

import importlib
import os
import pkgutil
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path

import paribus

_POLL_S = 0.005


def import_everything() -> None:
    """All modules of paribus, once; a migration can be imported by Alembic only."""
    for module in pkgutil.walk_packages(paribus.__path__, "paribus."):
        if ".migrations" not in module.name:
            importlib.import_module(module.name)


class Forked:
    """A child that runs `call`, its words in a file; to be waited for and hurt like a Popen."""

    def __init__(self, call: Callable[[], None], environment: Mapping[str, str], words: Path) -> None:
        self.returncode: int | None = None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numpy has threads; they know of forks
            self.pid = os.fork()
        if self.pid == 0:
            _become(call, environment, words)

    def poll(self) -> int | None:
        """Its exit code, or minus the signal that ended it; None while it runs."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode

    def wait(self, timeout_s: float) -> int:
        """Its exit code; raises TimeoutExpired, with the child killed."""
        deadline = time.monotonic() + timeout_s
        while (code := self.poll()) is None:
            if time.monotonic() > deadline:
                self.send_signal(signal.SIGKILL)
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout_s)
            time.sleep(_POLL_S)
        return code

    def send_signal(self, number: int) -> None:
        """As os.kill, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)


def _become(call: Callable[[], None], environment: Mapping[str, str], words: Path) -> None:
    """Never returns: what this process would do at its end is the parent's business."""
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        output = os.open(words, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for copy, number in ((nothing, 0), (output, 1), (output, 2)):
            os.dup2(copy, number)
        os.environ.clear()
        os.environ.update(environment)
        sys.stdout, sys.stderr = os.fdopen(1, "w", buffering=1), os.fdopen(2, "w", buffering=1)
        call()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1 if ended.code else 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
