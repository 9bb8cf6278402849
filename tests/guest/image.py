"""A kernel and an initramfs for a virtual machine: packages of the host's Debian, and programs of the host itself.

In: what the guest needs, as `Contents`. Out: two files for QEMU. Called by `guest/target.py` and by `proof/power_cut`.
"""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

KERNEL, BUSYBOX = "linux-image-cloud-amd64", "busybox-static"
DISK_MODULES = ("virtio_pci", "virtio_blk", "crc32c_generic", "ext4")


def command(*words: str | Path, **options: object) -> str:
    """Runs a command and returns what it says."""
    done = subprocess.run(words, check=True, text=True, stdout=subprocess.PIPE, **options)  # type: ignore[call-overload]
    return str(done.stdout)


@dataclass(frozen=True)
class Contents:
    """Contents of an initramfs beside busybox: programs of this machine and texts, each with its place in the guest.

    `later` are programs that come when the guest runs; their libraries must be there.
    """

    init: Path
    programs: Mapping[str, Path]
    later: tuple[Path, ...] = ()
    modules: tuple[str, ...] = DISK_MODULES
    files: Mapping[str, str] = field(default_factory=dict)


class Image:
    """A kernel and the initramfs with it, made in `folder`; `packages` are kept from run to run."""

    def __init__(self, packages: Path, folder: Path, contents: Contents) -> None:
        packages.mkdir(parents=True, exist_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        meta = command("apt-cache", "depends", "--important", KERNEL)
        self.kernel_package = re.findall(r"Depends: (linux-image-\S+)", meta)[0]
        system = _unpacked(self.kernel_package, packages)
        [self.kernel] = system.glob("boot/vmlinuz-*")
        [busybox] = _unpacked(BUSYBOX, packages).rglob("bin/busybox")
        root = folder / "root"
        shutil.rmtree(root, ignore_errors=True)
        for name in ("bin", "data", "dev", "proc", "run", "sys"):
            (root / name).mkdir(parents=True)
        shutil.copy(busybox, root / "bin")
        shutil.copy(contents.init, root / "init")
        _copy_modules(contents.modules, busybox, system, self.kernel.name.removeprefix("vmlinuz-"), root)
        for place, program in contents.programs.items():
            shutil.copy(program, _place(root, place))
        for program in (*contents.programs.values(), *contents.later):
            for library in re.findall(r"(/\S+) \(0x", command("ldd", program)):
                shutil.copy(library, _place(root, library))
        for place, text in contents.files.items():
            _place(root, place).write_text(text)
            _place(root, place).chmod(0o600)  # sshd reads no key that others may read
        self.initramfs = folder / "initramfs"
        names = "\n".join(str(path.relative_to(root)) for path in root.rglob("*"))
        with self.initramfs.open("wb") as archive:
            cpio = [str(busybox.absolute()), "cpio", "-o", "-H", "newc"]
            subprocess.run(cpio, check=True, cwd=root, input=names.encode(), stdout=archive, stderr=subprocess.DEVNULL)


def _unpacked(package: str, folder: Path) -> Path:
    """The files of a Debian package, downloaded once."""
    files = folder / package
    if not files.exists():
        with tempfile.TemporaryDirectory(dir=folder) as name:
            command("apt-get", "-o", "APT::Sandbox::User=root", "--quiet", "download", package, cwd=name)
            [archive] = Path(name).glob("*.deb")
            command("dpkg-deb", "--extract", archive, Path(name) / "files")
            (Path(name) / "files").rename(files)
    return files


def _copy_modules(wanted: tuple[str, ...], busybox: Path, system: Path, release: str, root: Path) -> None:
    """Modules, and all that they need; what is built in has no file."""
    [modules] = system.rglob(f"lib/modules/{release}")
    if not (modules / "modules.dep").exists():
        command(busybox, "depmod", "-b", modules.parent.parent.parent, release)
    needs = dict(line.split(":") for line in (modules / "modules.dep").read_text().splitlines())
    for path, others in needs.items():
        if Path(path).name.split(".")[0].replace("-", "_") in wanted:
            for needed in (path, *others.split()):
                shutil.copy(modules / needed, _place(root, f"lib/modules/{release}/{needed}"))
    for name in ("modules.dep", "modules.builtin"):
        shutil.copy(modules / name, root / "lib/modules" / release)


def _place(root: Path, path: str) -> Path:
    """Return the place of a guest's file below its root, and make its folder."""
    place = root / path.lstrip("/")
    place.parent.mkdir(parents=True, exist_ok=True)
    return place
