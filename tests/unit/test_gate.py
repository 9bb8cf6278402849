"""The summary of the gate: counts and names from the output of its phases."""

import subprocess
import sys
from pathlib import Path

import pytest

import gate
from gate import outcome

PYTEST = """
=========================== short test summary info ============================
FAILED tests/unit/a.py::test_one[x] - assert 1 == 2
ERROR tests/unit/b.py::test_two - OSError: full
1 failed, 7 passed, 1 error in 2.00s
"""
CARGO = """
running 3 tests
test files::reads ... ok
test files::writes ... FAILED
test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.62s
test result: ok. 10 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 5.56s
"""


@pytest.mark.parametrize(
    ("code", "output", "passed", "failed"),
    [
        (0, "", 1, []),
        (1, "Would reformat: a.py", 0, ["phase"]),
        (1, PYTEST, 7, ["tests/unit/a.py::test_one[x]", "tests/unit/b.py::test_two"]),
        (101, CARGO, 12, ["files::writes"]),
        (101, "error[E0425]: cannot find value", 0, ["phase"]),
        (0, "12 passed in 1.00s", 12, []),
        (5, "no tests ran in 0.01s", 0, ["phase"]),
    ],
)
def test_counts_and_names(code: int, output: str, passed: int, failed: list[str]) -> None:
    found = outcome("phase", code, output)
    assert (found.passed, found.failed) == (passed, failed)


def test_all_phases_run_after_a_failure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gate, "LOGS", tmp_path)
    phases = {"first": ["sh", "-c", "echo broken; exit 3"], "second": ["true"]}
    monkeypatch.setattr(gate, "PHASES", phases)
    assert gate.main([]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "broken" in lines
    assert lines[-2:] == [f"FAILED first, see {tmp_path / 'first'}.log", "1 passed, 1 failed"]


def test_an_unknown_phase_is_refused() -> None:
    done = subprocess.run([sys.executable, gate.__file__, "lnt"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "unknown phase 'lnt'; there are: format, lint" in done.stderr


def test_modules_of_real_tests_have_names_of_their_own() -> None:
    """Modules of the same name in two areas cannot be collected together, as the gate does."""
    paths = [path for path in (Path(gate.__file__).parent / "system").rglob("*.py") if path.name != "conftest.py"]
    assert len({path.name for path in paths}) == len(paths) > 50
