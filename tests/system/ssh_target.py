"""A machine to reach over SSH: a real sshd in a network namespace, at the other end of a link that can be cut.

It shares this kernel and its file systems, so that what is done there can be looked at from here.
"""

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

NETWORK = f"10.213.{os.getpid() % 256}"  # of this process, since others may test on this machine too
HERE, THERE = f"{NETWORK}.1", f"{NETWORK}.2"

SSHD_CONFIG = """
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/user_key.pub
PidFile {folder}/sshd.pid
PermitRootLogin yes
PasswordAuthentication no
UsePAM no
StrictModes no
ListenAddress {address}
Port {port}
# With SHLVL bash does not read what the person who tests has in .bashrc, once for each command.
SetEnv PARIBUS_STATE={folder}/state PARIBUS_REGISTER={folder}/register XDG_CACHE_HOME={folder}/cache SHLVL=1
MaxStartups 100
"""
SCRIPTED = "ForceCommand {folder}/shell\n"
HONEST = 'exec sh -c "$SSH_ORIGINAL_COMMAND"'

SSH_CONFIG = """
Host {name}
    HostName {address}
    Port {port}
    User root
    IdentityFile {folder}/user_key
    IdentitiesOnly yes
    UserKnownHostsFile {folder}/known_hosts
    StrictHostKeyChecking accept-new
"""


def _run(*argv: str) -> None:
    subprocess.run(argv, check=True, capture_output=True)


def make_access(folder: Path, name: str, address: str, port: int) -> Path:
    """Keys of a host and of its user, and a folder with an `ssh` that knows both, to be found first in PATH."""
    folder.mkdir(exist_ok=True)
    for key in ("host_key", "user_key"):
        _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key))
    (folder / "ssh_config").write_text(SSH_CONFIG.format(name=name, address=address, port=port, folder=folder))
    ssh = folder / "bin" / "ssh"  # stands for the user's own configuration
    ssh.parent.mkdir()
    ssh.write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {folder}/ssh_config "$@"\n')
    ssh.chmod(0o755)
    return ssh.parent


def configure_sshd(folder: Path, address: str, port: int, *, scripted: bool) -> None:
    """Write the configuration of an sshd; a scripted one answers commands by the script that `answer` writes."""
    text = SSHD_CONFIG + (SCRIPTED if scripted else "")
    (folder / "sshd_config").write_text(text.format(folder=folder, address=address, port=port))
    Path("/run/sshd").mkdir(exist_ok=True)


def answer(folder: Path, script: str, *, to: str = "") -> None:
    """Answer commands that contain a text by a script in sh; all others honestly."""
    shell = folder / "shell"
    lines = [f'case "$SSH_ORIGINAL_COMMAND" in *"{to}"*)', script, ";; esac", HONEST]
    shell.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    shell.chmod(0o755)


def wait_until_reachable(ssh: Path, name: str, attempts: int = 100) -> None:
    """Until a command can be run there."""
    for _ in range(attempts):
        if subprocess.run([ssh, name, "true"], capture_output=True, check=False).returncode == 0:
            return
        time.sleep(0.1)
    raise AssertionError("sshd cannot be reached")


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _is_alive(pid: int, begins: str) -> bool:
    """Whether a process of such a name runs; what only waits to be reaped does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    name, _, state = stat.partition(" (")[2].rpartition(") ")
    return name.startswith(begins) and state[0] not in "ZX"


class SshTarget:
    """The target and the link to it. `ssh://target` names it for an ssh that is found first in `path`."""

    address = "ssh://target"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state = folder / "state"
        self._namespace = f"paribus-{os.getpid()}"
        self._link = f"cet{os.getpid() % 100000}"
        self.path = make_access(folder, "target", THERE, 22)
        configure_sshd(folder, THERE, 22, scripted=False)
        _run("ip", "netns", "add", self._namespace)
        _run("ip", "link", "add", self._link, "type", "veth", "peer", "name", "there", "netns", self._namespace)
        _run("ip", "address", "add", f"{HERE}/30", "dev", self._link)
        self._there("ip", "address", "add", f"{THERE}/30", "dev", "there")
        self._there("ip", "link", "set", "lo", "up")  # by which it reaches its own addresses
        self._there("ip", "link", "set", "there", "up")
        self.mend_link()
        self.start_sshd()

    def _there(self, *argv: str) -> None:
        # Not `ip netns exec`, which also takes a copy of all mounts, and keeps them from being unmounted.
        _run("nsenter", f"--net=/run/netns/{self._namespace}", *argv)

    def start_sshd(self) -> None:
        """Start it, and wait until it can be reached."""
        self._there("/usr/sbin/sshd", "-f", str(self.folder / "sshd_config"))
        wait_until_reachable(self.path / "ssh", "target")
        self._listening = int((self.folder / "sshd.pid").read_text())

    def answer(self, script: str) -> None:
        """Answer every command by a script in sh, from the next connection on."""
        answer(self.folder, script)
        self._reconfigure(scripted=True)

    def answer_honestly(self) -> None:
        """Run the commands again."""
        answer(self.folder, HONEST)  # for connections that sshd began before
        self._reconfigure(scripted=False)
        wait_until_reachable(self.path / "ssh", "target")

    def _reconfigure(self, *, scripted: bool) -> None:
        configure_sshd(self.folder, THERE, 22, scripted=scripted)
        os.kill(self._listening, signal.SIGHUP)

    def kill_connections(self) -> None:
        """SIGKILL the sshd of every connection; the one that listens stays."""
        for pid in self._pids("sshd"):
            _kill(pid)

    def kill_all(self) -> None:
        """SIGKILL every process there but the sshd that listens, until none is left: one may have been starting."""
        while pids := self._pids(""):
            for pid in pids:
                _kill(pid)

    def _pids(self, begins: str) -> list[int]:
        """The living processes there whose names begin so, but for the sshd that listens."""
        command = ["ip", "netns", "pids", self._namespace]
        pids = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        return [pid for pid in map(int, pids) if pid != self._listening and _is_alive(pid, begins)]

    def engines(self) -> list[str]:
        """The command lines of the engines that run there."""
        found = subprocess.run(
            ["pgrep", "--full", "--list-full", f"^{self.folder}/cache"], capture_output=True, text=True, check=False
        )
        return found.stdout.splitlines()

    def cut_link(self) -> None:
        """No packet passes any more, and nobody is told."""
        _run("ip", "link", "set", self._link, "down")

    def mend_link(self) -> None:
        """Packets pass."""
        _run("ip", "link", "set", self._link, "up")

    def remove(self) -> None:
        """End all that runs there, and take the link away."""
        pids = subprocess.run(["ip", "netns", "pids", self._namespace], capture_output=True, text=True, check=False)
        for pid in pids.stdout.split():
            subprocess.run(["kill", "-9", pid], check=False, capture_output=True)
        subprocess.run(["ip", "link", "del", self._link], check=False, capture_output=True)
        subprocess.run(["ip", "netns", "del", self._namespace], check=False, capture_output=True)
