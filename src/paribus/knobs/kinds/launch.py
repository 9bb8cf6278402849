"""A condition that the process under test is started with, such as its NUMA policy; the machine stays as it is.

Addresses: the engine's option that asks for it, in one or two words.
"""

import shlex

from paribus.knobs.kinds import startup
from paribus.knobs.kinds.kind import Holder, knob_kinds
from paribus.knobs.kinds.workload_parameter import ExternalKind
from paribus.model import Knob, Value
from paribus.registry import DATABASE_DEFAULT

KIND = "launch"
_LIMITS = {"nofile": "LimitNOFILE", "memlock": "LimitMEMLOCK"}


class LaunchKind(ExternalKind):
    """Set by the program that starts the process."""

    holder: Holder = "load"

    def engine_options(self, knob: Knob, value: Value) -> tuple[str, ...]:
        """The engine's options that ask for the value."""
        if value == DATABASE_DEFAULT:
            return ()
        option, *name = knob.addresses
        return (option, f"{''.join(name)}{value}")

    def set_by_hand(self, knob: Knob, value: Value) -> str:
        """The shell line that starts a load with it."""
        return shlex.join(["paribus-engine", "run", *self.engine_options(knob, value)])

    def check_by_hand(self, knob: Knob) -> str:  # noqa: ARG002
        """The shell line that shows it of a process."""
        return "cat /proc/PID/status /proc/PID/limits /proc/PID/numa_maps"

    def persist_by_hand(self, knob: Knob, value: Value) -> str:
        """The settings with which systemd starts a service."""
        return startup.service(*_service_settings(knob.name.rpartition(".")[2], str(value)))


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
