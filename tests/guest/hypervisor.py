"""A libvirt daemon of the tests' own, and a guest of it that is reached over SSH.

The daemon runs in a mount namespace with folders of its own, so that it disturbs no other and needs no systemd. The
guest is of the type `qemu`, since this class of machine offers no virtualisation; its disk is a block device of this
machine, with ext4 for the data.
"""

import contextlib
import os
import re
import signal
import subprocess
import uuid
from pathlib import Path

from ssh_target import make_access, wait_until_reachable
from waiting import wait_for

from guest.image import Image, command
from guest.target import PACKAGES, contents, free_port

PROGRAMS = ("libvirtd", "virsh", "qemu-system-x86_64")
_FOLDERS = ("etc/libvirt", "var/lib/libvirt", "var/cache/libvirt", "var/log/libvirt", "run/libvirt")
# libvirt looks up this user before it reads which it shall use; only Debian's package for systemd creates it.
_ACCOUNTS = {
    "etc/passwd": "libvirt-qemu:x:64055:64055::/nonexistent:/usr/sbin/nologin\n",
    "etc/group": "libvirt-qemu:x:64055:\n",
}
_QEMU_CONF = """
user = "root"
group = "root"
security_driver = "none"
namespaces = []
stdio_handler = "file"
"""
_LIBVIRTD_CONF = """
unix_sock_dir = "{sockets}"
auth_unix_rw = "none"
auth_unix_ro = "none"
log_outputs = "2:file:{folder}/log"
"""
_DOMAIN = """
<domain type="qemu" xmlns:qemu="http://libvirt.org/schemas/domain/qemu/1.0">
  <name>{name}</name>
  <uuid>{uuid}</uuid>
  <memory unit="MiB">256</memory>
  <vcpu>2</vcpu>
  <os>
    <type arch="x86_64" machine="pc">hvm</type>
    <kernel>{kernel}</kernel>
    <initrd>{initramfs}</initrd>
    <cmdline>console=ttyS0 rdinit=/init panic=-1</cmdline>
  </os>
  <features><acpi/></features>
  <cpu mode="maximum"/>
  <on_reboot>destroy</on_reboot>
  <devices>
    <emulator>/usr/bin/qemu-system-x86_64</emulator>
    <disk type="block" device="disk">
      <driver name="qemu" type="raw" cache="none"/>
      <source dev="{disk}"/>
      <target dev="vda" bus="virtio"/>
    </disk>
    <serial type="file"><source path="{console}"/></serial>
    <memballoon model="none"/>
  </devices>
  <qemu:commandline>
    <qemu:arg value="-netdev"/>
    <qemu:arg value="user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{port}-:22"/>
    <qemu:arg value="-device"/>
    <qemu:arg value="virtio-net-pci,netdev=net,romfile=,addr=0x10"/>
  </qemu:commandline>
</domain>
"""


class Hypervisor:
    """The daemon, and its guest `db1`, which runs. `ssh://db1` names that for an ssh found first in `path`."""

    name = "db1"
    address = "ssh://db1"
    data = "/data/target"

    def __init__(self, folder: Path, disk: str) -> None:
        """Start the daemon, and define and boot the guest with this disk, whose content is lost."""
        self._folder = folder
        folder.mkdir()
        self._prepare_daemon()
        port = free_port()
        self.path = make_access(folder / "access", self.name, "127.0.0.1", port)
        image = Image(PACKAGES, folder, contents(folder / "access"))
        command("mkfs.ext4", "-q", disk)
        definition = _DOMAIN.format(
            name=self.name,
            uuid=uuid.uuid4(),
            kernel=image.kernel.resolve(),
            initramfs=image.initramfs,
            disk=disk,
            console=folder / "console",
            port=port,
        )
        self.virsh("define", "/dev/stdin", input=definition)
        self.boot()

    def _prepare_daemon(self) -> None:
        sockets = self._folder / "sockets"
        sockets.mkdir()
        self.uri = f"qemu+unix:///system?socket={sockets}/libvirt-sock"
        mounts = []
        for name in _FOLDERS:
            (self._folder / name).mkdir(parents=True)
            Path(f"/{name}").mkdir(parents=True, exist_ok=True)
            mounts.append(f"mount --bind {self._folder}/{name} /{name}")
        for name, line in _ACCOUNTS.items():
            (self._folder / name).write_text(Path(f"/{name}").read_text() + line)
            mounts.append(f"mount --bind {self._folder}/{name} /{name}")
        (self._folder / "etc/libvirt/qemu.conf").write_text(_QEMU_CONF)
        configuration = self._folder / "libvirtd.conf"
        configuration.write_text(_LIBVIRTD_CONF.format(sockets=sockets, folder=self._folder))
        daemon = f"exec libvirtd -d -f {configuration} -p {self._folder}/pid"
        self._script = "\n".join([*mounts, daemon])
        self.start_daemon()

    def start_daemon(self) -> None:
        """Start the daemon, which finds the guest that runs."""
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-ec", self._script],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        wait_for(lambda: self.virsh_code("version") == 0, "libvirt answers")

    def kill_daemon(self) -> None:
        """End the daemon from one moment to the next; the guest runs on."""
        pid = int((self._folder / "pid").read_text())
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: not Path(f"/proc/{pid}").exists(), "the daemon ends")

    def virsh(self, *words: str | Path, **options: object) -> str:
        """Run virsh on this daemon; its output."""
        return command("virsh", "--quiet", "--connect", self.uri, *words, **options)

    def virsh_code(self, *words: str) -> int:
        """The exit code of virsh on this daemon."""
        return subprocess.run(["virsh", "--connect", self.uri, *words], capture_output=True, check=False).returncode

    def boot(self) -> None:
        """Switch the guest on, and wait until it can be reached."""
        self.virsh("start", self.name)
        wait_until_reachable(self.path / "ssh", self.name, attempts=600)

    def cut_power(self) -> None:
        """End the guest from one moment to the next."""
        self.virsh("destroy", self.name)

    def answers(self) -> bool:
        """Whether the guest can be reached."""
        argv = [self.path / "ssh", "-o", "ConnectTimeout=2", self.name, "true"]
        return subprocess.run(argv, capture_output=True, check=False).returncode == 0

    def definitions(self) -> tuple[str, ...]:
        """The guest's definitions, for its next start and as it runs, and its state."""
        later = self.virsh("dumpxml", "--inactive", "--security-info", self.name)
        live = self.virsh("dumpxml", self.name).splitlines()
        return later, self.virsh("domstate", self.name), *live[1:]  # the first line has a number that counts up

    def cache_mode(self) -> str:
        """The cache mode of the disk, in the definition of the running guest."""
        match = re.search(r"cache=['\"](\w+)", self.virsh("dumpxml", self.name))
        return match[1] if match else ""

    def run(self, line: str) -> str:
        """Return the output of a shell command in the guest."""
        return command(self.path / "ssh", self.name, line)

    def remove(self) -> None:
        """End the guest and the daemon."""
        with contextlib.suppress(subprocess.CalledProcessError):
            self.virsh("destroy", self.name, stderr=subprocess.DEVNULL)
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            os.kill(int((self._folder / "pid").read_text()), signal.SIGTERM)
