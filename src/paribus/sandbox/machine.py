"""A sandbox on this machine: made, switched on and off, its power cut, a disk taken away, removed.

In: a name and a `Specification`. Out: a virtual machine that `ssh://NAME.sandbox` reaches. Its folder has everything
that belongs to it, so it outlives this process; nothing listens but on the loopback address.
"""

import base64
import contextlib
import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from paribus.errors import SandboxError, UsageError
from paribus.hosts import sandboxes
from paribus.sandbox import virtual_machine
from paribus.sandbox.image import Image, Progress, image_of, require
from paribus.sandbox.monitor import Monitor
from paribus.sandbox.specification import Disk, Specification
from paribus.sandbox.virtual_machine import Files

_BOOT_S = 300.0  # of an emulated processor on a busy machine
_END_S = 20.0
_KVM_TRIAL_S = 5.0
_PORT_ATTEMPTS = 5
_ACCESS = """Host *
    HostName 127.0.0.1
    HostKeyAlias {name}{suffix}
    Port {port}
    User root
    IdentityFile "{key}"
    IdentitiesOnly yes
    IdentityAgent none
    UserKnownHostsFile "{folder}/known_hosts"
    StrictHostKeyChecking accept-new
    LogLevel ERROR
"""


class Sandbox:
    """One virtual machine, whether or not it exists yet."""

    def __init__(self, name: str) -> None:
        """Raises UsageError for a bad name."""
        if not sandboxes.NAME.fullmatch(name):
            raise UsageError(f"{name!r} is no name of a sandbox", "use small letters, digits and -")
        self.name = name
        self.address = f"ssh://{name}{sandboxes.SUFFIX}"
        self._files = Files(sandboxes.folder() / name)

    @property
    def exists(self) -> bool:
        """Whether it was made and not removed."""
        return self._files.specification.exists()

    @property
    def is_on(self) -> bool:
        """Whether its machine runs."""
        return _runs(self._files.pid, str(self._files.monitor))

    @property
    def specification(self) -> Specification:
        """Specification of the sandbox. Raises SandboxError."""
        try:
            made = json.loads(self._files.specification.read_text(encoding="utf-8"))
            disks = tuple(Disk(**disk) for disk in made.pop("disks"))
            return Specification(disks=disks, **made | {"packages": tuple(made["packages"])})
        except FileNotFoundError as error:
            raise SandboxError(f"there is no sandbox {self.name}", "make it: paribus sandbox up") from error
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise SandboxError(f"{self._files.specification} cannot be read: {error}", self._remove()) from error

    def up(self, specification: Specification, progress: Progress) -> None:
        """Make it where it does not exist, switch it on, and wait until it can be reached. Raises SandboxError."""
        require([virtual_machine.PROGRAM, "qemu-img", "ssh-keygen", *_delay_program(specification)])
        with self._alone():
            if self.exists and self.specification != specification:
                raise SandboxError(f"the sandbox {self.name} exists, and is another machine", self._remove())
            if self.is_on:
                return
            image = image_of(specification.packages, sandboxes.folder() / ".images", progress)
            if not self.exists:
                self._make(specification, image)
            progress(f"starting {self.name}")
            self._start(specification, image)

    def cut_power(self) -> None:
        """End it from one moment to the next; what its disks have not yet been given is lost. Raises SandboxError."""
        with self._alone():
            if not self.is_on:
                raise SandboxError(f"the sandbox {self.name} is off", "switch it on: paribus sandbox up")
            self._end()

    def fail_disk(self, serial: str) -> None:
        """Take a disk away while the machine runs, until it is switched on again. Raises UsageError, SandboxError."""
        serials = [disk.serial for disk in self.specification.disks]
        if serial not in serials:
            raise UsageError(f"the sandbox {self.name} has no disk {serial}", f"it has {', '.join(serials)}")
        with Monitor(self._files.monitor) as monitor:
            device = virtual_machine.device_id(serial)
            monitor.execute("device_del", id=device)
            monitor.wait_for("DEVICE_DELETED", device)

    def down(self) -> None:
        """End it, and remove all that it had. Raises SandboxError where it does not exist."""
        with self._alone():
            if not self._files.folder.exists():
                raise SandboxError(f"there is no sandbox {self.name}", "list them: paribus sandbox status")
            self._end()
            shutil.rmtree(self._files.folder)

    def is_emulated(self) -> bool:
        """Whether its processors are emulated, so that times in it mean nothing. Raises SandboxError."""
        with Monitor(self._files.monitor) as monitor:
            return not monitor.execute("query-kvm")["enabled"]

    # --- how ---

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """While no other process changes this sandbox."""
        locks = sandboxes.folder() / ".locks"
        try:
            locks.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = (locks / self.name).open("w")
        except OSError as error:
            message = f"{locks} cannot be written: {error.strerror}"
            raise SandboxError(message, "name another folder: PARIBUS_SANDBOX=/path") from error
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _make(self, specification: Specification, image: Image) -> None:
        """Its folder; the specification is written last, so that it is there only where all else is."""
        files = self._files
        shutil.rmtree(files.folder, ignore_errors=True)
        try:
            files.folder.mkdir(mode=0o700, parents=True)
            _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", self.name, "-f", str(files.key))
            _run("qemu-img", "create", "-q", "-f", "qcow2", "-b", str(image.disk), "-F", "qcow2", str(files.root))
            for disk in specification.disks:
                with files.disk(disk).open("wb") as content:
                    content.truncate(disk.size_bytes)
            files.specification.write_text(json.dumps(asdict(specification), indent=2), encoding="utf-8")
        except OSError as error:
            message = f"the sandbox {self.name} cannot be made in {files.folder}: {error.strerror}"
            raise SandboxError(message, "name another folder: PARIBUS_SANDBOX=/path") from error

    def _start(self, specification: Specification, image: Image) -> None:
        files = self._files
        files.console.unlink(missing_ok=True)
        self._end()
        for disk in specification.disks:
            if disk.latency_s:
                files.socket(disk).unlink(missing_ok=True)
                _run(*virtual_machine.delaying(disk, files))
        accelerator = virtual_machine.KVM if _kvm_works(image.kernel, files.console) else virtual_machine.EMULATION
        public = files.key.with_suffix(".pub").read_bytes()
        key = base64.b64encode(public).decode()
        for attempt in range(1, _PORT_ATTEMPTS + 1):
            port = _free_port()
            argv = virtual_machine.arguments(specification, files, image.kernel, accelerator, key, port)
            try:
                _run(*argv)
                break
            except SandboxError as error:
                if "forwarding" not in error.message or attempt == _PORT_ATTEMPTS:
                    raise
        text = _ACCESS.format(name=self.name, suffix=sandboxes.SUFFIX, port=port, key=files.key, folder=files.folder)
        files.configuration.write_text(text, encoding="utf-8")
        self._wait()

    def _wait(self) -> None:
        """Until SSH reaches it. Raises SandboxError with the end of its console."""
        deadline = time.monotonic() + _BOOT_S
        ssh = ["ssh", "-F", str(self._files.configuration), "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"]
        while subprocess.run([*ssh, self.name, "true"], capture_output=True, check=False).returncode != 0:
            if not self.is_on or time.monotonic() > deadline:
                console = self._files.console.read_text(encoding="utf-8", errors="replace")[-1000:].strip()
                self._end()
                raise SandboxError(f"the sandbox {self.name} cannot be reached: {console}", self._remove())
            time.sleep(0.2)

    def _end(self) -> None:
        """Kill its machine, then the processes that serve its disks."""
        _kill(self._files.pid, str(self._files.monitor))
        for pid_file in self._files.folder.glob("*.nbdkit"):
            _kill(pid_file, str(self._files.folder))

    def _remove(self) -> str:
        return f"remove it: paribus sandbox down {self.name}"


def all_sandboxes() -> list[Sandbox]:
    """Every sandbox of this user, by name."""
    with contextlib.suppress(OSError):
        names = sorted(entry.name for entry in sandboxes.folder().iterdir())
        return [Sandbox(name) for name in names if sandboxes.NAME.fullmatch(name)]
    return []


def _kvm_works(kernel: Path, console: Path) -> bool:
    """Whether KVM runs this kernel; where it is nested, it may start a machine that never does anything."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    trial = subprocess.Popen(
        virtual_machine.kvm_trial(kernel, console), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + _KVM_TRIAL_S
    try:
        while trial.poll() is None and time.monotonic() < deadline:
            if console.exists() and b"Linux version" in console.read_bytes():
                return True
            time.sleep(0.05)
        return False
    finally:
        trial.kill()
        trial.wait()
        console.unlink(missing_ok=True)


def _delay_program(specification: Specification) -> list[str]:
    return ["nbdkit"] if any(disk.latency_s for disk in specification.disks) else []


def _run(*argv: str) -> None:
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        words = " ".join(done.stderr.split())[-600:]
        raise SandboxError(f"{argv[0]} failed: {words}", "correct the cause, then again: paribus sandbox up")


def _pid(file: Path, word: str) -> int | None:
    """The process of a pid file, if that process has the word among its arguments: numbers are used again."""
    try:
        pid = int(file.read_text(encoding="utf-8"))
        arguments = Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return None
    return pid if word in arguments else None


def _runs(file: Path, word: str) -> bool:
    return _pid(file, word) is not None


def _kill(file: Path, word: str) -> None:
    """Kill the process, and wait until it has ended. Raises SandboxError."""
    deadline = time.monotonic() + _END_S
    while (pid := _pid(file, word)) is not None:
        if time.monotonic() > deadline:
            raise SandboxError(f"the process {pid} does not end", f"see what it waits for: ps -o stat,wchan {pid}")
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)
    file.unlink(missing_ok=True)


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])
