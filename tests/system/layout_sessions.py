"""Layouts on the disks of a sandbox, without an experiment around them."""

import contextlib
import json
from collections.abc import Iterator, Sequence

from lab_sandbox import LabSandbox

from paribus.hosts.storage.devices import size_bytes
from paribus.knobs.journal import Journal
from paribus.knobs.layouts.volume import Names
from paribus.trial.devices import Devices, PinnedDevices
from paribus.trial.layouts.session import LayoutSession
from paribus.trial.target_session import Site

SSDS = [f"/dev/disk/by-id/virtio-ssd-{number}" for number in range(1, 5)]
POINT = "/var/tmp/layout"  # noqa: S108  of the sandbox


@contextlib.contextmanager
def layouts(connected: Site, disks: Sequence[str], *faulty: str) -> Iterator[LayoutSession]:
    """Layouts on these disks, which are clean at the end."""
    name = "20260101-000000-ab12"
    host = connected.host
    journal = Journal(host, connected.engine, name, disks, volatile=False)
    devices = Devices(connected, disks, PinnedDevices({}, lambda _path, _identity: None), [])
    sizes = {disk: size_bytes(host, disk) for disk in disks}
    try:
        yield LayoutSession(
            host, connected.engine, journal, devices, sizes, Names(name[-4:]), POINT, lambda: False, faulty
        )
    finally:
        journal.restore()


def assert_clean(sandbox: LabSandbox) -> None:
    """No disk of the sandbox has anything on it."""
    listed = sandbox.run("lsblk --json --output NAME,SERIAL,SIZE,FSTYPE,MOUNTPOINT")
    disks = [disk for disk in json.loads(listed)["blockdevices"] if disk["serial"] != "root"]
    assert all(disk["serial"] for disk in disks), listed
    assert len(disks) == len(sandbox.serials())
    for disk in disks:
        assert not disk.get("children"), disk
        assert not disk["fstype"], disk
        assert sandbox.run(f"wipefs --noheadings /dev/{disk['name']}") == "", disk
