"""Domains as virsh describes them, and the addresses of hypervisors."""

from collections.abc import Sequence

import pytest

from paribus.errors import BadReply, HostError, Missing, UsageError
from paribus.hosts.fake import FakeHost
from paribus.hosts.guests import domain as domains
from paribus.hosts.guests import hypervisor
from paribus.hosts.guests.hypervisor import HypervisorAddress
from paribus.hosts.transport import Completed

URI = "qemu:///system"
INFO = "Id:  1\nName:  db1\nState:  running\nPersistent:  yes\n"
XML = """<domain type='kvm' id='1'>
  <name>db1</name>
  <uuid>00E2445C-b6d1-4bd1-bc71-bb3059678503</uuid>
  <devices>
    <disk type='block' device='disk'>
      <source dev='/dev/vg0/db1' index='2'/>
      <target dev='vda' bus='virtio'/>
      <address type='pci' domain='0x0000' bus='0x04' slot='0x00' function='0x0'/>
    </disk>
    <disk type='file' device='disk'>
      <source file='/images/data.qcow2'/>{mirror}
      <target dev='sda' bus='scsi'/>
      <address type='drive' controller='1' bus='0' target='0' unit='3'/>
    </disk>
    <disk type='network' device='disk'>
      <source protocol='rbd' name='pool/db1'/>
      <target dev='vdb' bus='virtio'/>
      <address type='pci' domain='0x0000' bus='0x07' slot='0x00' function='0x0'/>
    </disk>
    <disk type='file' device='disk'>
      <source file='/images/sata.raw'/>
      <target dev='sdb' bus='sata'/>
      <address type='drive' controller='0' bus='0' target='0' unit='0'/>
    </disk>
    <controller type='scsi' index='1' model='virtio-scsi'>
      <address type='pci' domain='0x0000' bus='0x06' slot='0x00' function='0x0'/>
    </controller>
    <controller type='sata' index='0'>
      <address type='pci' domain='0x0000' bus='0x00' slot='0x1f' function='0x2'/>
    </controller>
    <controller type='pci' index='0' model='pcie-root'/>
    <controller type='pci' index='4' model='pcie-root-port'>
      <address type='pci' domain='0x0000' bus='0x00' slot='0x02' function='0x3'/>
    </controller>
    <controller type='pci' index='6' model='pcie-root-port'>
      <address type='pci' domain='0x0000' bus='0x00' slot='0x02' function='0x5'/>
    </controller>
    <controller type='pci' index='7' model='pcie-root-port'>
      <address type='pci' domain='0x0000' bus='0x00' slot='0x02' function='0x1'/>
    </controller>
  </devices>
</domain>"""


class VirshHost(FakeHost):
    """A host whose virsh has one domain."""

    name = "local"

    def __init__(self, xml: str = XML.format(mirror=""), job: str = "None", info: str = INFO) -> None:
        super().__init__({})
        self._answers = {"dominfo": info, "dumpxml": xml, "domjobinfo": f"Job type:   {job}\n"}
        self.fails: Completed | None = None

    def run(self, argv: Sequence[str], **_options: object) -> Completed:
        """Answer virsh; every other program prints nothing."""
        if "--domain" not in argv:
            return Completed(0, "", "")
        return self.fails or Completed(0, self._answers[argv[argv.index("--domain") - 1]], "")


def test_a_domain_has_its_identity_and_its_disks() -> None:
    domain = domains.read(VirshHost(), URI, "db1")
    assert (domain.name, domain.uuid) == ("db1", "00e2445c-b6d1-4bd1-bc71-bb3059678503")
    assert (domain.state, domain.job) == ("running", "")
    assert [(disk.name, disk.source) for disk in domain.disks] == [
        ("vda", "/dev/vg0/db1"),
        ("sda", "/images/data.qcow2"),
        ("vdb", ""),
        ("sdb", "/images/sata.raw"),
    ]


@pytest.mark.parametrize(
    ("folder", "disk"),
    [
        ("/sys/devices/pci0000:00/0000:00:02.3/0000:03:00.0/virtio2/block/vda", "vda"),
        ("/sys/devices/pci0000:00/0000:00:02.1/0000:04:00.0/virtio2/block/vda", "vdb"),
        ("/sys/devices/platform/4010000000.pcie/pci0000:00/0000:00:02.3/0000:01:00.0/virtio2/block/vda", "vda"),
        ("/sys/devices/pci0000:40/0000:40:02.3/0000:41:00.0/virtio2/block/vda", None),
        ("/sys/devices/pci0000:00/0000:00:02.5/0000:06:00.0/virtio4/host2/target2:0:0/2:0:0:3/block/sda", "sda"),
        ("/sys/devices/pci0000:00/0000:00:02.5/0000:06:00.0/virtio4/host2/target2:0:0/2:0:0:1/block/sdb", None),
        ("/sys/devices/pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sdb", None),
        ("/sys/devices/pci0000:00/0000:00:09.0/nvme/nvme0/nvme0n1", None),
        ("/sys/devices/virtual/block/loop0", None),
    ],
)
def test_a_device_of_the_guest_is_the_disk_with_its_address(folder: str, disk: str | None) -> None:
    found = domains.disk_of(domains.read(VirshHost(), URI, "db1"), folder)
    assert (found.name if found else None) == disk


@pytest.mark.parametrize(
    ("host", "job"),
    [
        (VirshHost(job="Unbounded"), "unbounded"),
        (VirshHost(job="Completed"), ""),
        (VirshHost(XML.format(mirror="<mirror type='file' job='copy'/>")), "block copy"),
    ],
)
def test_a_job_in_progress_is_seen(host: VirshHost, job: str) -> None:
    assert domains.read(host, URI, "db1").job == job


def test_a_size_that_virsh_does_not_tell_is_an_error() -> None:
    host = VirshHost()
    domain = domains.read(host, URI, "db1")
    host.fails = Completed(0, "Allocation:  0\n", "")
    with pytest.raises(BadReply, match="does not tell the size of vda"):
        domains.capacity_bytes(host, URI, domain, domain.disks[0])


@pytest.mark.parametrize(
    ("fails", "error", "message"),
    [
        (Completed(1, "", "error: failed to get domain 'db1'\n"), Missing, "this machine, has no domain 'db1'"),
        (Completed(127, "", "env: 'virsh': No such file"), Missing, "has no virsh"),
        (Completed(1, "", "error: failed to connect\nerror: Permission denied\n"), HostError, "Permission denied"),
        (Completed(0, "<domain>", ""), BadReply, "in a form that is not understood"),
    ],
)
def test_a_failure_names_the_cause(fails: Completed, error: type[HostError], message: str) -> None:
    host = VirshHost()
    host.fails = fails
    with pytest.raises(error, match=message):
        domains.read(host, URI, "db1")


@pytest.mark.parametrize(
    ("text", "machine", "uri"),
    [
        ("qemu:///system", "local", "qemu:///system"),
        ("qemu:///session", "local", "qemu:///session"),
        ("qemu+unix:///system?socket=/run/x/sock", "local", "qemu+unix:///system?socket=/run/x/sock"),
        ("qemu+ssh://root@kvm1:2222/system", "ssh://root@kvm1:2222", "qemu:///system"),
    ],
)
def test_an_address_names_the_machine_and_libvirt_on_it(text: str, machine: str, uri: str) -> None:
    assert hypervisor.parse(text) == HypervisorAddress(machine, uri)


@pytest.mark.parametrize("text", ["", "xen:///system", "qemu:///", "qemu+ssh:///system", "qemu+tcp://a/system"])
def test_any_other_address_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a hypervisor"):
        hypervisor.parse(text)
