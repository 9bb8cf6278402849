"""`undo` and `status` where the machine cannot be looked at, or a journal is not what it was."""

import contextlib
import json
import os
import shutil
import signal
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import Running, run_paribus

from paribus.engine.find import binary
from paribus.hosts.local import LocalHost
from paribus.knobs.journal import Journal
from paribus.model import WriteFile

pytestmark = pytest.mark.gate
HOST = LocalHost()


@pytest.fixture
def setting(tmp_path: Path) -> Path:
    """A file as a setting, of value 1."""
    path = tmp_path / "knob"
    path.write_text("1")
    return path


@pytest.fixture
def journal(setting: Path) -> Iterator[Journal]:
    """An experiment's journal, in which the setting was changed to 2; its process still lives."""
    opened = Journal(HOST, binary(), "e1", [str(setting)], volatile=False)
    opened.intend("test.knob", str(setting), 1, 2, [WriteFile(str(setting), "1")])
    opened.make("test.knob", WriteFile(str(setting), "2"))
    yield opened
    with contextlib.suppress(ProcessLookupError):
        os.kill(_pid(opened), signal.SIGKILL)
    opened._keeper.close()


def _pid(journal: Journal) -> int:
    pid: int = journal._keeper.pid  # type: ignore[attr-defined]
    return pid


def _orphan(journal: Journal) -> Path:
    os.kill(_pid(journal), signal.SIGKILL)
    journal._keeper.close()
    return Path(journal.path)


def _copy_of(path: Path) -> Path:
    [copy] = Path(os.environ["PARIBUS_STATE_COPY"]).rglob(path.name)
    return copy


@pytest.mark.parametrize(
    ("arguments", "env"),
    [
        (["undo", "--target", "ssh://nobody@127.0.0.1:1"], {}),
        (["undo"], {"PARIBUS_ENGINE": "/no/engine"}),
        (["undo", "--dry-run"], {"PARIBUS_STATE": "/dev/null"}),
        (["status"], {"PARIBUS_STATE": "/dev/null"}),
    ],
)
def test_a_machine_that_cannot_be_looked_at_is_never_called_unchanged(
    arguments: list[str], env: dict[str, str]
) -> None:
    done = run_paribus(*arguments, **env)
    assert done.code == 4, done.err
    assert "could not look at" in done.err
    assert "settings may still be changed" in done.err
    assert "no setting is changed" not in done.out


def test_a_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    (state / "journal").write_text("")
    done = run_paribus("undo", PARIBUS_STATE=str(state))
    assert done.code == 4
    assert f"cannot read the journals in {state}/journal: it is a file, not a directory" in done.err


def test_empty_undo_names_the_journal_folder(tmp_path: Path) -> None:
    for verb in ("undo", "status"):
        done = run_paribus(verb, PARIBUS_STATE=str(tmp_path))
        assert done.code == 0
        assert f"no setting is changed (journals: {tmp_path}/journal)" in done.out


def test_a_stopped_journal_process_is_reported(journal: Journal, setting: Path) -> None:
    os.kill(_pid(journal), signal.SIGSTOP)
    stopped = f"its keeper, process {_pid(journal)}, is stopped"
    for verb in (("undo",), ("undo", "--dry-run"), ("status", "--json")):
        done = run_paribus(*verb)
        assert done.code == 4, done.out
        assert stopped in done.err
    assert stopped in json.loads(done.out)["problems"][0]
    os.kill(_pid(journal), signal.SIGCONT)
    journal.restore()
    assert setting.read_text() == "1"


def test_settings_whose_journal_was_deleted_are_named(journal: Journal, setting: Path) -> None:
    path = _orphan(journal)
    _copy_of(path).unlink()
    shutil.rmtree(path.parent)
    for verb in (("status",), ("undo", "--dry-run"), ("undo",)):
        done = run_paribus(*verb)
        assert done.code == 4, done.out
        assert f"experiment e1 may have left changed: {setting}" in done.err
        assert "no setting is changed" not in done.out
    entry = done.err.rpartition("then remove ")[2].splitlines()[0]
    Path(entry).unlink()
    assert "no setting is changed" in run_paribus("undo").out


def test_without_the_folder_of_journals_the_copy_restores(journal: Journal, setting: Path) -> None:
    shutil.rmtree(_orphan(journal).parent)
    assert "test.knob, before 1" in run_paribus("status").out
    assert run_paribus("undo").code == 0
    assert setting.read_text() == "1"
    assert "no setting is changed" in run_paribus("status").out


def test_a_stopped_experiment_is_reported(plan) -> None:
    run = Running("run", plan('"process.nofile" = ["default", 512]'))
    run.wait_for("trial")
    run.signal(signal.SIGSTOP)
    done = run_paribus("undo")
    assert (done.code, f"its controller, process {run.pid}, is stopped" in done.err) == (4, True), done.err
    run.signal(signal.SIGCONT)
    run.signal(signal.SIGTERM)
    assert run.end().code == 130
    assert run_paribus("undo").code == 0


def test_a_damaged_journal_is_reported_until_somebody_has_looked(journal: Journal, setting: Path) -> None:
    path = _orphan(journal)
    _copy_of(path).unlink()
    path.write_text("")
    for verb in ("status", "undo", "undo"):
        done = run_paribus(verb)
        assert done.code == 4, done.err
        assert f"the journal {path} is damaged, so a setting may still be changed" in done.err
    assert setting.read_text() == "2"


def test_a_journal_of_somebody_else_cannot_be_looked_at(journal: Journal, setting: Path) -> None:
    path = _orphan(journal)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    path.parent.chmod(0o777)
    done = run_paribus("undo")
    assert done.code == 4
    assert "is not trusted: other users may write to it" in done.err
    assert setting.read_text() == "2"
    path.parent.chmod(0o700)
    assert run_paribus("undo").code == 0
    assert setting.read_text() == "1"


@pytest.mark.root
@pytest.mark.usefixtures("as_root")
def test_nobody_can_hold_up_what_is_private(journal: Journal, setting: Path) -> None:
    path = _orphan(journal)
    as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    for target in (path, path.parent):
        held = subprocess.run(
            [*as_nobody, "flock", "--nonblock", str(target), "true"], check=False, capture_output=True
        )
        assert held.returncode != 0
    assert run_paribus("undo").code == 0
    assert setting.read_text() == "1"
