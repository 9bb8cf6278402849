"""A virtual machine over SSH whose power can be cut, with its own kernel, disk and settings.

Its disk is ext4 on a device with a volatile cache; journals, the pushed engine and the data of experiments lie there.
Each boot sets other values by hand, as a file in sysctl.d would, so a wrongly restored value of an earlier boot is
detected.
"""

import io
import itertools
import shutil
import socket
import subprocess
import tarfile
from pathlib import Path

from ssh_target import make_access

from guest.image import DISK_MODULES, Contents, Image, command
from guest.machine import PROGRAMS, Machine
from paribus.engine.find import binary

PACKAGES = Path(__file__).resolve().parents[2] / "artefacts/guest"
DISK_BYTES = 256 << 20
SETTINGS = "grep -rs '' /sys/block/vda/queue /proc/sys/vm/swappiness /proc/sys/vm/compaction_proactiveness"

SSHD_CONFIG = """
HostKey /etc/host_key
AuthorizedKeysFile /etc/authorized
PermitRootLogin yes
PasswordAuthentication no
UsePAM no
UseDNS no
StrictModes no
SetEnv PARIBUS_STATE=/data/state PARIBUS_REGISTER=/data/register XDG_CACHE_HOME=/data/cache
MaxStartups 100
"""
USERS = "root:x:0:0:root:/root:/bin/sh\nsshd:x:100:65534:sshd:/run/sshd:/bin/false\n"


class GuestTarget:
    """The guest and its power. `ssh://guest` names it for an ssh that is found first in `path`."""

    address = "ssh://guest"
    device = "/dev/vda"
    data = "/data/target"

    def __init__(self, folder: Path) -> None:
        """Make it and boot it for the first time."""
        if missing := [name for name in (*PROGRAMS, "apt-get", "dpkg-deb") if shutil.which(name) is None]:
            raise RuntimeError(f"a guest needs {' and '.join(missing)}")
        self._port = free_port()
        self.path = make_access(folder, "guest", "127.0.0.1", self._port)
        self._image = Image(PACKAGES, folder, contents(folder))
        self._disk = folder / "disk"
        with self._disk.open("wb") as disk:
            disk.truncate(DISK_BYTES)
        command("mkfs.ext4", "-q", self._disk)
        self._boots = itertools.count()
        self.boot()

    def boot(self) -> None:
        """Switch it on, and wait until it can be reached."""
        self._by_hand = {"/proc/sys/vm/swappiness": str(70 + next(self._boots) % 30)}
        sysctl = " ".join(f"sysctl.{path.removeprefix('/proc/sys/')}={value}" for path, value in self._by_hand.items())
        network = f"user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{self._port}-:22"
        card = "virtio-net-pci,netdev=net,romfile="
        self._machine = Machine(self._image, self._disk, "-netdev", network, "-device", card, parameters=sysctl)
        self._machine.wait_until_it_says("sshd listens")
        self.is_on = True

    def cut_power(self) -> None:
        """From one moment to the next; what its disk has not promised to keep is gone."""
        self._machine.__exit__()
        self.is_on = False

    def run(self, line: str) -> str:
        """Return the output of a shell command in the guest."""
        return command(self.path / "ssh", "guest", line)

    def settings(self) -> dict[str, str]:
        """Every setting of the disk, and the sysctls of the plan, as they are now."""
        return dict(line.partition(":")[::2] for line in self.run(SETTINGS).splitlines())

    def texts(self, folder: str) -> dict[str, str]:
        """The files of a folder in the guest, with their paths; none where there is no such folder."""
        line = f"test ! -e {folder} || tar -c -C / {folder.lstrip('/')}"
        packed = subprocess.run([self.path / "ssh", "guest", line], check=True, stdout=subprocess.PIPE).stdout
        if not packed:
            return {}
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            files = [(member.name, archive.extractfile(member)) for member in archive if member.isfile()]
            return {f"/{name}": file.read().decode() for name, file in files if file}

    def by_hand(self) -> dict[str, str]:
        """Of those, what this boot has set to a value of its own."""
        return dict(self._by_hand)

    def remove(self) -> None:
        """Switch it off for good."""
        self._machine.__exit__()


def contents(folder: Path) -> Contents:
    """The initramfs of a guest whose sshd has the keys of this folder."""
    helpers = Path("/usr/lib/openssh").glob("sshd-*")  # newer releases of sshd are several programs
    return Contents(
        init=Path(__file__).with_name("init"),
        programs={str(path): path for path in (Path("/usr/sbin/sshd"), *helpers)},
        later=(Path(binary()),),
        modules=(*DISK_MODULES, "virtio_net", "bfq", "kyber_iosched", "loop", "button", "evdev"),
        files={
            "/etc/passwd": USERS,
            "/etc/group": "root:x:0:\nnogroup:x:65534:\n",
            "/etc/nsswitch.conf": "passwd: files\ngroup: files\n",
            "/etc/sshd_config": SSHD_CONFIG,
            "/etc/host_key": (folder / "host_key").read_text(),
            "/etc/authorized": (folder / "user_key.pub").read_text(),
        },
    )


def free_port() -> int:
    """A port of this machine that nothing listens on."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])
