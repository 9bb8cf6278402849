"""A virtual machine whose power can be cut: Debian's kernel, busybox and the engine, under QEMU without KVM.

In: packages of the host's Debian, the engine's binary, a disk image. Out: events of the engine in the guest, and after
a cut an image that holds what the disk had promised to keep, and nothing else. Called by `run.py`.

The guest's page cache is lost with the guest. Its disk has a volatile cache of its own, as real disks have: nbdkit
keeps what is written and puts it into the image when the guest flushes, so a killed nbdkit loses all the rest. A disk
that `lies` acknowledges flushes and does nothing.
"""

import json
import queue
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

KERNEL, BUSYBOX = "linux-image-cloud-amd64", "busybox-static"
MODULES = ("virtio_pci", "virtio_blk", "crc32c_generic", "ext4")

NBDKIT = ("nbdkit", "--foreground", "--exit-with-parent", "--filter=cache")
QEMU = (
    *("qemu-system-x86_64", "-accel", "tcg", "-cpu", "max", "-smp", "2", "-m", "256"),
    *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
    *("-append", "console=ttyS0 rdinit=/init panic=-1"),
)
PATIENCE_S = 120

Event = dict[str, Any]


def command(*words: str | Path, **options: Any) -> str:
    """Runs a command and returns what it says."""
    done = subprocess.run(words, check=True, text=True, stdout=subprocess.PIPE, **options)
    return done.stdout


class Image:
    """A kernel and the initramfs with it, in `folder`, where packages are kept from run to run."""

    def __init__(self, folder: Path, engine: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        meta = command("apt-cache", "depends", "--important", KERNEL)
        self.kernel_package = re.findall(r"Depends: (linux-image-\S+)", meta)[0]
        system = _unpacked(self.kernel_package, folder)
        [self.kernel] = system.glob("boot/vmlinuz-*")
        self.initramfs = folder / "initramfs"
        [busybox] = _unpacked(BUSYBOX, folder).rglob("bin/busybox")
        root = folder / "root"
        shutil.rmtree(root, ignore_errors=True)
        for name in ("bin", "data", "dev", "proc", "sys"):
            (root / name).mkdir(parents=True)
        shutil.copy(busybox, root / "bin")
        shutil.copy(Path(__file__).with_name("init"), root)
        _copy_modules(busybox, system, self.kernel.name.removeprefix("vmlinuz-"), root)
        _copy_program(engine, root)
        names = "\n".join(str(path.relative_to(root)) for path in root.rglob("*"))
        with self.initramfs.open("wb") as archive:
            cpio = [busybox.absolute(), "cpio", "-o", "-H", "newc"]
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


def _copy_modules(busybox: Path, system: Path, release: str, root: Path) -> None:
    """The modules of a file system on a virtio disk, and all that they need; what is built in has no file."""
    [modules] = system.rglob(f"lib/modules/{release}")
    command(busybox, "depmod", "-b", modules.parent.parent.parent, release)
    needs = dict(line.split(":") for line in (modules / "modules.dep").read_text().splitlines())
    for path, others in needs.items():
        if Path(path).name.split(".")[0] in MODULES:
            for wanted in (path, *others.split()):
                target = root / "lib/modules" / release / wanted
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(modules / wanted, target)
    for name in ("modules.dep", "modules.builtin"):
        shutil.copy(modules / name, root / "lib/modules" / release)


def _copy_program(program: Path, root: Path) -> None:
    """A program and the libraries that it is linked to, where it looks for them."""
    shutil.copy(program, root / "bin")
    for library in re.findall(r"(/\S+) \(0x", command("ldd", program)):
        target = root / library.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, target)


class Machine:
    """A booted machine that runs one job of the engine; leaving its `with` block cuts its power."""

    def __init__(self, image: Image, disk: Path, job: Event, *, lies: bool = False) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._lines: queue.Queue[str | None] = queue.Queue()
        folder = Path(self._folder.name)
        socket, self._console, self._log = folder / "disk", folder / "console", folder / "log"
        cache = "cache=unsafe" if lies else "cache=writeback"
        with self._log.open("w") as log:
            self._disk = subprocess.Popen([*NBDKIT, "--unix", socket, "file", disk, cache], stderr=log)
        drive = "if=virtio,format=raw,cache=writeback,file.driver=nbd,file.open-timeout=10,file.server.type=unix"
        boot = ("-kernel", image.kernel, "-initrd", image.initramfs, "-drive", f"{drive},file.server.path={socket}")
        self._console.touch()
        self._qemu = subprocess.Popen(
            [*QEMU, *boot, "-serial", f"file:{self._console}", "-serial", "stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        threading.Thread(target=self._read, daemon=True).start()
        self._next_line(until="ready")
        assert self._qemu.stdin
        print(json.dumps(job), file=self._qemu.stdin, flush=True)

    def _read(self) -> None:
        assert self._qemu.stdout
        for line in self._qemu.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _next_line(self, until: str = "") -> str | None:
        while True:
            try:
                line = self._lines.get(timeout=PATIENCE_S)
            except queue.Empty:
                raise TimeoutError(f"the guest is silent:\n{self._said()}") from None
            if until and line is None:
                raise RuntimeError(f"the guest ended before it was {until}:\n{self._said()}")
            if until in (line or ""):
                return line

    def _said(self) -> str:
        return self._log.read_text() + self._console.read_text(errors="replace")[-4000:]

    def events(self) -> Iterator[Event]:
        """What the engine says, until it ends or the power is cut; a line that was cut short says nothing."""
        while (line := self._next_line()) is not None:
            if line.endswith("\n"):
                yield json.loads(line)

    def cut(self) -> None:
        """Cuts the power. The disk goes last, so that nothing is acknowledged that it did not do."""
        self._qemu.kill()
        self._qemu.wait()
        self._disk.kill()
        self._disk.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()
        self._folder.cleanup()
