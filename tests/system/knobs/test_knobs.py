"""Real knobs of a real block device, and the sysctls: every row of the catalogue, and what each moves."""

import itertools
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from command import RUN_ENDED, Filesystem, Running, argv_of, moved, queue_of, run_paribus, settings_of

from paribus.hosts.local import LocalHost
from paribus.model import ChangeState, WriteFile
from paribus.store import read as stored
from paribus.store.open import open_engine, store_url

ROOT = Path(__file__).parents[3]
pytestmark = [pytest.mark.root, pytest.mark.usefixtures("as_root")]
HOST = LocalHost()


def test_a_value_that_the_kernel_takes_and_does_not_keep_is_told(paribus, plan, loop: str) -> None:
    said = {'"block.read_ahead_kb" = [128, 66]': "block.read_ahead_kb was rounded: wanted 66, found 64"}
    if (queue_of(loop) / "io_poll_delay").exists():
        said['"block.io_poll_delay" = [-1, 100]'] = "block.io_poll_delay was ignored: wanted 100, found -1"
    for factor, words in said.items():
        done = paribus("run", plan(factor, f'device = "{loop}"'))
        assert done.code == 0, done.err
        assert words in " ".join(done.out.split())


def test_a_kernel_file_system_that_is_read_only_is_told(plan, loop: str) -> None:
    """As in many containers."""
    path = plan('"block.rq_affinity" = [1, 2]', f'device = "{loop}"')
    inside = ["unshare", "--mount", "sh", "-c", 'mount -o remount,bind,ro /sys && exec "$@"', "sh"]
    done = subprocess.run([*inside, *argv_of("run", path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "rq_affinity: Read-only file system" in done.stdout + done.stderr


def test_a_tuned_device_survives_a_scheduler_experiment(paribus, plan, loop: str) -> None:
    queue = queue_of(loop)
    (queue / "scheduler").write_text("mq-deadline")
    (queue / "nr_requests").write_text("100")
    (queue / "iosched/read_expire").write_text("770")
    before = settings_of(loop)
    done = paribus("run", plan('"block.scheduler" = ["mq-deadline", "none", "bfq"]', f'device = "{loop}"'), "--json")
    assert done.code in RUN_ENDED, done.err
    assert settings_of(loop) == before
    assert before["nr_requests"] == "100"
    assert before["iosched/read_expire"] != "500"
    store = open_engine(store_url(None), create=False)
    made = {c.wanted for _, c in stored.changes(store, done.json["experiment"]) if c.state is ChangeState.VERIFIED}
    store.dispose()
    assert {"mq-deadline", "none", "bfq"} <= made


def test_every_kernel_knob_of_the_example_comes_back(paribus, loop: str, tmp_path: Path) -> None:
    example = Path(__file__).parents[3] / "examples" / "scheduler.toml"
    before = settings_of(loop)
    memory = [Path(f"/proc/sys/vm/{name}").read_text() for name in ("swappiness", "dirty_ratio", "dirty_bytes")]
    sets = {
        "target.device": loop,
        "target.path": str(tmp_path),
        "protocol.trial": "20ms",
        "protocol.settle": "5ms",
        "protocol.rounds": "2",
        "protocol.margin": "50%",
        "workload.0.total_size": "8MiB",
        "workload.0.threads": "[8]",
        "workload.0.data": "keep",
    }
    arguments = [part for key, value in sets.items() for part in ("--set", f"{key}={value}")]
    done = paribus("run", str(example), *arguments)
    assert done.code in RUN_ENDED, done.err
    assert settings_of(loop) == before
    assert [Path(f"/proc/sys/vm/{name}").read_text() for name in ("swappiness", "dirty_ratio", "dirty_bytes")] == memory
    for name in ("scheduler", "read_ahead_kb", "nr_requests", "rq_affinity", "rotational"):
        assert f"block.{name}" in done.out


def test_any_kernel_file_is_varied_and_comes_back(paribus, plan, loop: str) -> None:
    knobs = {"sysctl.net.core.somaxconn": "[511, 1023]", "sysfs./sys/kernel/mm/ksm/pages_to_scan": "[50, 200]"}
    files = [Path("/proc/sys/net/core/somaxconn"), Path("/sys/kernel/mm/ksm/pages_to_scan")]
    before = [file.read_text() for file in files]
    done = paribus(
        "run", plan("\n".join(f'"{name}" = {levels}' for name, levels in knobs.items()), f'device = "{loop}"')
    )
    assert done.code in RUN_ENDED, done.err
    assert [file.read_text() for file in files] == before
    store = open_engine(store_url(None), create=False)
    made = {(c.knob, c.observed) for _, c in stored.changes(store, stored.find(store, "last").id)}
    store.dispose()
    for name, value in zip(knobs, (1023, 200), strict=True):
        assert (name, value) in made


def test_combinations_do_not_leak_into_each_other(paribus, plan, loop: str) -> None:
    (queue_of(loop) / "rq_affinity").write_text("1")
    (queue_of(loop) / "scheduler").write_text("mq-deadline")
    before = settings_of(loop)
    path = Path(plan("", f'device = "{loop}"'))
    combinations = """
[[combination]]
name = "affinity"
settings = { "block.rq_affinity" = 2 }
[[combination]]
name = "scheduler [/x]"
settings = { "block.scheduler" = "none", "fileio.direct" = true }
"""
    path.write_text(path.read_text() + combinations)
    done = paribus("run", str(path))
    assert done.code in RUN_ENDED, done.err
    assert "[/x]" in done.out
    assert settings_of(loop) == before
    store = open_engine(store_url(None), create=False)
    arms = {t.order: t.arm for t in stored.trials(store, stored.find(store, "last").id)}
    taken: dict[tuple[str, str], set[object]] = {}
    for order, change in stored.changes(store, stored.find(store, "last").id):
        taken.setdefault((arms[order], change.knob), set()).add(change.observed)
    store.dispose()
    assert taken["baseline", "block.rq_affinity"] == taken["scheduler [/x]", "block.rq_affinity"] == {1}
    assert taken["affinity", "block.rq_affinity"] == {2}
    assert taken["affinity", "block.scheduler"] == {"mq-deadline"}


def test_a_setting_that_the_kernel_refuses_is_a_finding_and_not_tried_for_ever(paribus, plan, loop: str) -> None:
    done = paribus("run", plan('"block.nr_requests" = ["current", 100000]', f'device = "{loop}"'), "--json")
    assert done.code == 0
    assert any("the machine refuses block.nr_requests = 100000" in note for note in done.json["notes"])
    assert sum(done.json["trials"].values()) == 32
    assert done.json["trials"]["failed"] == 2


@pytest.mark.gate
def test_a_killed_keeper_stops_the_experiment_and_the_machine_comes_back(plan, loop: str) -> None:
    before = settings_of(loop)
    path = plan('"block.rq_affinity" = [1, 2]', f'device = "{loop}"', trial="200ms")
    running = Running("run", path)
    running.wait_for("trial 3")
    subprocess.run(["pkill", "-9", "--parent", str(running.pid), "--full", "paribus-engine journal"], check=True)
    ended = running.end()
    assert ended.code == 3
    assert "the journal process ended" in ended.err
    assert "all settings are restored, which was checked" in ended.err
    assert "continue with: paribus resume" in ended.err
    assert settings_of(loop) == before


def test_a_level_that_the_machine_forbids_is_told_in_the_report(paribus, plan, loop: str) -> None:
    (queue_of(loop) / "scheduler").write_text("mq-deadline")
    (queue_of(loop) / "nr_requests").write_text("200")
    done = paribus("run", plan('"block.scheduler" = ["mq-deadline", "none"]', f'device = "{loop}"'), "--json")
    assert "with block.scheduler = none, block.nr_requests is 128: 200 is not possible there" in done.json["notes"]


def test_change_by_another_program_makes_the_trial_invalid(plan, loop: str) -> None:
    path = plan('"block.rq_affinity" = [1, 2]', f'device = "{loop}"', trial="200ms")
    running = Running("run", path)
    told = running.wait_for("trial 2")
    for number in itertools.count():  # what is written just before a trial sets it is lost: at another moment each time
        if "was changed by another program" in told:
            break
        time.sleep(0.05 * (number % 7))
        (queue_of(loop) / "rq_affinity").write_text("0")
        told = running.wait_for("trial")
    assert running.end().code in RUN_ENDED
    assert "block.rq_affinity was changed by another program: wanted " in told
    assert ", found 0" in told


def test_two_experiments_cannot_change_one_thing(plan, loop: str) -> None:
    path = plan('"block.rq_affinity" = [1, 2]', f'device = "{loop}"', trial="1500ms")
    running = Running("run", path)
    running.wait_for("trial 1")
    second = run_paribus("run", path)
    assert second.code == 4
    assert "is running on this machine and uses" in second.err
    assert "left alone" in run_paribus("undo").out
    assert running.goes_on()
    assert running.end().code in RUN_ENDED


def test_two_experiments_on_two_devices_go_on_at_once(plan, loop: str, filesystem: Filesystem) -> None:
    """Each undone alone, the other untouched."""
    point = filesystem("ext4")
    asked = subprocess.run(["findmnt", "-no", "SOURCE", str(point)], capture_output=True, text=True, check=True)
    other = asked.stdout.strip()
    before = settings_of(loop), settings_of(other)
    first = Running("run", plan('"block.rq_affinity" = [1, 2]', f'device = "{loop}"', trial="2s"))  # until it is ended
    first.wait_for("trial 1")
    second = Running("run", moved(plan('"block.nomerges" = [0, 2]', f'device = "{other}"', trial="500ms"), point))
    second.wait_for("trial 1")
    assert first.goes_on()
    first.signal(signal.SIGTERM)
    first.end()
    assert settings_of(loop) == before[0]
    assert second.goes_on()
    assert second.end().code in RUN_ENDED
    assert settings_of(other) == before[1]


@pytest.mark.gate
def test_a_setting_that_cannot_come_back_ends_with_four_and_its_name(plan, loop: str, tmp_path: Path) -> None:
    """The journal names a file that is gone."""
    from paribus.engine.find import binary
    from paribus.knobs.journal import Journal

    gone = tmp_path / "knob"
    gone.write_text("1")
    journal = Journal(HOST, binary(), "e1", [str(gone)], volatile=False)
    journal.intend("test.knob", str(gone), 1, 2, [WriteFile(str(gone), "1")])
    gone.unlink()
    os.kill(journal._keeper.pid, 9)  # type: ignore[attr-defined]
    journal._keeper.close()
    refused = run_paribus("run", plan())
    assert refused.code == 4
    assert "paribus undo" in refused.err
    assert "test.knob" in run_paribus("status").out
    done = run_paribus("undo")
    assert done.code == 4
    assert "test.knob" in done.err
    gone.write_text("2")
    assert run_paribus("undo", "--dry-run").out.startswith("test.knob: back to 1")
    assert gone.read_text() == "2"
    assert run_paribus("undo").code == 0
    assert gone.read_text() == "1"
    assert run_paribus("undo").out.startswith("no setting is changed")
