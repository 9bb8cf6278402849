"""A copy of a stopped server's data, and the data put back from it, file by file as it was."""

import time
from dataclasses import dataclass

from paribus.databases.server.data_directory import Place
from paribus.errors import DatabaseError, DataDamaged

_TRIED_BYTES = 64 << 20
_LIST = "snapshot.files"  # beside the copy: the size and name of each of its files


@dataclass(frozen=True, slots=True)
class Copy:
    """What a copy has cost; `reflink`: the file system shares the blocks instead of copying them."""

    size_bytes: int
    duration_s: float
    reflink: bool


def can_reflink(place: Place) -> bool:
    """Whether the file system under the folder can share blocks between files."""
    place.write("reflink", "x" * 8192)
    probe, second = f"{place.folder}/reflink", f"{place.folder}/reflink.copy"
    try:
        return place.host.run(["cp", "--reflink=always", probe, second]).exit_code == 0
    finally:
        place.must(["rm", "--force", probe, second])


def try_out(place: Place) -> Copy:
    """Copy a small file where data will lie, and remove it: what a large one will cost. Raises DatabaseError."""
    tried = f"{place.folder}/tried"
    try:
        make = ["dd", "if=/dev/urandom", f"of={tried}", "bs=1M", f"count={_TRIED_BYTES >> 20}", "conv=fsync"]
        place.must([*make, "status=none"])
        return _copy(place, tried, f"{tried}.copy")
    finally:
        place.must(["rm", "--force", tried, f"{tried}.copy", f"{tried}.copy.part"])


def size_bytes(place: Place) -> int:
    """What the data takes on the disk. Raises DatabaseError."""
    return int(place.must(["du", "--summarize", "--block-size=1", place.data]).split()[0])


def take(place: Place) -> Copy:
    """Copy the data, which nobody may use, beside itself; an earlier copy goes. Raises DatabaseError."""
    files = _files(place, place.data)
    copy = _copy(place, place.data, place.snapshot)
    place.write(_LIST, files)
    _refuse_difference(place, place.snapshot, files)
    return copy


def put_back(place: Place) -> Copy:
    """Replace the data by the copy. Raises DatabaseError, and DataDamaged where a file is not as it was copied."""
    if place.snapshot.rsplit("/", 1)[1] not in place.host.names(place.folder):
        raise DatabaseError(f"{place.folder} has no snapshot", "take one first")
    copy = _copy(place, place.snapshot, place.data)
    _refuse_difference(place, place.data, place.host.read(f"{place.folder}/{_LIST}"))
    return copy


def _files(place: Place, folder: str) -> str:
    """A line for each file: its size, and its name below the folder."""
    listed = place.must(["find", folder, "-type", "f", "-printf", "%s %P\\n"])
    return "".join(sorted(listed.splitlines(keepends=True)))


def _refuse_difference(place: Place, folder: str, wanted: str) -> None:
    """Raise DataDamaged where the files of a folder are not those, which names the first of them."""
    sizes = [dict(_name_and_size(line) for line in text.splitlines()) for text in (wanted, _files(place, folder))]
    there, found = sizes
    for name in sorted(there.keys() | found.keys()):
        if there.get(name) != found.get(name):
            was, now = (f"{one[name]} bytes" if name in one else "not there" for one in sizes)
            todo = "see what else writes to this folder and whether the disk is sound, then begin anew"
            raise DataDamaged(f"{folder}/{name} is not as it was copied: {now}, and was {was}", todo)


def _name_and_size(line: str) -> tuple[str, str]:
    size, _, name = line.partition(" ")
    return name, size


def _copy(place: Place, source: str, target: str) -> Copy:
    """Under another name until it is whole, so that a part is never taken for all; on the disk when this returns."""
    began = time.monotonic()
    part = f"{target}.part"
    place.must(["rm", "--recursive", "--force", "--", target, part])
    place.must(["cp", "--archive", "--reflink=auto", "--", source, part])
    place.must(["mv", "--no-target-directory", "--", part, target])
    place.must(["sync", "--file-system", target])
    duration_s = time.monotonic() - began
    size = place.must(["du", "--summarize", "--block-size=1", target]).split()[0]
    return Copy(int(size), duration_s, can_reflink(place))
