"""A disk to be hurt: small, with a file system of its own, that can be filled or made to fail."""

import contextlib
import fcntl
import os
import struct
import subprocess
import time
from pathlib import Path

from guest.image import command

_SHUTDOWN, _AT_ONCE = 0x8004587D, 2  # ext4's own: from now on every operation is an I/O error
_SIZE_BYTES = 160 * 2**20  # the store of a whole campaign


class SmallDisk:
    """A small ext4 on a loop device, mounted at `path`."""

    def __init__(self, path: Path, size_bytes: int = _SIZE_BYTES) -> None:
        self.path = path
        path.mkdir(parents=True)
        image = path.with_suffix(".img")
        with image.open("wb") as file:
            file.truncate(size_bytes)
        command("mkfs.ext4", "-q", str(image))
        self._device = command("losetup", "--find", "--show", str(image)).strip()
        self.mount()

    def mount(self) -> None:
        """Mount it, after it was broken with all that was written whole."""
        command("mount", self._device, str(self.path))

    @property
    def options(self) -> str:
        """The options of its mount; empty while it is not mounted."""
        argv = ["findmnt", "--noheadings", "--output", "VFS-OPTIONS,FS-OPTIONS", str(self.path)]
        return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.strip()

    def fill(self) -> None:
        """Leave no byte free."""
        with (self.path / "ballast").open("wb") as file:
            size, end = 2**30, 0
            while size >= 4096:  # whoever else writes may take some
                try:
                    os.posix_fallocate(file.fileno(), end, size)
                    end += size
                except OSError:
                    size //= 2

    def break_(self) -> None:
        """From now on every operation fails with an I/O error."""
        folder = os.open(self.path, os.O_RDONLY)
        try:
            os.sync()
            fcntl.ioctl(folder, _SHUTDOWN, struct.pack("I", _AT_ONCE))
        finally:
            os.close(folder)

    def mend(self) -> None:
        """Free and whole again; nothing may be using it."""
        with contextlib.suppress(OSError):
            (self.path / "ballast").unlink()
        for _ in range(200):
            umounted = subprocess.run(["umount", str(self.path)], capture_output=True, check=False).returncode == 0
            if umounted:
                subprocess.run(["fsck.ext4", "-fy", self._device], capture_output=True, check=False)
                self.mount()
                if self._is_whole():
                    return
            time.sleep(0.1)
        raise AssertionError(f"{self._device} is still in use, or broken, after 20 s")

    def _is_whole(self) -> bool:
        """Whether it can be written; not while the mount namespace of another program keeps it broken."""
        try:
            (self.path / "probe").touch()
            (self.path / "probe").unlink()
        except OSError:
            return False
        return True

    def remove(self) -> None:
        """Unmount it and give its loop device back."""
        subprocess.run(["umount", "--lazy", str(self.path)], capture_output=True, check=False)
        subprocess.run(["losetup", "--detach", self._device], capture_output=True, check=False)
