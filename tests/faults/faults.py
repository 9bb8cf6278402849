"""What can happen to an experiment: every fault strikes at a random moment, and is mended before the next."""

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from laboratory import Laboratory, Where

Process = "subprocess.Popen[str]"
Strike = Callable[[Laboratory, "subprocess.Popen[str]", random.Random], None]
Mend = Callable[[Laboratory], None]


def _nothing(_: Laboratory) -> None:
    """There is nothing to mend."""


@dataclass(frozen=True)
class Fault:
    """One sort of fault; `share` is how often it is chosen, `longest_s` the latest moment at which it strikes."""

    name: str
    where: Where
    strike: Strike
    mend: Mend = field(default=_nothing)
    share: int = 4
    longest_s: float = 3.5


def _kill(*numbers: int) -> None:
    for number in numbers:
        try:
            os.kill(number, signal.SIGKILL)
        except ProcessLookupError:
            continue


def _children(pid: int) -> list[int]:
    found = subprocess.run(["pgrep", "--parent", str(pid)], capture_output=True, text=True, check=False)
    return [int(one) for one in found.stdout.split()]


def _signal(*numbers: int) -> Strike:
    def strike(_: Laboratory, process: "subprocess.Popen[str]", rng: random.Random) -> None:
        for number in numbers:
            process.send_signal(number)
            time.sleep(rng.uniform(0, 0.05))

    return strike


def _controller(_: Laboratory, process: "subprocess.Popen[str]", __: random.Random) -> None:
    _kill(process.pid)


def _everything(_: Laboratory, process: "subprocess.Popen[str]", __: random.Random) -> None:
    """The keeper first, so that it has no time to put anything back."""
    children = _children(process.pid)
    _kill(*children, process.pid)


def _engine(verb: str) -> Strike:
    """One of the engine's processes, as soon as there is one."""

    def strike(lab: Laboratory, process: "subprocess.Popen[str]", _: random.Random) -> None:
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline and process.poll() is None:
            if found := lab.processes(verb):
                return _kill(*found)
            time.sleep(0.002)
        return None

    return strike


def _ssh(_: Laboratory, process: "subprocess.Popen[str]", rng: random.Random) -> None:
    """One of the controller's own ssh."""
    if children := _children(process.pid):
        _kill(rng.choice(children))


def _connections(lab: Laboratory, _: "subprocess.Popen[str]", __: random.Random) -> None:
    lab.target.kill_connections()


def _link(longest_s: float) -> Strike:
    def strike(lab: Laboratory, _: "subprocess.Popen[str]", rng: random.Random) -> None:
        lab.target.cut_link()
        time.sleep(rng.uniform(0.2, longest_s))
        lab.target.mend_link()

    return strike


def _fill(disk: str) -> Strike:
    return lambda lab, _process, _rng: lab.disks[disk].fill()


def _break(disk: str) -> Strike:
    return lambda lab, _process, _rng: lab.disks[disk].break_()


def _whole(disk: str) -> Mend:
    return lambda lab: lab.disks[disk].mend()


def _disk_faults() -> list[Fault]:
    return [
        Fault(f"{what} under the {disk}", "here", strike(disk), _whole(disk))
        for disk in ("store", "journal", "data")
        for what, strike in (("disk full", _fill), ("I/O errors", _break))
    ]


FAULTS = [
    Fault("SIGKILL of the controller", "here", _controller, share=12),
    Fault("SIGKILL of everything", "here", _everything, share=12),
    Fault("SIGKILL of the load engine", "here", _engine("run"), share=6),
    Fault("SIGKILL of the sampler", "here", _engine("sample")),
    Fault("SIGKILL of the keeper", "here", _engine("journal"), share=6),
    Fault("SIGTERM", "here", _signal(signal.SIGTERM)),
    Fault("SIGHUP", "here", _signal(signal.SIGHUP)),
    Fault("Ctrl-C three times", "here", _signal(signal.SIGINT, signal.SIGINT, signal.SIGINT)),
    *_disk_faults(),
    Fault("SIGKILL of the controller", "there", _controller, share=6, longest_s=8),
    Fault("SIGKILL of everything on the controller", "there", _everything, share=6, longest_s=8),
    Fault("SIGKILL of the load engine", "there", _engine("run"), longest_s=8),
    Fault("SIGKILL of the keeper", "there", _engine("journal"), longest_s=8),
    Fault("SIGKILL of one ssh", "there", _ssh, share=8, longest_s=8),
    Fault("SIGKILL of sshd's connections", "there", _connections, share=8, longest_s=8),
    Fault("link down for a moment", "there", _link(3.0), longest_s=8),
    Fault("link down until the target is alone", "there", _link(40.0), share=2, longest_s=8),
]
