"""Tools whose options lead to somebody's data: refused with the plan and before each start, and confined."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command import PYTHON, RUN_ENDED, Done, Running

from paribus.store import read as stored
from paribus.store.open import open_engine, store_url

pytestmark = [pytest.mark.root, pytest.mark.usefixtures("as_root")]
PLAN = """
name = "tools"
[target]
path = "{path}"
may_destroy = {may_destroy}
[factors]
"process.nofile" = ["default", 512]
[[workload]]
name = "mine"
{workload}
[protocol]
trial  = "200ms"
settle = "10ms"
rounds = 2
margin = "50%"
placebo = false
"""
FIO = 'kind = "fio"\noptions = {{ rw = "write", size = "4M", bs = "4k", {options} }}'
COMMAND = """
kind = "command"
run = ["{python}", "-c", '''{script}''']
throughput = 'rate: (?P<value>[0-9]+)'
"""


@pytest.fixture
def device(tmp_path: Path) -> Iterator[str]:
    """A loop device of 16 MiB."""
    image = tmp_path / "disk.img"
    with image.open("wb") as file:
        file.truncate(16 * 2**20)
    made = subprocess.run(["losetup", "--find", "--show", str(image)], check=True, capture_output=True, text=True)
    yield made.stdout.strip()
    subprocess.run(["losetup", "--detach", made.stdout.strip()], check=True)


@pytest.fixture
def ext4(tmp_path: Path, device: str) -> Iterator[str]:
    """The device with a file system on it, of which every byte must stay."""
    image = tmp_path / "disk.img"
    subprocess.run(["mkfs.ext4", "-q", device], check=True)
    subprocess.run(["sync", str(image)], check=True)
    before = image.read_bytes()
    yield device
    assert image.read_bytes() == before


@pytest.fixture
def run(paribus: Callable[..., Done], tmp_path: Path) -> Callable[..., Done]:
    """Carry out a plan with this workload, its data below a folder of the test's."""

    def carry_out(workload: str, may_destroy: str = "[]") -> Done:
        return paribus("run", _plan(tmp_path, workload, may_destroy))

    return carry_out


def _plan(tmp_path: Path, workload: str, may_destroy: str = "[]") -> str:
    path, data = tmp_path / "plan.toml", tmp_path / "data"
    data.mkdir(exist_ok=True)
    path.write_text(PLAN.format(path=data, workload=workload, may_destroy=may_destroy))
    return str(path)


@pytest.mark.gate
@pytest.mark.parametrize("option", ["filename", "filename_format"])
def test_fio_on_a_device_by_its_folder_and_name_is_refused(run, ext4: str, option: str) -> None:
    done = run(FIO.format(options=f'directory = "/dev", {option} = "{Path(ext4).name}"'))
    assert done.code == 2
    assert f"{ext4} must not be written to: it holds ext4" in done.err


def test_fio_on_a_device_by_the_global_section_of_a_job_file_is_refused(run, ext4: str, tmp_path: Path) -> None:
    job, common = tmp_path / "job.fio", tmp_path / "common.fio"
    common.write_text("directory=/dev\n")
    job.write_text(f"[global]\ninclude common.fio\n[one]\nfilename={Path(ext4).name}\nrw=write\nsize=4M\n")
    done = run(f'kind = "fio"\njob = "{job}"')
    assert done.code == 2
    assert f"{ext4} must not be written to: it holds ext4" in done.err


def test_fio_on_a_link_to_a_device_is_refused(run, ext4: str, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "link").symlink_to(ext4)
    done = run(FIO.format(options=f'directory = "{tmp_path}/data", filename = "link"'))
    assert done.code == 2
    assert "holds ext4" in done.err


@pytest.mark.gate
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ('write_iolog = "{outside}/x"', "write_iolog = '{outside}/x' is refused: it leads to {outside}/x"),
        ('directory = "{outside}"', "directory = '{outside}' is refused"),
        ('filename = "../../../../../x"', "filename = '../../../../../x' is refused"),
        ('exec_prerun = "touch {outside}/x"', "fio would run a command"),
        ('exec_pre = "touch {outside}/x"', "write the full name, exec_prerun"),
        ('filename = "$mb_memory"', "fio expands the variable itself"),
    ],
)
def test_fio_outside_of_its_folder_is_refused_with_the_option_and_what_to_do(
    run, tmp_path: Path, options: str, words: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    done = run(FIO.format(options=options.format(outside=outside)))
    assert done.code == 2
    assert words.format(outside=outside) in done.err.replace("\n", " ")
    assert not list(outside.iterdir())
    assert not (tmp_path / "x").exists()


def test_fio_on_a_device_that_the_plan_names_is_measured(run, device: str, tmp_path: Path) -> None:
    options = f'directory = "/dev", filename = "{Path(device).name}", direct = 1, ioengine = "libaio"'
    done = run(FIO.format(options=options), may_destroy=f'["{tmp_path}/disk.img"]')
    assert done.code in RUN_ENDED, done.err
    assert (tmp_path / "disk.img").read_bytes().strip(b"\0")


def test_fio_on_a_link_that_is_flipped_between_two_trials_is_refused(device: str, tmp_path: Path) -> None:
    image, link = tmp_path / "other.img", Path("/dev") / f"paribus-test-{os.getpid()}"
    with image.open("wb") as file:
        file.truncate(16 * 2**20)
    made = subprocess.run(["losetup", "--find", "--show", str(image)], check=True, capture_output=True, text=True)
    other = made.stdout.strip()
    link.symlink_to(device)
    try:
        workload = FIO.format(options=f'directory = "/dev", filename = "{link.name}"')
        running = Running("run", _plan(tmp_path, workload, f'["{tmp_path}/disk.img", "{image}"]'))
        running.wait_for("trial 1")
        link.unlink()
        link.symlink_to(other)
        ended = running.end()
    finally:
        link.unlink()
        subprocess.run(["losetup", "--detach", other], check=True)
    assert ended.code == 3
    assert f"{other} is another device than the one this experiment began on" in ended.err
    assert (tmp_path / "disk.img").read_bytes().strip(b"\0")
    assert not image.read_bytes().strip(b"\0")


@pytest.mark.gate
@pytest.mark.parametrize(
    ("script", "words"),
    [
        ('open("/etc/paribus-test", "w")', "Read-only file system: '/etc/paribus-test'"),
        ('open("{outside}/x", "w")', "'{outside}/x'"),
        ("import os; os.mkdir('/de' + 'v/mine')", "Read-only file system: '/dev/mine'"),
    ],
)
def test_a_command_cannot_write_elsewhere(run, tmp_path: Path, script: str, words: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    done = run(COMMAND.format(python=PYTHON, script=script.format(outside=outside)))
    assert done.code == 3
    assert words.format(outside=outside) in done.err.replace("\n", " ")
    assert not list(outside.iterdir())
    assert not Path("/etc/paribus-test").exists()


def test_a_command_on_a_device_that_the_plan_does_not_name_is_refused(run, device: str, tmp_path: Path) -> None:
    workload = f'kind = "command"\nrun = ["dd", "if=/dev/zero", "of={device}"]\nthroughput = "(?P<value>[0-9]+)"'
    done = run(workload)
    assert done.code == 2
    assert f"a load would destroy what is on {device}, and target.may_destroy does not name it" in done.err


def _facts() -> list[str]:
    """Of every trial, why its tools were not confined."""
    store = open_engine(store_url(None), create=False)
    try:
        facts = stored.conditions(store, stored.find(store, "last").id).values()
        return [one.get("tools unconfined", "") for one in facts]
    finally:
        store.dispose()


def test_without_the_right_to_unshare_trials_record_it_and_options_are_checked_all_the_same(
    ext4: str, tmp_path: Path
) -> None:
    def unprivileged(plan: str) -> subprocess.CompletedProcess[str]:
        drop = ["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin", "--"]
        argv = [*drop, sys.executable, "-m", "paribus.cli.main", "run", plan]
        return subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False)

    done = unprivileged(_plan(tmp_path, COMMAND.format(python=PYTHON, script='print("rate: 1000")')))
    facts = _facts()
    assert facts, done.stderr
    assert all("cannot create a mount namespace" in fact for fact in facts)
    done = unprivileged(_plan(tmp_path, FIO.format(options=f'directory = "/dev", filename = "{Path(ext4).name}"')))
    assert done.returncode == 2
    assert "holds ext4" in done.stderr
