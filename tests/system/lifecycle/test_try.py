"""Settings compared from the command line, without a plan file."""

import signal
from pathlib import Path

import pytest
from command import RUN_ENDED, Running

TINY = [
    *("--trial", "50ms", "--margin", "50%", "--set", "workload.0.total_size=1MiB", "--set", "workload.0.files=1"),
    *("--set", "protocol.settle=10ms", "--set", "protocol.rounds=2", "--set", "protocol.method=fixed"),
]


@pytest.mark.gate
def test_a_command_line_ends_with_verdicts_and_no_data_left(paribus, tmp_path: Path) -> None:
    arguments = ["fileio.direct=false,true", "--path", str(tmp_path), *TINY]
    done = paribus("try", *arguments)
    assert done.code in RUN_ENDED, done.err
    assert "fileio.direct" in done.out
    assert not (tmp_path / "paribus-data").exists()
    (listed,) = paribus("status", "--json").json["experiments"]
    assert (listed["name"], listed["state"], listed["planned"]) == ("fileio.direct", "done", 32)
    assert "Which fileio.direct is best?" in paribus("report", "--format", "markdown").out


def test_an_interrupted_one_is_resumed_without_a_file(paribus, tmp_path: Path) -> None:
    arguments = ["fileio.direct=false,true", "--path", str(tmp_path), *TINY]
    running = Running("try", *arguments)
    running.wait_for("trial")
    running.signal(signal.SIGINT)
    assert running.end().code == 130
    printed = tmp_path / "printed.toml"
    printed.write_text(paribus("try", *arguments, "--print").out)
    done = paribus("resume", "--plan", str(printed))
    assert done.code in RUN_ENDED, done.err
    (listed,) = paribus("status", "--json").json["experiments"]
    assert (listed["state"], listed["planned"]) == ("done", 32)


def test_refusals_name_the_arguments_of_the_command_line(paribus, tmp_path: Path) -> None:
    refused = paribus("try", "vm.swappines=10,60", "fileio.direct=false,maybe", "--path", str(tmp_path / "none"))
    assert refused.code == 2
    assert refused.err.startswith("paribus: try: 3 problems; nothing was touched\n")
    for words in ("vm.swappines: is neither", "fileio.direct: 'maybe'", f"--path: {tmp_path}/none does not exist"):
        assert f"  {words}" in refused.err
    assert "line" not in refused.err
