"""The command as a person types it, and what a device is set to."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RUN_ENDED = (0, 3)  # 3: another load on this machine made so many trials invalid that nothing was judged


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def run_ceteris(*arguments: str, **env: str) -> Done:
    """Run the command to its end."""
    done = subprocess.run(
        [sys.executable, "-m", "ceteris.cli.main", *arguments],
        env=os.environ | env,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def queue_of(device: str) -> Path:
    return Path("/sys/block") / Path(device).name / "queue"


def settings_of(device: str) -> dict[str, str]:
    """Every setting of the device's queue as it is now."""
    found = {}
    for path in sorted(queue_of(device).rglob("*")):
        if path.is_file():
            try:
                found[str(path.relative_to(queue_of(device)))] = path.read_text().strip()
            except OSError:
                found[str(path)] = "unreadable"
    return found
