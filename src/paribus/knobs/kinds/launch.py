"""A condition that the load or the server is started with, such as its NUMA policy; the machine stays as it is.

Addresses: the engine's option that asks for it, in one or two words.
"""

import shlex

from paribus.knobs.catalog import SERVER
from paribus.knobs.kinds import startup
from paribus.knobs.kinds.kind import Holder, knob_kinds
from paribus.knobs.kinds.workload_parameter import ExternalKind
from paribus.model import Knob, ProcessState, Value
from paribus.registry import DATABASE_DEFAULT

KIND = "launch"
_LIMITS = {"nofile": "LimitNOFILE", "memlock": "LimitMEMLOCK"}


class LaunchKind(ExternalKind):
    """Set by the program that starts the process."""

    holder: Holder = "process"

    def engine_options(self, knob: Knob, value: Value) -> tuple[str, ...]:
        """The engine's options that ask for the value."""
        if value == DATABASE_DEFAULT:
            return ()
        option, *name = knob.addresses
        return (option, f"{''.join(name)}{value}")

    def of_process(self, knob: Knob, value: Value, process: ProcessState) -> Value:
        """Return the kernel's value for the process; `value` itself where that is the same in other words."""
        name = knob.name.rpartition(".")[2]
        if value == DATABASE_DEFAULT:
            return value
        if name == "cpus":
            different = [cpus for cpus in process.cpus if _numbers(cpus) != _numbers(str(value))]
            return different[0] if different else value
        if name == "numa":
            return _policy_of(process, str(value))
        limit = process.nofile if name == "nofile" else process.memlock
        return value if limit == str(value) else limit or "unknown"

    def set_by_hand(self, knob: Knob, value: Value) -> str:
        """The shell line that starts a process with it."""
        command = "supervise" if knob.subject == SERVER else "run"
        return shlex.join(["paribus-engine", command, *self.engine_options(knob, value)])

    def check_by_hand(self, knob: Knob) -> str:  # noqa: ARG002
        """The shell line that shows it of a process."""
        return "cat /proc/PID/status /proc/PID/limits /proc/PID/numa_maps"

    def persist_by_hand(self, knob: Knob, value: Value) -> str:
        """The settings with which systemd starts a service."""
        return startup.service(*_service_settings(knob.name.rpartition(".")[2], str(value)))


def _policy_of(process: ProcessState, requested: str) -> str:
    """The policy of a process: as requested where that is in force, else in the kernel's words."""
    if process.numa is None:
        return "unknown"
    mode, _, nodes = process.numa.partition(":")
    requested_mode, _, requested_nodes = requested.partition(":")
    mode = "preferred" if mode.startswith("prefer") and requested_mode != "local" else mode
    if requested_mode == "local" and process.numa in ("prefer", "local"):  # older kernels call it so
        return requested
    same_nodes = not requested_nodes or _numbers(nodes) == _numbers(requested_nodes)
    return requested if mode == requested_mode and same_nodes else process.numa


def _numbers(text: str) -> set[int]:
    """The numbers of a list such as `0-2,5`."""
    parts = (part.partition("-") for part in text.split(",") if part)
    return {number for first, _, last in parts for number in range(int(first), int(last or first) + 1)}


def _service_settings(name: str, value: str) -> list[str]:
    if name == "numa":
        policy, _, nodes = value.partition(":")
        mask = nodes or ("all" if policy == "interleave" else "")
        return [f"NUMAPolicy={policy}", *([f"NUMAMask={mask}"] if mask else [])]
    is_default = value == DATABASE_DEFAULT
    if name == "cpus":
        return [f"CPUAffinity={'' if is_default else value}"]
    return [f"{_LIMITS[name]}={'' if is_default else 'infinity' if value == 'unlimited' else value}"]


knob_kinds.register(KIND, LaunchKind())
