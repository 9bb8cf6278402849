"""New loop devices, whose every setting is the kernel's default, and which leave nothing behind."""

import contextlib
import fcntl
import itertools
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from waiting import wait_for

LOOP_CTL_ADD, LOOP_CTL_REMOVE = 0x4C80, 0x4C81
_FIRST = 4096  # far above the numbers that `losetup --find` gives to others
_numbers = itertools.count(_FIRST + os.getpid() % 2**18)


def _control(request: int, number: int) -> bool:
    with Path("/dev/loop-control").open("rb") as control:
        try:
            fcntl.ioctl(control, request, number)
        except OSError:  # it exists already, or is still open in another process
            return False
    return True


@contextlib.contextmanager
def new_loop(image: Path, size: int) -> Iterator[str]:
    """A device that did not exist before, of a new sparse file of `size` bytes; removed at the end."""
    if not image.exists():
        with image.open("wb") as file:
            file.truncate(size)
    number = next(number for number in _numbers if _control(LOOP_CTL_ADD, number))
    name = f"/dev/loop{number}"
    wait_for(Path(name).exists, f"{name} in /dev")
    subprocess.run(["losetup", name, str(image)], check=True)
    try:
        yield name
    finally:
        subprocess.run(["losetup", "--detach", name], check=True)
        wait_for(lambda: _control(LOOP_CTL_REMOVE, number), f"removal of {name}")
