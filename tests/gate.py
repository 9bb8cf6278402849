"""Runs the phases of `make check` and `make test`: all of them, also after one has failed.

    .venv-dev/bin/python tests/gate.py              every phase
    .venv-dev/bin/python tests/gate.py --check      those that need no root and no server
    .venv-dev/bin/python tests/gate.py PHASE ...    those named

Prints a line for each phase and the whole output of a phase that failed. The last lines name each failed test and count
what passed and failed. The output of every phase is kept in artefacts/gate/.
"""

import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent  # not resolved: the environment's, whatever it links to
LOGS = ROOT / "artefacts" / "gate"
# Examples that are drawn are the same each time: a landing does not depend on luck.
ENVIRONMENT = {"PROPTEST_RNG_SEED": "20261127", "RUST_BACKTRACE": "0", "RUST_TEST_THREADS": "3"}
SPELLED = "src engine/src tests bench proof release examples docs Makefile README.md ARCHITECTURE.md CONTRIBUTING.md"
CARGO = ("--profile", "gate", "--locked", "--manifest-path", "engine/Cargo.toml")
PYTEST = (str(BIN / "python"), "-m", "pytest", "-q", "-n", "2")

PHASES: dict[str, list[str]] = {
    "format": [str(BIN / "ruff"), "format", "--check", "."],
    "lint": [str(BIN / "ruff"), "check", "."],
    "spelling": [str(BIN / "codespell"), *SPELLED.split(), "CHANGELOG.md"],
    "types": [str(BIN / "mypy")],
    "engine format": ["cargo", "fmt", "--check", "--manifest-path", "engine/Cargo.toml"],
    "engine lint": ["cargo", "clippy", "--quiet", *CARGO, "--all-targets", "--", "-D", "warnings"],
    "unit": [*PYTEST, "tests/unit"],
    "engine": ["cargo", "test", *CARGO, "--no-fail-fast", "--lib"]
    + [part for name in ("files", "machine", "databases") for part in ("--test", name)],
    "system": [*PYTEST, "-n", "3", "-m", "gate", "tests/system"],  # half of their time is spent waiting
}
CHECKS = ("format", "lint", "spelling", "types", "engine format", "engine lint", "unit")


@dataclass
class Outcome:
    """Numbers and names of what a phase has tried."""

    passed: int = 0
    failed: list[str] = field(default_factory=list)


def outcome(phase: str, code: int, output: str) -> Outcome:
    """Results in the output of pytest or cargo test; a phase without tests is one check."""
    counted = re.findall(r"(\d+) passed", output)
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", output, re.MULTILINE)
    failed += re.findall(r"^test (\S+) \.\.\. FAILED", output, re.MULTILINE)
    if code != 0 and not failed:
        failed = [phase]
    if code == 0 and not counted:
        counted = ["1"]
    return Outcome(sum(map(int, counted)), failed)


def run(phase: str) -> Outcome:
    """Run a phase and print one line about it, and its output where it failed."""
    log = LOGS / f"{phase.replace(' ', '-')}.log"
    print(f"{phase} … ", end="", flush=True)
    began = time.monotonic()
    with log.open("wb") as file:
        done = subprocess.run(
            PHASES[phase], cwd=ROOT, env=os.environ | ENVIRONMENT, stdout=file, stderr=subprocess.STDOUT, check=False
        )
    output = log.read_text(errors="replace")
    found = outcome(phase, done.returncode, output)
    took = f"{time.monotonic() - began:.0f} s"
    print(f"{found.passed} passed, {len(found.failed)} failed, {took}", flush=True)
    if found.failed:
        print(output, flush=True)
    return found


def main(names: list[str]) -> int:
    """Run the named phases, all where there are none; 1 where anything failed."""
    names = list(CHECKS) if names == ["--check"] else names or list(PHASES)
    unknown = [name for name in names if name not in PHASES]
    if unknown:
        print(f"unknown phase {unknown[0]!r}; there are: {', '.join(PHASES)}", file=sys.stderr)
        return 2
    LOGS.mkdir(parents=True, exist_ok=True)
    outcomes = {name: run(name) for name in names}
    for name, found in outcomes.items():
        for test in found.failed:
            print(f"FAILED {test}" if test != name else f"FAILED {name}, see {LOGS / name.replace(' ', '-')}.log")
    failed = sum(len(found.failed) for found in outcomes.values())
    print(f"{sum(found.passed for found in outcomes.values())} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
