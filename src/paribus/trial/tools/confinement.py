"""Confinement of a user's tool to its folder, the plan's path, and the devices that the plan lets it destroy.

In: a tool's parameters and its argument list. Out: a refusal before it is started, and the argument list that has the
engine start it in a mount namespace where all else is read-only. Called by `tools`.
"""

import functools
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from paribus.errors import HostError, Unreachable
from paribus.hosts.transport import Host
from paribus.model import Settings, Workload
from paribus.registry import parameters_of
from paribus.trial.devices import Devices
from paribus.workloads.tool_paths import PathRefused, WrittenPath
from paribus.workloads.tools import Argv, RunRequest, tool_of

_NODES = ("null", "zero", "full", "random", "urandom", "stdin", "stdout", "stderr", "fd", "shm")
_DEVICE_WORD = re.compile(r"/dev/[^\s:,;=\"']+")


class Confinement:
    """The limits of all tools of one experiment."""

    def __init__(self, host: Host, engine: str, folder: str, target_path: str, devices: Devices) -> None:
        """`folder`: the experiment's; `target_path`: the plan's, which is writable unless it is the root."""
        self._host = host
        self._engine = engine
        self._writable = [target_path, folder] if host.resolve(target_path) != "/" else [folder]
        self._devices = devices

    @functools.cached_property
    def refused(self) -> str:
        """Reason why the target cannot make a mount namespace; empty where it can."""
        completed = self._host.run([self._engine, "confine"])
        if completed.exit_code == 0:
            return ""
        return completed.stderr.strip().partition("\n")[0] or f"exit code {completed.exit_code}"

    def confined(self, workload: Workload, settings: Settings, order: RunRequest, argv: Argv) -> Argv:
        """The argument list that starts the program confined, where the target can.

        Raises HostError where the tool would write to anything else, and Unreachable.
        """
        try:
            devices = self.check(workload, settings, order, argv)
        except Unreachable:
            raise
        except HostError as error:
            raise HostError(f"workload {workload.plan_name}: {error.message}", error.todo) from error
        if self.refused:
            return argv
        writable = [f"--writable={path}" for path in self._writable if self._host.names(path)]
        # A private /tmp hides what an argument names there.
        tmp_paths = {part for word in argv for part in (word, word.partition("=")[2]) if part.startswith("/tmp/")}  # noqa: S108
        if order.server and order.server.socket:
            tmp_paths.add(str(PurePosixPath(order.server.socket).parent))
        readable = [f"--readable={word}" for word in sorted(tmp_paths)]
        named = [json.dumps({"path": path, "identity": dict(self._devices.identity(path))}) for path in devices]
        options = [*writable, *readable, *(f"--device={device}" for device in named)]
        return [self._engine, "confine", *options, "--", *argv]

    def check(self, workload: Workload, settings: Settings, order: RunRequest, argv: Argv) -> list[str]:
        """The block devices that the program names, each of which may be destroyed.

        Raises HostError where the program would write to anything else.
        """
        tool = tool_of(workload)
        assert tool is not None
        try:
            written = list(tool.written_paths(parameters_of(workload, settings), order, self._host.read))
            devices = list(dict.fromkeys([*self._devices_of(written), *_device_words(argv)]))
        except PathRefused as error:
            raise HostError(str(error), error.todo) from error
        for device in devices:
            self._devices.check(device, written=True)
        return devices

    def _devices_of(self, written: Iterable[WrittenPath]) -> Iterator[str]:
        """The paths of devices. Raises PathRefused for a path outside the writable folders."""
        roots = [PurePosixPath(self._host.resolve(path)) for path in self._writable]
        for entry in written:
            path = PurePosixPath(self._host.resolve(entry.path))
            if path.is_relative_to("/dev") and len(path.parts) > 2:
                yield entry.path  # the link itself, so that its later redirection is detected
            elif not any(path.is_relative_to(root) for root in roots):
                allowed = " or ".join(self._writable)
                reason = f"it leads to {path}, outside of {allowed}"
                todo = "name a path there, or a device that target.may_destroy names"
                raise PathRefused(entry.option, entry.value, reason, todo)


def _device_words(argv: Argv) -> Iterator[str]:
    """The paths below /dev in arguments, except for harmless nodes."""
    for word in argv:
        for path in _DEVICE_WORD.findall(word):
            if PurePosixPath(path).parts[2] not in _NODES:
                yield path
