"""A virtual machine whose power can be cut: QEMU without KVM, and a disk with a volatile cache of its own.

In: an image to boot, the image of a disk. Out: a running guest, and after a cut a disk that holds what it had promised
to keep, and nothing else.

The guest's page cache is lost with the guest. Its disk has a volatile cache of its own, as real disks have: nbdkit
keeps what is written and puts it into the image when the guest flushes, so a killed nbdkit loses all the rest. A disk
that `lies` acknowledges flushes and does nothing.
"""

import subprocess
import tempfile
import time
from pathlib import Path
from typing import Self

from guest.image import Image

PROGRAMS = ("qemu-system-x86_64", "nbdkit")
NBDKIT = ("nbdkit", "--foreground", "--exit-with-parent", "--filter=cache")
QEMU = (
    *("qemu-system-x86_64", "-accel", "tcg", "-cpu", "max", "-smp", "2", "-m", "256"),
    *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
)
COMMAND_LINE = "console=ttyS0 rdinit=/init panic=-1"
PATIENCE_S = 120


class Machine:
    """A booting machine; leaving its `with` block cuts its power."""

    def __init__(self, image: Image, disk: Path, *devices: str, parameters: str = "", lies: bool = False) -> None:
        """`devices` are more words for QEMU, `parameters` more for the kernel; QEMU's stdin and stdout are pipes."""
        self._folder = tempfile.TemporaryDirectory()
        folder = Path(self._folder.name)
        socket, self._console, self._log = folder / "disk", folder / "console", folder / "log"
        cache = "cache=unsafe" if lies else "cache=writeback"
        with self._log.open("w") as log:
            self._disk = subprocess.Popen([*NBDKIT, "--unix", socket, "file", disk, cache], stderr=log)
        drive = "if=virtio,format=raw,cache=writeback,file.driver=nbd,file.open-timeout=10,file.server.type=unix"
        disks = ("-drive", f"{drive},file.server.path={socket}")
        boot = ("-kernel", image.kernel, "-initrd", image.initramfs, "-append", f"{COMMAND_LINE} {parameters}".strip())
        self._console.touch()
        with self._log.open("a") as log:
            self.qemu = subprocess.Popen(
                [*QEMU, *boot, *disks, "-serial", f"file:{self._console}", *devices],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def wait_until_it_says(self, word: str) -> None:
        """Until the word is on the console."""
        deadline = time.monotonic() + PATIENCE_S
        while word not in self._console.read_text(errors="replace"):
            if self.qemu.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the guest never said {word!r}:\n{self.said()}")
            time.sleep(0.05)

    def said(self) -> str:
        """The end of its console, and what QEMU and nbdkit complained of."""
        return self._log.read_text() + self._console.read_text(errors="replace")[-4000:]

    def cut(self) -> None:
        """Cuts the power. The disk goes last, so that nothing is acknowledged that it did not do."""
        self.qemu.kill()
        self.qemu.wait()
        self._disk.kill()
        self._disk.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()
        self._folder.cleanup()
