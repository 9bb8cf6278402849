"""A copy of a stopped server's data, and the data restored from it, file by file."""

import time
from dataclasses import dataclass

from paribus.databases.server.data_directory import DataDirectory
from paribus.errors import DatabaseError, DataDamaged

_TRIED_BYTES = 64 << 20
_LIST = "snapshot.files"  # next to the copy: the size and name of each of its files


@dataclass(frozen=True, slots=True)
class Copy:
    """The cost of a copy; `reflink`: the file system shares the blocks instead of copying them."""

    size_bytes: int
    duration_s: float
    reflink: bool


def can_reflink(directory: DataDirectory) -> bool:
    """Whether the file system under the folder can share blocks between files."""
    directory.write("reflink", "x" * 8192)
    probe, second = f"{directory.folder}/reflink", f"{directory.folder}/reflink.copy"
    try:
        return directory.host.run(["cp", "--reflink=always", probe, second]).exit_code == 0
    finally:
        directory.must(["rm", "--force", probe, second])


def try_out(directory: DataDirectory) -> Copy:
    """The cost of copying a small file where the data will be; the file is removed. Raises DatabaseError."""
    tried = f"{directory.folder}/tried"
    try:
        make = ["dd", "if=/dev/urandom", f"of={tried}", "bs=1M", f"count={_TRIED_BYTES >> 20}", "conv=fsync"]
        directory.must([*make, "status=none"])
        return _copy(directory, tried, f"{tried}.copy")
    finally:
        directory.must(["rm", "--force", tried, f"{tried}.copy", f"{tried}.copy.part"])


def size_bytes(directory: DataDirectory) -> int:
    """The size of the data on the disk. Raises DatabaseError."""
    return int(directory.must(["du", "--summarize", "--block-size=1", directory.data]).split()[0])


def take(directory: DataDirectory) -> Copy:
    """Copy the data, which nobody may use, next to itself; replaces an earlier copy. Raises DatabaseError."""
    files = _files(directory, directory.data)
    copy = _copy(directory, directory.data, directory.snapshot)
    directory.write(_LIST, files)
    _refuse_difference(directory, directory.snapshot, files)
    return copy


def restore(directory: DataDirectory) -> Copy:
    """Replace the data by the copy. Raises DatabaseError, and DataDamaged where a file differs from its copy."""
    if directory.snapshot.rsplit("/", 1)[1] not in directory.host.names(directory.folder):
        raise DatabaseError(f"{directory.folder} has no snapshot", "take one first")
    copy = _copy(directory, directory.snapshot, directory.data)
    _refuse_difference(directory, directory.data, directory.host.read(f"{directory.folder}/{_LIST}"))
    return copy


def _files(directory: DataDirectory, folder: str) -> str:
    """A line for each file: its size, and its name below the folder."""
    listed = directory.must(["find", folder, "-type", "f", "-printf", "%s %P\\n"])
    return "".join(sorted(listed.splitlines(keepends=True)))


def _refuse_difference(directory: DataDirectory, folder: str, expected: str) -> None:
    """Raise DataDamaged where the files of a folder differ from the list; the error names the first of them."""
    sizes = [dict(_name_and_size(line) for line in text.splitlines()) for text in (expected, _files(directory, folder))]
    listed, present = sizes
    for name in sorted(listed.keys() | present.keys()):
        if listed.get(name) != present.get(name):
            was, now = (f"{files[name]} bytes" if name in files else "not there" for files in sizes)
            todo = "find out what else writes to this folder and whether the disk is sound, then start again"
            raise DataDamaged(f"{folder}/{name} differs from its copy: {now} instead of {was}", todo)


def _name_and_size(line: str) -> tuple[str, str]:
    size, _, name = line.partition(" ")
    return name, size


def _copy(directory: DataDirectory, source: str, target: str) -> Copy:
    """Copy under another name until it is whole, so that a part never counts as the whole; synced to the disk."""
    began = time.monotonic()
    part = f"{target}.part"
    directory.must(["rm", "--recursive", "--force", "--", target, part])
    directory.must(["cp", "--archive", "--reflink=auto", "--", source, part])
    directory.must(["mv", "--no-target-directory", "--", part, target])
    directory.must(["sync", "--file-system", target])
    duration_s = time.monotonic() - began
    size = directory.must(["du", "--summarize", "--block-size=1", target]).split()[0]
    return Copy(int(size), duration_s, can_reflink(directory))
