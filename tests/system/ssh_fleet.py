"""Machines of a fleet: an sshd each, with a host name, journals and a disk of its own. They share this kernel."""

import contextlib
import os
import signal
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path

from devices import new_loop
from ssh_target import SSH_CONFIG, configure_sshd, make_access, wait_until_reachable

_MIB = 2**20


class FleetMachine:
    """A machine that `ssh://NAME` names; `device` is its disk."""

    def __init__(self, name: str, folder: Path, port: int, device: str) -> None:
        self.name = name
        self.folder = folder
        self.device = device
        self.port = port
        configure_sshd(folder, "127.0.0.1", port, scripted=False)

    def start(self) -> None:
        """Start its sshd, under its own host name."""
        named = 'echo "$1" > /proc/sys/kernel/hostname; exec /usr/sbin/sshd -f "$2"'
        subprocess.run(
            ["unshare", "--uts", "sh", "-c", named, "sh", self.name, str(self.folder / "sshd_config")],
            check=True,
            capture_output=True,
        )

    def stop(self) -> None:
        """Refuse further connections."""
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            os.kill(int((self.folder / "sshd.pid").read_text()), signal.SIGTERM)

    def die(self) -> None:
        """SIGKILL every process of the machine, as a loss of power does, until none is left."""
        namespace = _namespace(Path("/proc", (self.folder / "sshd.pid").read_text().strip()))
        while processes := [each for each in Path("/proc").glob("[0-9]*") if _namespace(each) == namespace]:
            for process in processes:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(process.name), signal.SIGKILL)

    def configuration(self) -> str:
        """Its part of the configuration of ssh."""
        return SSH_CONFIG.format(name=self.name, address="127.0.0.1", port=self.port, folder=self.folder)


class SshFleet(contextlib.ExitStack):
    """Machines, reached by the `ssh` of `path`; they and their disks are gone when the context ends."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        super().__init__()
        folder.mkdir()
        self.machines: list[FleetMachine] = []
        configurations = []
        for name, port in zip(names, _free_ports(len(names)), strict=True):
            own = folder / name
            ssh = make_access(own, name, "127.0.0.1", port)
            device = self.enter_context(new_loop(own / "disk.img", 16 * _MIB))
            machine = FleetMachine(name, own, port, device)
            machine.start()
            self.callback(machine.stop)
            wait_until_reachable(ssh / "ssh", name)
            self.machines.append(machine)
            configurations.append(machine.configuration())
        configuration = folder / "ssh_config"
        configuration.write_text("".join(configurations))
        self.path = folder / "bin"
        self.path.mkdir()
        (self.path / "ssh").write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {configuration} "$@"\n')
        (self.path / "ssh").chmod(0o755)

    def hosts_file(self) -> Path:
        """The list of the machines, each with its disk."""
        file = self.path.parent / "hosts.toml"
        entry = '{0.name} = {{ address = "ssh://{0.name}", set.target.device = "{0.device}" }}\n'
        file.write_text("[hosts]\n" + "".join(map(entry.format, self.machines)))
        return file


def _namespace(process: Path) -> int | None:
    """The namespace of a living process's host name."""
    try:
        return (process / "ns" / "uts").stat().st_ino
    except OSError:  # it has ended, or is nobody's to look at
        return None


def _free_ports(n: int) -> list[int]:
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(n)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
