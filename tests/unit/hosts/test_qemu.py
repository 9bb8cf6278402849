"""The process of a guest: what its command line and its open files show."""

import itertools
import json
from collections.abc import Sequence

import pytest

from paribus.hosts.fake import FakeHost
from paribus.hosts.guests import qemu
from paribus.hosts.guests.qemu import CACHE, INTERFACE
from paribus.hosts.transport import Completed

UUID = "00e2445c-b6d1-4bd1-bc71-bb3059678503"
LIVE = f"""<domain><uuid>{UUID}</uuid><devices><disk><target dev="vda"/><alias name="virtio-disk0"/></disk></devices>
</domain>"""
DIRECT, BUFFERED = "02140002", "02100002"


class Hypervisor(FakeHost):
    """A machine with one process of QEMU, whose fourth file is the disk."""

    def __init__(self, words: Sequence[str], flags: str = DIRECT, machine: str = "x86_64") -> None:
        super().__init__(
            {
                "/proc/self/cmdline": "",
                "/proc/7/cmdline": f"grep\0-uuid {UUID}\0",
                "/proc/42/cmdline": "\0".join(words) + "\0",
                "/proc/42/fdinfo/4": f"pos:\t0\nflags:\t{flags}\nmnt_id:\t1\n",
            }
        )
        self._machine = machine
        self.pattern = ""

    def run(self, argv: Sequence[str], **_options: object) -> Completed:
        """Answer find and uname."""
        if argv[0] == "uname":
            return Completed(0, f"{self._machine}\n", "")
        assert argv[:2] == ["find", "/proc/42/fd"]
        self.pattern = argv[3]
        return Completed(0, "4\n" if self.pattern == "/dev/sdb" else "", "")


def words(
    write_cache: str = "on", no_flush: bool = False, layers: Sequence[str] = (), path: str = "/dev/sdb", **node: object
) -> list[str]:
    names = [*layers, "storage"]
    nodes: list[dict[str, object]] = [
        {"driver": "raw", "node-name": name, "file": below} for name, below in itertools.pairwise(names)
    ]
    nodes.append(
        {"driver": "host_device", "filename": path, "node-name": "storage", "cache": {"no-flush": no_flush}, **node}
    )
    device = {"driver": "virtio-blk-pci", "drive": names[0], "id": "virtio-disk0", "write-cache": write_cache}
    options = [word for node in nodes for word in ("-blockdev", json.dumps(node))]
    return ["/usr/bin/qemu-system-x86_64", "-uuid", UUID, *options, "-device", json.dumps(device), "-no-user-config"]


@pytest.mark.parametrize(
    ("flags", "write_cache", "no_flush", "mode"),
    [
        (DIRECT, "on", False, "none"),
        (BUFFERED, "on", False, "writeback"),
        (BUFFERED, "off", False, "writethrough"),
        (DIRECT, "off", False, "directsync"),
        (BUFFERED, "on", True, "unsafe"),
        (DIRECT, "on", True, "of no mode"),
    ],
)
def test_a_cache_mode_is_that_of_open_file_and_device(flags: str, write_cache: str, no_flush: bool, mode: str) -> None:
    host = Hypervisor(words(write_cache, no_flush, ["format"]), flags)
    assert qemu.in_force(host, LIVE, "vda") == {CACHE: mode}


@pytest.mark.parametrize("layers", [[], ["throttle", "format"]])
def test_the_interface_is_that_of_the_lowest_node(layers: list[str]) -> None:
    host = Hypervisor(words(layers=layers, aio="native"))
    assert qemu.in_force(host, LIVE, "vda") == {CACHE: "none", INTERFACE: "native"}


def test_a_device_in_the_older_form_is_read() -> None:
    older = words()
    older[older.index("-device") + 1] = "virtio-blk-pci,drive=storage,id=virtio-disk0,write-cache=off"
    assert qemu.in_force(Hypervisor(older), LIVE, "vda") == {CACHE: "directsync"}


def test_arguments_in_other_forms_are_passed_over() -> None:
    others = ["-blockdev", "{'node-name': 'other'}", "-device", "{"]
    assert qemu.in_force(Hypervisor([*words(), *others]), LIVE, "vda") == {CACHE: "none"}


def test_other_machines_have_another_number_for_direct_access() -> None:
    assert qemu.in_force(Hypervisor(words(), "02200002", "aarch64"), LIVE, "vda") == {CACHE: "none"}
    assert qemu.in_force(Hypervisor(words(), DIRECT, "aarch64"), LIVE, "vda") == {CACHE: "writeback"}


@pytest.mark.parametrize(
    "words_of_process",
    [
        ["/usr/bin/qemu-system-x86_64", "-uuid", UUID.replace("0", "1")],
        ["/usr/bin/qemu-system-x86_64", "-uuid", UUID],
        words(path="/dev/sdc"),
        [*words(), "-blockdev", '{"node-name": "storage", "file": "storage"}'],
    ],
)
def test_a_process_that_does_not_show_the_disk_proves_no_setting(words_of_process: list[str]) -> None:
    assert qemu.in_force(Hypervisor(words_of_process), LIVE, "vda") == {}


def test_a_path_with_signs_of_patterns_is_itself() -> None:
    host = Hypervisor(words(path="/images/a[1]*.raw"))
    qemu.in_force(host, LIVE, "vda")
    assert host.pattern == r"/images/a\[1\]\*.raw"
