"""Arrays of md in a trial, on files of the kernel."""

from collections.abc import Sequence
from types import SimpleNamespace

import pytest

from paribus.errors import HostError
from paribus.hosts.fake import FakeHost
from paribus.trial.events.md_arrays import MdArrays

LOWER, UPPER = "/dev/md/t-0", "/dev/md/t-1"
FILES = {f"/sys/class/block/md!t-{number}/slaves/{name}": ""
         for number, names in enumerate((("vda", "vdb"), ("vdc", "vdd"))) for name in names}  # fmt: skip


class Layouts:
    """Two mirrors that are made."""

    stack = SimpleNamespace(arrays=(UPPER, LOWER))

    def __init__(self) -> None:
        self.ran: list[Sequence[str]] = []

    def run(self, *argv: str) -> None:
        self.ran.append(argv[1:] if argv[0] == "mdadm" else argv)


@pytest.fixture
def layouts() -> Layouts:
    return Layouts()


@pytest.fixture
def arrays(layouts: Layouts) -> MdArrays:
    numbers = {f"/sys/class/block/vd{name}/dev": "252:0\n" for name in "abcde"}
    return MdArrays(FakeHost({**FILES, **numbers}), layouts)  # type: ignore[arg-type]


def _expelled(array: str, disk: str) -> list[tuple[str, ...]]:
    return [(array, "--fail", disk), (array, "--remove", disk)]


def _joined(array: str, disk: str) -> list[tuple[str, ...]]:
    return [("wipefs", "--all", "--quiet", disk), (array, "--add", disk)]


def test_each_of_two_failed_disks_comes_back_to_its_own_array(arrays: MdArrays, layouts: Layouts) -> None:
    arrays.fail("/dev/vda")
    arrays.fail("/dev/vdc")
    arrays.replace("/dev/vda")
    arrays.replace("/dev/vdc")
    assert layouts.ran == [
        *_expelled(LOWER, "/dev/vda"),
        *_expelled(UPPER, "/dev/vdc"),
        *_joined(LOWER, "/dev/vda"),
        *_joined(UPPER, "/dev/vdc"),
    ]


def test_spare_expels_a_disk_whose_failure_the_kernel_missed(arrays: MdArrays, layouts: Layouts) -> None:
    arrays.expect_failure("/dev/vdb")
    arrays.replace("/dev/vde")
    assert layouts.ran == [*_expelled(LOWER, "/dev/vdb"), *_joined(LOWER, "/dev/vde")]


def test_place_is_taken_once(arrays: MdArrays) -> None:
    arrays.fail("/dev/vda")
    arrays.replace("/dev/vda")
    with pytest.raises(HostError, match="no disk has failed in this trial"):
        arrays.replace("/dev/vda")
