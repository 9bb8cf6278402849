"""Undoing journals at boot, on the tree of a machine that is not running."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from paribus.engine.find import binary
from paribus.hosts.local import LocalHost
from paribus.knobs.journal import Journal
from paribus.model import WriteFile

pytestmark = pytest.mark.gate


@pytest.mark.parametrize("folder", ["etc/systemd/system", "etc/cron.d"])
def test_boot_restores_settings_of_open_journals(folder: str, tmp_path: Path) -> None:
    root, knob = tmp_path / "root", tmp_path / "knob"
    (root / folder).mkdir(parents=True)
    knob.write_text("before")
    journal = Journal(LocalHost(), binary(), "e1", [str(knob)], volatile=False)
    journal.intend("test.knob", str(knob), "before", "after", [WriteFile(str(knob), "before")])
    journal.make("test.knob", WriteFile(str(knob), "after"))
    os.kill(journal._keeper.pid, 9)  # type: ignore[attr-defined]
    journal._keeper.close()
    assert knob.read_text() == "after"
    subprocess.run([binary(), "at-boot", "install", "--root", str(root)], check=True, capture_output=True)
    (started,) = [path for path in (root / folder).iterdir() if path.is_file()]
    if folder.endswith("system"):
        (line,) = [line for line in started.read_text().splitlines() if line.startswith("ExecStart=")]
        command = line.partition("=")[2].split()
        if analyze := shutil.which("systemd-analyze"):
            subprocess.run([analyze, "verify", str(started)], check=True)
    else:
        schedule, user, *command = started.read_text().split()
        assert (schedule, user) == ("@reboot", "root")
    subprocess.run(command, check=True, capture_output=True, env={})
    assert knob.read_text() == "before"
    subprocess.run([binary(), "at-boot", "remove", "--root", str(root)], check=True, capture_output=True)
    assert not [path for path in root.rglob("*") if not path.is_dir()]
