"""Options of real file systems: every row of the catalogue, as the kernel shows them, in an experiment too."""

import os
import signal
import statistics
import subprocess
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command import RUN_ENDED, Filesystem, moved, run_paribus
from levels import LEVELS

from paribus.engine.find import binary
from paribus.errors import HostError
from paribus.hosts.local import LocalHost
from paribus.knobs.catalog import load
from paribus.knobs.discovery import place, read
from paribus.knobs.journal import Journal
from paribus.knobs.kinds import knob_kinds
from paribus.model import Knob, Location, TrialState, Value
from paribus.store import read as read_store
from paribus.store.open import open_engine, store_url

pytestmark = [pytest.mark.root, pytest.mark.usefixtures("as_root")]
HOST = LocalHost()

TUNED = {"ext4": "noatime,nosuid,nobarrier", "xfs": "noatime,nosuid", "btrfs": "nosuid,commit=20", "tmpfs": "nosuid"}


def _shown(point: Path) -> str:
    """Flags and options as the kernel shows them."""
    asked = ["findmnt", "--noheadings", "--output", "VFS-OPTIONS,FS-OPTIONS", str(point)]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout


def _intended(point: Path, *names: str) -> tuple[Journal, Knob]:
    """A journal that has these knobs, and the last of them."""
    journal = Journal(HOST, binary(), f"e-{names[-1]}", [str(point)], volatile=True)
    for name in names:
        knob = place(HOST, load().get(name), Location(mount=str(point)))
        reading = read(HOST, knob)
        journal.intend(name, str(point), reading.value, reading.value, reading.undo)
    return journal, knob


def _make(journal: Journal, knob: Knob, level: Value) -> None:
    for action in knob_kinds.get(knob.kind).writes(knob, level):
        journal.make(knob.name, action)


@pytest.mark.parametrize("kind", list(TUNED))
def test_every_option_is_taken_and_comes_back(kind: str, filesystem: Filesystem) -> None:
    point = filesystem(kind, TUNED[kind])
    before = _shown(point)
    tried = 0
    for row in load():
        if not row.filesystems.keys() & {kind, "*"}:
            continue
        journal, knob = _intended(point, *row.resets, row.name)
        for level in LEVELS.get(row.name) or knob.allowed:
            _make(journal, knob, level)
            assert read(HOST, knob).value == level, row.name
            tried += 1
        journal.restore()
        assert _shown(point) == before, row.name
    assert tried >= 3


def test_a_file_system_in_use_or_a_wrong_option_leaves_it_mounted_as_it_was(filesystem: Filesystem) -> None:
    point = filesystem("xfs", "noatime")
    before = _shown(point)
    journal, knob = _intended(point, "mount.logbsize")
    with (point / "open").open("w"), pytest.raises(HostError, match="target is busy"):
        _make(journal, knob, "256k")
    with pytest.raises(HostError, match="cannot set"):
        _make(journal, knob, "3k")
    assert _shown(point) == before
    journal.restore()


def test_a_file_system_in_use_for_a_moment_is_unmounted_after_it(filesystem: Filesystem) -> None:
    point = filesystem("xfs", "noatime")
    before = _shown(point)
    journal, knob = _intended(point, "mount.logbsize")
    with (point / "open").open("w") as file:
        timer = threading.Timer(0.5, file.close)
        timer.start()
        _make(journal, knob, "256k")
        timer.join()
    assert "logbsize=256k" in _shown(point)
    journal.restore()
    assert _shown(point) == before


def test_an_option_that_was_not_shown_is_hidden_again_though_the_file_system_was_in_use(filesystem: Filesystem) -> None:
    """The value is right before it is restored: `data=ordered` is the default, but the mount now shows it."""
    point = filesystem("ext4")
    before = _shown(point)
    journal, knob = _intended(point, "mount.data")
    _make(journal, knob, "ordered")
    assert _shown(point) != before
    with (point / "open").open("w") as file:
        timer = threading.Timer(3, file.close)
        timer.start()
        journal.restore()
        timer.join()
    assert _shown(point) == before


def test_a_copy_of_the_mount_in_another_namespace_is_waited_for(filesystem: Filesystem) -> None:
    """As long as it exists, the kernel keeps the options of the file system and reports no error."""
    point = filesystem("ext4")
    before = _shown(point)
    journal, knob = _intended(point, "mount.data")
    with _copied_mounts(3):
        _make(journal, knob, "writeback")
    assert read(HOST, knob).value == "writeback"
    with _copied_mounts(3):
        journal.restore()
    assert _shown(point) == before
    journal, knob = _intended(point, "mount.data")
    with _copied_mounts(60) as copy:
        with pytest.raises(HostError, match="still mounted"):
            _make(journal, knob, "writeback")
        copy.kill()
    journal.restore()
    assert _shown(point) == before


@contextmanager
def _copied_mounts(seconds: int) -> Iterator[subprocess.Popen[bytes]]:
    """A process with a copy of all mounts in a namespace of its own, which ends by itself."""
    command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", f"echo; exec sleep {seconds}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as copy:
        assert copy.stdout is not None
        copy.stdout.readline()
        yield copy
        copy.wait()


@pytest.mark.gate
def test_a_file_system_that_was_left_unmounted_is_mounted_again(filesystem: Filesystem) -> None:
    """As when everything is killed between the two."""
    point = filesystem("ext4", "noatime,commit=17")
    before = _shown(point)
    journal, _ = _intended(point, "mount.data")
    subprocess.run(["umount", str(point)], check=True)
    journal.restore()
    assert _shown(point) == before


@pytest.mark.parametrize("level", ["journal", pytest.param("ordered", marks=pytest.mark.gate)])
def test_a_file_system_that_is_mounted_in_another_namespace_is_restored_after_that_has_ended(
    filesystem: Filesystem, level: str
) -> None:
    """The new mount would share the file system and keep its options, also where they only repeat the default."""
    point = filesystem("ext4")
    before = _shown(point)
    journal, knob = _intended(point, "mount.data")
    _make(journal, knob, level)
    holder = subprocess.Popen(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", "echo up; exec sleep 600"],
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdout and holder.stdout.readline() == "up\n"
        with pytest.raises(HostError, match=f"still mounted at {point} by process {holder.pid}"):
            _make(journal, knob, "writeback")
        os.kill(journal._keeper.pid, signal.SIGKILL)  # type: ignore[attr-defined]
        journal._keeper.close()
        refused = run_paribus("undo")
        assert refused.code == 4
        assert f"by process {holder.pid}" in refused.err
        assert f"data={level}" in _shown(point)
        holder.kill()
    assert run_paribus("undo").code == 0
    assert _shown(point) == before


def test_a_loop_device_that_goes_with_its_mount_is_not_unmounted(tmp_path: Path) -> None:
    image, point = tmp_path / "disk.img", tmp_path / "point"
    point.mkdir()
    with image.open("wb") as file:
        file.truncate(64 * 2**20)
    subprocess.run(["mkfs.ext4", "-q", str(image)], check=True)
    subprocess.run(["mount", "-o", "loop", str(image), str(point)], check=True)
    try:
        journal, knob = _intended(point, "mount.data")
        with pytest.raises(HostError, match="would disappear when it is unmounted"):
            _make(journal, knob, "journal")
        assert point.is_mount()
        journal.restore()  # the way back is refused like the way there, and all is as it was
    finally:
        subprocess.run(["umount", str(point)], check=True)


def test_mount_options_in_an_experiment(paribus, plan, filesystem: Filesystem) -> None:
    """In place and by unmounting; what lies there stays."""
    point = filesystem("ext4")
    before = _shown(point)
    (point / "mine").write_text("stays")
    path = moved(plan('"mount.atime" = ["relatime", "noatime"]\n"mount.data" = ["ordered", "writeback"]'), point)
    checked = paribus("check", path)
    assert checked.code == 0, checked.err
    assert "mount -o remount,noatime" in checked.out
    done = paribus("run", path)
    assert done.code in RUN_ENDED, done.err
    assert "mount.data" in done.out
    assert _shown(point) == before
    assert (point / "mine").read_text() == "stays"


def test_options_that_need_unmounting_are_applied_once_for_several_trials(
    paribus, plan, filesystem: Filesystem
) -> None:
    """The unit is then the pair of applications, and the report says so."""
    point = filesystem("ext4")
    before = _shown(point)
    path = moved(plan('"mount.data" = ["ordered", "writeback"]', trial="50ms", threads="[4]"), point)
    done = paribus("run", path)
    assert done.code in RUN_ENDED, done.err
    assert _shown(point) == before
    store = open_engine(store_url(None), create=False)
    found = read_store.find(store, "last")
    trials = [t for t in read_store.trials(store, found.id) if t.state is TrialState.DONE]
    store.dispose()
    held = defaultdict(list)
    for trial in sorted(trials, key=lambda trial: trial.position):
        held[trial.block, trial.application].append((trial.applied or 0.0) - (trial.started or 0.0))
    assert {application for _, application in held} == {1, 2}
    whole = [took for took in held.values() if len(took) == 2]  # two passes over one load level
    first, later = zip(*whole, strict=True)
    assert statistics.median(first) > 3 * statistics.median(later)
    assert "pairs of applications of 2 trials each" in paribus("report").out


def test_an_option_of_another_file_system_is_told_before_anything_runs(paribus, plan, filesystem: Filesystem) -> None:
    done = paribus("check", moved(plan('"mount.barrier" = ["barrier", "nobarrier"]'), filesystem("xfs")))
    assert done.code == 2
    assert "is xfs, which does not have mount.barrier" in done.err
    assert "since kernel 4.19" in done.err
