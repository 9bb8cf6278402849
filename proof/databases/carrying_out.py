"""A plan carried out in a folder of its own, with a store and journals that belong to no other experiment."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

OLTP = """
[[workload]]
kind = "oltp_read_write"
table_size = 5000
threads = [2]
[protocol]
trial = "300ms"
settle = "100ms"
"""
"""A short load and the lengths of its trials, for the end of a plan."""

_ATTEMPTS = 3  # other work on this machine may make too many trials invalid


def report_of(folder: Path, plan: str, **values: object) -> dict[str, Any]:
    """Run the plan, in which `{path}` is the folder of the data, to its end; its report. Nothing may be left there."""
    data, file = folder / "data", folder / "plan.toml"
    data.mkdir(mode=0o755, parents=True)
    file.write_text(plan.format(path=data, **values))
    own = {"PARIBUS_STATE": "state", "PARIBUS_REGISTER": "register", "PARIBUS_STORE": "paribus.db"}
    environment = os.environ | {name: str(folder / place) for name, place in own.items()}
    command = [sys.executable, "-m", "paribus.cli.main", "run", str(file), "--json"]
    for _ in range(_ATTEMPTS):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 3:
            break
    if done.returncode != 0:
        raise AssertionError(f"paribus run ended with {done.returncode}: {done.stderr[-2000:]}")
    if left := list(data.iterdir()):
        raise AssertionError(f"left behind: {left}")
    report: dict[str, Any] = json.loads(done.stdout)
    return report
