"""Audits and verifications of a machine over SSH: it is the target that is read, and that the test line names."""

import tomllib
from collections.abc import Callable
from pathlib import Path

from command import Done
from ssh_target import SshTarget

Paribus = Callable[..., Done]


def test_a_machine_over_ssh_is_audited_and_named_in_its_plan(
    paribus: Paribus, target: SshTarget, tmp_path: Path
) -> None:
    address = "ssh://target"
    audited = paribus("audit", address, "--path", str(tmp_path), "--json")
    assert audited.code == 0, audited.err
    document = audited.json
    assert document["target"] == address
    tests = [setting["test"] for setting in document["settings"] if setting["test"]]
    assert tests and all(f"target.host={address}" in line for line in tests)
    plan = paribus("audit", address, "--path", str(tmp_path), "--plan")
    assert tomllib.loads(plan.out)["target"]["host"] == address
