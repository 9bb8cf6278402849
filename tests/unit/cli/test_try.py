"""`paribus try` on the command line, without a machine."""

import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from paribus.cli.main import app
from paribus.cli.options import knob_names, workload_names
from paribus.errors import UsageError
from paribus.plan.form.parse import parse


def test_the_plan_is_printed_and_nothing_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ["vm.swappiness=10,60", "vm.dirty_ratio=10,20", "--threads", "4,16", "--set", "protocol.rounds=2"]
    done = CliRunner().invoke(app, ["try", *arguments, "--print"])
    assert done.exit_code == 0
    document = tomllib.loads(done.output)
    assert document["factors"] == {"vm.swappiness": [10, 60], "vm.dirty_ratio": [10, 20]}
    assert document["workload"] == [{"kind": "fileio", "threads": [4, 16]}]
    assert not parse("plan.toml", done.output, {}).problems
    assert list(tmp_path.iterdir()) == []


def test_no_plan_with_mistakes_is_printed() -> None:
    done = CliRunner().invoke(app, ["try", "vm.dirty_ratio=20,5", "--margin", "wide", "--print"])
    assert isinstance(done.exception, UsageError)
    assert done.output == ""


def test_knobs_and_workloads_are_completed() -> None:
    assert "vm.swappiness" in knob_names("vm.sw")
    assert workload_names("oltp_read") == ["oltp_read_only", "oltp_read_write"]
