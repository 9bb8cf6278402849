"""A target over SSH: a real sshd, a link that is cut, connections that are killed."""

import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command import RUN_ENDED, Running, settings_of
from results import counting_arms
from ssh_target import SshTarget
from waiting import wait_for

from paribus.engine.find import binary
from paribus.errors import Unreachable
from paribus.hosts.ssh import SshHost

pytestmark = [pytest.mark.root, pytest.mark.usefixtures("as_root")]

COMBINATION = """
[[combination]]
name = "deadline"
settings = { "block.scheduler" = "mq-deadline", "vm.compaction_proactiveness" = 33 }
"""


@pytest.fixture
def over_ssh(plan: Callable[..., str], loop: str) -> Callable[..., str]:
    """A plan whose target is reached over SSH."""

    def write(trial: str = "50ms") -> str:
        path = Path(plan(target=f'host = "ssh://target"\ndevice = "{loop}"', trial=trial))
        path.write_text(re.sub(r"\[factors\]\n.*\n", COMBINATION, path.read_text()))
        return str(path)

    return write


def _arms_count_once(planned: int) -> None:
    counting = counting_arms()
    assert set(counting.values()) == {1}
    assert len(counting) == planned


@pytest.mark.gate
def test_an_experiment_over_ssh_ends_like_one_here(paribus, over_ssh, target: SshTarget, loop: str) -> None:
    before = settings_of(loop)
    checked = paribus("check", over_ssh())
    assert checked.code == 0, checked.err
    done = paribus("run", over_ssh())
    assert done.code in RUN_ENDED, done.err
    assert "deadline" in done.out
    conditions = paribus("report", "last", "--json").json["conditions"]
    assert len(conditions["trials"]) > 1 and {"kernel", "vm.swappiness"} <= set(conditions["same"])
    assert settings_of(loop) == before
    assert not list((target.state / "journal").glob("*.jsonl"))
    assert list((target.state / "journal" / "closed").glob("*.jsonl"))
    assert not target.engines()
    assert len(list((target.folder / "cache" / "paribus").iterdir())) == 1
    assert paribus("undo", "--target", target.address).out.startswith("no setting is changed")
    _arms_count_once(32)


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder for temporary ones, with a path that leaves room for a socket's."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        monkeypatch.setenv("TMPDIR", folder)
        yield Path(folder)


@pytest.mark.gate
def test_the_target_puts_itself_back_when_the_controller_is_killed(over_ssh, target: SshTarget, loop: str) -> None:
    before = settings_of(loop)
    running = Running("run", over_ssh(trial="500ms"))
    wait_for(lambda: settings_of(loop) != before, "no setting was changed")
    running.signal(signal.SIGKILL)
    running.end()
    wait_for(lambda: settings_of(loop) == before, "the settings are not as before")
    wait_for(lambda: not target.engines(), "an engine was left behind")


def test_clean_removes_leftovers_of_a_killed_controller(
    paribus, over_ssh, target: SshTarget, loop: str, tmp_path: Path, temporary: Path
) -> None:
    before = settings_of(loop)
    running = Running("run", over_ssh(trial="500ms"))
    wait_for(lambda: settings_of(loop) != before, "no setting was changed")
    (folder,) = temporary.iterdir()
    assert str(folder) not in paribus("clean", str(tmp_path)).out, "it is in use"
    running.signal(signal.SIGKILL)
    running.end()
    assert f"left by a killed program: {folder}" in paribus("clean", str(tmp_path)).out
    assert f"removed {folder}" in paribus("clean", str(tmp_path), "--all").out
    assert not list(temporary.iterdir())
    assert not subprocess.run(["pgrep", "--full", str(folder)], capture_output=True, check=False).stdout
    wait_for(lambda: settings_of(loop) == before, "the settings are not as before")


def test_a_cut_link_is_mended_and_the_experiment_goes_on(over_ssh, target: SshTarget, loop: str) -> None:
    before = settings_of(loop)
    running = Running("run", over_ssh(trial="500ms"))
    wait_for(lambda: settings_of(loop) != before, "no setting was changed")
    target.cut_link()
    wait_for(lambda: settings_of(loop) == before, "the target did not put itself back while it was alone")
    target.mend_link()
    done = running.end(300)
    assert done.code in RUN_ENDED, done.err
    assert settings_of(loop) == before
    _arms_count_once(32)
    assert not target.engines()


def test_killed_connections_are_made_again(over_ssh, target: SshTarget, loop: str) -> None:
    before = settings_of(loop)
    running = Running("run", over_ssh(trial="1s"))
    for _ in range(3):
        wait_for(lambda: settings_of(loop) != before or not running.goes_on(), "no setting was changed")
        target.kill_connections()
        time.sleep(1.3)
    done = running.end(300)
    assert done.code in RUN_ENDED, done.err
    assert settings_of(loop) == before
    _arms_count_once(32)


@pytest.mark.gate
def test_without_the_master_connection_nothing_connects(target: SshTarget, tmp_path: Path) -> None:
    """ssh would open a connection of its own, on which the engine was never checked, perhaps to another machine."""
    host = SshHost(target.address, binary())
    try:
        target.kill_all()
        wait_for(lambda: not host.is_connected(), "the master connection stands")
        with pytest.raises(Unreachable, match="was lost"):
            host.run(["touch", str(tmp_path / "ran")])
        with pytest.raises(Unreachable, match="was lost"):
            host.read("/proc/sys/kernel/ostype")
        assert not (tmp_path / "ran").exists()
    finally:
        host.close()


def test_the_engine_is_checked_again_with_each_connection(target: SshTarget, tmp_path: Path) -> None:
    host = SshHost(target.address, binary())
    try:
        Path(host.engine).unlink()
        Path(host.engine).write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n")
        Path(host.engine).chmod(0o755)
        target.kill_all()
        host.reconnect(lambda: False)
        assert host.read("/proc/sys/kernel/ostype").strip() == "Linux"
        assert not (tmp_path / "ran").exists()
    finally:
        host.close()


def test_an_engine_that_a_power_cut_tore_is_pushed_again(paribus, target: SshTarget) -> None:
    assert paribus("undo", "--target", target.address).code == 0
    (pushed,) = (target.folder / "cache" / "paribus").iterdir()
    whole = pushed.read_bytes()
    for torn in (whole[: len(whole) // 3], b"", bytes(len(whole))):
        pushed.write_bytes(torn)
        done = paribus("undo", "--target", target.address)
        assert (done.code, done.out[:21]) == (0, "no setting is changed"), done.err
        assert pushed.read_bytes() == whole


def test_a_target_that_cannot_be_reached_is_named_with_what_to_do(paribus, over_ssh, target: SshTarget) -> None:
    wrong = paribus("run", over_ssh(), "--set", "target.host=ssh://root@127.0.0.1:9")
    assert wrong.code == 3
    assert "ssh://root@127.0.0.1:9" in wrong.err
    assert "Connection refused" in wrong.err
    assert "ssh -p 9 root@127.0.0.1 true" in wrong.err
    for nonsense in ("ssh://-oProxyCommand=id", "ssh://", "ftp://target", "ssh://target/path"):
        refused = paribus("undo", "--target", nonsense)
        assert refused.code == 2, nonsense
