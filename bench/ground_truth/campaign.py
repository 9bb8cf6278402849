"""A campaign of experiments whose answer is known: each result is kept as soon as it is there.

In: numbered cases and a file of JSON lines. Out: the file with the results of all cases. Called by `run.py` and
`busy_machine.py`.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

Row = dict[str, Any]


class NumberedCase(Protocol):
    """A dataclass of one experiment: its number, and its true effect as a ratio."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def number(self) -> int:
        """The number in the campaign."""
        ...

    @property
    def ratio(self) -> float:
        """The true effect: 0.1 for 10 % more."""
        ...


Case = TypeVar("Case", bound=NumberedCase)


def read(results: Path) -> list[Row]:
    """The results that are there."""
    return [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []


def complete(results: Path, cases: Sequence[Case], experiment: Callable[[Case, Path], Row]) -> None:
    """Run each case that has no result yet, in a folder of its own."""
    numbers = {row["number"] for row in read(results)}
    results.parent.mkdir(parents=True, exist_ok=True)
    for case in cases:
        if case.number in numbers:
            continue
        with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
            row = asdict(case) | experiment(case, Path(name))
        with results.open("a") as file:
            file.write(json.dumps(row) + "\n")
        percent = row["effect"]["percent"] if row["effect"] else ""
        text = f"{case.number} of {len(cases)}: true {case.ratio:+.0%}: {verdict(row)} {percent}"
        print(text, file=sys.stderr, flush=True)


def run(plan_text: str, folder: Path, *, whole_report: bool = False) -> Row:
    """Run a plan as a user would; its report, its time, and the effect over all load levels if it was judged.

    `whole_report`: also keep the effects and selections of the report.
    """
    plan = folder / "plan.toml"
    plan.write_text(plan_text)
    command = [sys.executable, "-m", "paribus", "run", str(plan), "--json", "--report", str(folder / "report.html")]
    environment = os.environ | {"PARIBUS_STORE": str(folder / "store.db")}
    began = time.monotonic()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - began
    if done.returncode not in (0, 3):
        raise RuntimeError(done.stderr)
    report = json.loads(done.stdout)
    whole = [effect for effect in report["effects"] if effect["load"] is None]
    return {
        "seconds": seconds,
        "trials": report["trials"],
        "effect": whole[0] if whole else None,
        "notes": report["notes"],
        **({"report": {key: report[key] for key in ("effects", "selections")}} if whole_report else {}),
    }


def verdict(row: Row) -> str:
    """The verdict of an experiment; "none" where it was not judged."""
    return str(row["effect"]["verdict"]) if row["effect"] else "none"
