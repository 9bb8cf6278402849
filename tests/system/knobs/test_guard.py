"""Tricks to have a device destroyed that somebody needs: each is seen through, on real devices."""

import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from paribus.engine.find import binary
from paribus.hosts.local import LocalHost
from paribus.hosts.storage.devices import block_device
from paribus.knobs.guard import refusal

pytestmark = [pytest.mark.gate, pytest.mark.root, pytest.mark.usefixtures("as_root")]
MIB = 2**20

OPENS = """
import sys, time
file = open(sys.argv[1], 'rb')
print('open', flush=True)
time.sleep(60)
"""
# Python's own mmap keeps a descriptor; a program need not.
MAPS = """
import ctypes, os, sys, time
libc = ctypes.CDLL(None)
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mmap.restype = ctypes.c_void_p
file = os.open(sys.argv[1], os.O_RDONLY)
assert libc.mmap(None, 4096, 1, 1, file, 0) != ctypes.c_void_p(-1).value
os.close(file)
print('mapped', flush=True)
time.sleep(60)
"""


def _run(*argv: str, **more: str) -> str:
    return subprocess.run(argv, check=True, capture_output=True, text=True, input=more.get("text")).stdout.strip()


@pytest.fixture
def image(tmp_path: Path) -> Path:
    made = tmp_path / "disk.img"
    with made.open("wb") as file:
        file.truncate(64 * MIB)
    return made


@pytest.fixture
def attach() -> Iterator[Callable[..., str]]:
    """Make a loop device of a file or a device."""
    made: list[str] = []

    def make(of: str | Path, *options: str) -> str:
        made.append(_run("losetup", "--find", "--show", *options, str(of)))
        return made[-1]

    yield make
    for device in reversed(made):
        subprocess.run(["losetup", "--detach", device], check=False)


def _why(device: str, *named: str | Path) -> str:
    """Return the reason why its content may not be destroyed; empty where it may."""
    refused = refusal(block_device(LocalHost(), binary(), device), [str(name) for name in named])
    return refused.message if refused is not None else ""


def test_an_empty_device_that_is_named_may_be_destroyed_and_no_other(attach, image: Path, tmp_path: Path) -> None:
    device = attach(image)
    assert _why(device, image) == ""
    assert "may_destroy does not name it" in _why(device)
    assert "may_destroy does not name it" in _why(device, device)  # what the next boot may give to another disk
    assert "may_destroy does not name it" in _why(device, tmp_path / "other.img")


def test_the_disk_of_this_system_is_refused_whatever_names_it() -> None:
    number = Path("/").stat().st_dev
    disk = f"/dev/{Path(os.path.realpath(f'/sys/dev/block/{os.major(number)}:{os.minor(number)}')).name}"
    seen = block_device(LocalHost(), binary(), disk)
    assert refusal(seen, seen.ids) is not None
    assert seen.refused or any("mounted" in claim for claim in seen.claims)


def test_a_mounted_file_system_is_refused_also_under_another_name(attach, image: Path, tmp_path: Path) -> None:
    _run("mkfs.ext4", "-q", str(image))
    device = attach(image)
    assert "holds ext4" in _why(device, image)
    (tmp_path / "mnt").mkdir()
    _run("mount", device, str(tmp_path / "mnt"))
    link = tmp_path / "harmless"
    link.symlink_to(device)
    node = tmp_path / "node"
    os.mknod(node, stat.S_IFBLK | 0o600, Path(device).stat().st_rdev)
    try:
        assert f"mounted at {tmp_path / 'mnt'}" in _why(device, image)
        assert f"mounted at {tmp_path / 'mnt'}" in _why(str(link), image)
        assert "is no block device of this machine" in _why(str(node), image)
    finally:
        _run("umount", str(tmp_path / "mnt"))


def test_swap_is_refused_before_and_while_it_is_used(attach, image: Path) -> None:
    device = attach(image)
    _run("mkswap", device)
    assert "holds swap" in _why(device, image)
    _run("swapon", device)
    try:
        assert "is swap" in _why(device, image)
    finally:
        _run("swapoff", device)


def test_a_table_of_partitions_is_refused_and_so_is_what_is_under_a_partition(
    attach, image: Path, tmp_path: Path
) -> None:
    _run("sfdisk", "--quiet", str(image), text="label: gpt\nstart=2048, size=32768\n")
    device = attach(image, "--partscan")
    seen = _why(device, image)
    assert "holds gpt" in seen or "has the partition" in seen
    part = f"{device}p1"
    if not (Path("/sys/class/block") / Path(part).name).exists():  # this kernel reads no tables: told by hand
        _run("addpart", device, "1", "2048", "32768")
    if not Path(part).exists():  # without udev nobody makes the node
        os.mknod(part, stat.S_IFBLK | 0o600, os.makedev(*map(int, _numbers(part).split(":"))))
    (tmp_path / "mnt").mkdir()
    _run("mkfs.ext4", "-q", part)
    _run("mount", part, str(tmp_path / "mnt"))
    try:
        assert "has the partition" in _why(device, image)
        assert "which is mounted" in _why(device, image)
    finally:
        _run("umount", str(tmp_path / "mnt"))


def _numbers(part: str) -> str:
    return (Path("/sys/class/block") / Path(part).name / "dev").read_text().strip()


@pytest.mark.parametrize(
    ("make", "kind"), [("mkfs.xfs -q", "xfs"), ("mkfs.btrfs -q", "btrfs"), ("mkfs.ext4 -q", "ext4")]
)
def test_file_systems_on_a_device_are_recognised_by_signature(attach, image: Path, make: str, kind: str) -> None:
    with image.open("r+b") as file:
        file.truncate(512 * MIB)
    _run(*make.split(), str(image))
    assert f"holds {kind}" in _why(attach(image), image)


def test_another_loop_device_in_the_same_bytes_is_seen_though_nothing_is_at_their_beginning(
    attach, image: Path, tmp_path: Path
) -> None:
    plain = attach(image)
    assert _why(plain, image) == ""
    inner = attach(image, "--offset", str(8 * MIB))
    _run("mkfs.ext4", "-q", inner)
    (tmp_path / "mnt").mkdir()
    _run("mount", inner, str(tmp_path / "mnt"))
    try:
        assert f"shares its backing file with {inner}" in _why(plain, image)
        hard_link = tmp_path / "link.img"
        hard_link.hardlink_to(image)
        assert "shares its backing file with" in _why(attach(hard_link), hard_link)
    finally:
        _run("umount", str(tmp_path / "mnt"))


def test_a_loop_device_of_a_device_stands_for_that_device(attach, image: Path) -> None:
    lower = attach(image)
    upper = attach(lower, "--offset", str(MIB))
    assert f"is what {upper} is made of" in _why(lower, image)
    assert f"is made of {lower}, another device" in _why(upper, lower)


@pytest.mark.parametrize("script", [OPENS, MAPS])
def test_a_device_that_a_program_has_open_or_mapped_is_refused_with_the_programs_name(
    script: str, attach, image: Path, tmp_path: Path
) -> None:
    device = attach(image)
    node = tmp_path / "node"  # an old node of the same device
    os.mknod(node, stat.S_IFBLK | 0o600, Path(device).stat().st_rdev)
    for name in (device, str(node)):
        holder = subprocess.Popen([sys.executable, "-c", script, name], stdout=subprocess.PIPE, text=True)
        assert holder.stdout is not None
        holder.stdout.readline()
        try:
            assert f"(process {holder.pid})" in _why(device, image)
            assert "is open in python" in _why(device, image)
        finally:
            holder.kill()
            holder.communicate()
    assert _why(device, image) == ""


def test_a_device_that_is_taken_between_check_and_load_is_not_written_to(paribus, attach, image: Path, plan) -> None:
    """The guard is asked again before each block."""
    device = attach(image)
    path = Path(plan(target=f'may_destroy = ["{image}"]'))
    path.write_text(
        path.read_text().replace('kind       = "fileio"', f'kind = "fileio"\ndevice = "{device}"\nmode = "rndwr"')
    )
    checked = paribus("check", str(path))
    assert checked.code == 0, checked.err
    _run("mkfs.ext4", "-q", device)
    refused = paribus("run", str(path))
    assert refused.code == 2
    assert "holds ext4" in refused.err
    assert _run("blkid", "-o", "value", "-s", "TYPE", device) == "ext4"
