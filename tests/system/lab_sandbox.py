"""The sandbox that tests share: made by the command, as a user would."""

import json
import subprocess
from collections.abc import Sequence

from command import Done, run_paribus

from paribus.hosts import sandboxes

DISKS = ("ssd:448MiB:count=4", "sas:128MiB:bus=scsi,count=3", "fast:64MiB:bus=nvme")


class LabSandbox:
    """A sandbox of the tests, on from construction until `remove`."""

    def __init__(self, name: str, disks: Sequence[str] = DISKS, packages: Sequence[str] = ()) -> None:
        """Make it and switch it on."""
        self.name = name
        self.address = f"ssh://{name}.sandbox"
        ordered = [*(("--disk", disk) for disk in disks), *(("--package", package) for package in packages)]
        self.up(*(word for pair in ordered for word in pair))

    def command(self, verb: str, *arguments: str) -> Done:
        """`paribus sandbox VERB NAME`."""
        return run_paribus("sandbox", verb, self.name, *arguments)

    def up(self, *arguments: str) -> None:
        """Switch it on; the first time its system is made from packages."""
        done = self.command("up", *arguments)
        assert done.code == 0, done.err

    @property
    def ssh(self) -> list[str]:
        """The argument list that a line of shell is appended to."""
        return ["ssh", "-F", str(sandboxes.folder() / self.name / "ssh_config"), self.name]

    def run(self, line: str) -> str:
        """Return the output of a shell command in the sandbox."""
        return subprocess.run([*self.ssh, line], check=True, stdout=subprocess.PIPE, text=True).stdout

    def serials(self) -> set[str]:
        """The serials of its present disks, without that of its system. Every device must have one."""
        listed = self.run("udevadm settle --timeout=60; lsblk --json --nodeps --output NAME,TYPE,SIZE,SERIAL")
        disks = json.loads(listed)["blockdevices"]
        assert all(disk["serial"] for disk in disks), listed
        return {disk["serial"] for disk in disks} - {"root"}

    def remove(self) -> None:
        """Remove it, in whatever state it is."""
        self.command("down")
