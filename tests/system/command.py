"""The command as a person types it, and what a device is set to."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Filesystem = Callable[..., Path]
PYTHON = str(Path(sys.executable).resolve())  # not in a clone below /tmp, which a confined program does not see
RUN_ENDED = (0,)  # also where another load on this machine made so many trials invalid that nothing was judged
_MOST_RESUMED = 10
_STARVED = re.compile(
    r"the last with: the load completed no operation.*paribus resume (?P<experiment>[\w-]+)", re.DOTALL
)


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def argv_of(*arguments: str, with_report: bool = False) -> list[str]:
    """The command's argv; drawing the report's charts takes longer than most experiments of tests."""
    no_report = ["--no-report"] if arguments[0] in ("run", "try", "resume") and not with_report else []
    return [sys.executable, "-m", "paribus.cli.main", *arguments, *no_report]


def run_paribus(*arguments: str, with_report: bool = False, patience_s: float = 900.0, **env: str) -> Done:
    """Run the command to its end; an experiment whose short trials other tests starved is continued as it advises."""
    for _ in range(_MOST_RESUMED):
        ended = subprocess.run(
            argv_of(*arguments, with_report=with_report),
            env=os.environ | env,
            capture_output=True,
            text=True,
            timeout=patience_s,
            check=False,
        )
        starved = _STARVED.search(ended.stderr)
        if starved is None:
            break
        arguments = ("resume", starved["experiment"])
    return Done(ended.returncode, ended.stdout, ended.stderr)


_running: list["Running"] = []


def end_all() -> None:
    """Kill and wait for the commands that still run, and close their pipes."""
    while _running:
        _running.pop().abandon()


class Running:
    """The command while it runs, with a line for each trial; `end` waits for it, the end of a test kills it."""

    def __init__(self, *arguments: str) -> None:
        verbose = ["--verbose"] if arguments[0] in ("run", "try", "resume") else []
        self._process = subprocess.Popen(
            argv_of(*arguments, *verbose),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.pid = self._process.pid
        _running.append(self)

    def wait_for(self, *starts: str) -> str:
        """Read what it tells of its progress, up to a line that starts with one of these; that line."""
        assert self._process.stderr is not None
        heard = []
        for line in self._process.stderr:
            heard.append(line)
            if line.startswith(starts):
                return line
        raise AssertionError(f"none of {starts} was said, but {heard}")

    def signal(self, number: int) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    def goes_on(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def abandon(self) -> None:
        """Kill it where it still runs."""
        self._process.kill()
        with self._process:  # closes its pipes and waits for it
            pass

    def end(self, timeout_s: float = 60.0) -> Done:
        """Wait for its end; of its progress only what was not read yet is left."""
        try:
            out, err = self._process.communicate(timeout=timeout_s)
        finally:
            self._process.kill()
        return Done(self._process.returncode, out, err)


def queue_of(device: str) -> Path:
    return Path("/sys/block") / Path(device).name / "queue"


def settings_of(device: str) -> dict[str, str]:
    """Every setting of the device's queue as it is now; those of a scheduler come and go with it."""
    queue = queue_of(device)
    found = {}
    for folder, _, names in os.walk(queue):  # which passes over a folder that is gone
        for path in (Path(folder, name) for name in names):
            try:
                found[str(path.relative_to(queue))] = path.read_text().strip()
            except OSError:
                found[str(path)] = "unreadable"
    return found


def moved(plan: str, point: Path) -> str:
    """The plan with its data on another file system."""
    path = Path(plan)
    path.write_text(path.read_text().replace(f'path = "{path.parent}"', f'path = "{point}"'))
    return plan
