"""A condition that the process under test is started with, such as its NUMA policy; the machine stays as it is.

Addresses: the engine's option that asks for it, in one or two words.
"""

from paribus.knobs.kinds import startup
from paribus.knobs.kinds.workload_parameter import Elsewhere
from paribus.model import Knob, Value
from paribus.registry import LEFT_TO_IT, knob_kinds

KIND = "launch"
_LIMITS = {"nofile": "LimitNOFILE", "memlock": "LimitMEMLOCK"}


class Launch(Elsewhere):
    """Taken by whatever starts the process."""

    def persist_by_hand(self, knob: Knob, value: Value) -> str:
        """What systemd starts a service with."""
        return startup.service(*_of_a_service(knob.name.rpartition(".")[2], str(value)))


def _of_a_service(name: str, value: str) -> list[str]:
    if name == "numa":
        policy, _, nodes = value.partition(":")
        mask = nodes or ("all" if policy == "interleave" else "")
        return [f"NUMAPolicy={policy}", *([f"NUMAMask={mask}"] if mask else [])]
    left = value == LEFT_TO_IT
    if name == "cpus":
        return [f"CPUAffinity={'' if left else value}"]
    return [f"{_LIMITS[name]}={'' if left else 'infinity' if value == 'unlimited' else value}"]


def arguments(knob: Knob, value: Value) -> tuple[str, ...]:
    """The engine's options that ask for the value."""
    if value == LEFT_TO_IT:
        return ()
    option, *name = knob.addresses
    return (option, f"{''.join(name)}{value}")


knob_kinds.register(KIND, Launch())
