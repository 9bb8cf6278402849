"""A copy of a stopped server's data, and the data put back from it."""

import time
from dataclasses import dataclass

from ceteris.databases.place import Place
from ceteris.errors import DatabaseError


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


def take(place: Place) -> Copy:
    """Copy the data, which nobody may use, beside itself; an earlier copy goes. Raises DatabaseError."""
    return _copy(place, place.data, place.snapshot)


def put_back(place: Place) -> Copy:
    """Replace the data by the copy. Raises DatabaseError."""
    if place.snapshot.rsplit("/", 1)[1] not in place.host.names(place.folder):
        raise DatabaseError(f"{place.folder} has no snapshot", "take one first")
    return _copy(place, place.snapshot, place.data)


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
