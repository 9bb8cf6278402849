"""The system of sandboxes, made once from Debian's packages and kept by what it is made of.

In: names of packages. Out: a kernel and the image of a root disk, which sandboxes read and never write.
"""

import fcntl
import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from paribus.errors import SandboxError

ROOT_PARTITION = "70617269-6275-7301-8000-73616e64626f"
"""PARTUUID of the root partition."""

_SYSTEM = (
    *("systemd-sysv", "udev", "dbus", "kmod", "procps", "iproute2", "openssh-server", "linux-image-cloud-amd64"),
    *("mdadm", "lvm2", "thin-provisioning-tools", "cryptsetup-bin", "bcache-tools", "parted", "fdisk", "nvme-cli"),
    *("xfsprogs", "btrfs-progs", "e2fsprogs"),
)
_BESIDE = {"zfs-dkms": ("zfsutils-linux", "linux-headers-cloud-amd64")}  # it is built for this kernel
_UNUSED = ("/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*", "/usr/share/info/*")
_PACK = Path(__file__).with_name("pack.sh")
_PROGRAMS = {"mmdebstrap": "mmdebstrap", "mke2fs": "e2fsprogs", "sfdisk": "fdisk", "qemu-img": "qemu-utils"}
_PACKAGE_OF = {**_PROGRAMS, "qemu-system-x86_64": "qemu-system-x86", "nbdkit": "nbdkit", "ssh-keygen": "openssh-client"}
_DEFAULT_SUITE = "bookworm"

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Image:
    """The files that a sandbox boots from."""

    kernel: Path
    disk: Path


def require(programs: Sequence[str]) -> None:
    """Raises SandboxError with the command that installs what is missing."""
    directories = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])
    missing = [name for name in programs if shutil.which(name, path=directories) is None]
    if missing:
        packages = " ".join(dict.fromkeys(_PACKAGE_OF[name] for name in missing))
        raise SandboxError(
            f"a sandbox needs {', '.join(missing)}", f"sudo apt-get install --no-install-recommends {packages}"
        )


def image_of(packages: Sequence[str], cache: Path, progress: Progress) -> Image:
    """The image with these packages beside the storage tools, made where `cache` lacks it. Raises SandboxError."""
    beside = [other for package in packages for other in _BESIDE.get(package, ())]
    chosen, suite = [*_SYSTEM, *sorted([*packages, *beside])], _suite()
    content = "\n".join([suite, *chosen, *_UNUSED, ROOT_PARTITION, _PACK.read_text(encoding="utf-8")])
    folder = cache / hashlib.sha256(content.encode()).hexdigest()[:16]
    image = Image(folder / "kernel", folder / "root.qcow2")
    with _one_at_a_time(cache):
        if not folder.exists():
            require(tuple(_PROGRAMS))
            progress(f"making the system of sandboxes from Debian's packages, once: {', '.join(chosen)}")
            _make(chosen, suite, folder)
    return image


def _suite() -> str:
    """Debian's release here, since the engine of this machine is to run there too."""
    try:
        lines = Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
    except OSError:
        return _DEFAULT_SUITE
    facts = dict(line.partition("=")[::2] for line in lines)
    return facts.get("VERSION_CODENAME", _DEFAULT_SUITE) if facts.get("ID") == "debian" else _DEFAULT_SUITE


@contextmanager
def _one_at_a_time(cache: Path) -> Iterator[None]:
    """Wait until no other process makes an image here. Raises SandboxError."""
    try:
        cache.mkdir(parents=True, exist_ok=True)
        lock = (cache / "lock").open("w")
    except OSError as error:
        message = f"{cache} cannot be written: {error.strerror}"
        raise SandboxError(message, "name another folder: PARIBUS_SANDBOX=/path") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _make(packages: Sequence[str], suite: str, folder: Path) -> None:
    """Make the files elsewhere, so that a folder of this name is whole."""
    place = Path(tempfile.mkdtemp(dir=folder.parent, prefix="unfinished-"))
    raw = place / "disk.img"
    hooks = [
        f'sh {shlex.quote(str(_PACK))} "$1" {ROOT_PARTITION}',
        f"download /disk.img {shlex.quote(str(raw))}",
        f"download /kernel {shlex.quote(str(place / 'kernel'))}",
    ]
    try:
        _run(
            "mmdebstrap",
            *("--quiet", "--variant=minbase", "--format=null", "--components=main,contrib"),
            f"--include={','.join(packages)}",
            '--aptopt=APT::Install-Recommends "false"',
            *(f"--dpkgopt=path-exclude={pattern}" for pattern in _UNUSED),
            *(f"--customize-hook={hook}" for hook in hooks),
            *(suite, "/dev/null"),
        )
        _run("qemu-img", "convert", "-O", "qcow2", str(raw), str(place / "root.qcow2"))
        raw.unlink()
        place.rename(folder)
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise


def _run(*argv: str) -> None:
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        words = " ".join(done.stderr.split())[-600:]
        raise SandboxError(
            f"{argv[0]} could not make the system of sandboxes: {words}",
            "see whether Debian's packages can be reached: apt-get update",
        )
