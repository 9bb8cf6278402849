"""What can happen to an experiment: every fault strikes at a random moment, and is mended before the next."""

import contextlib
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import attacks
from forked import Forked
from laboratory import Laboratory, Where, pause

Strike = Callable[[Laboratory, Forked, random.Random], bool]  # whether it met something to hurt
Mend = Callable[[Laboratory], None]


def _nothing(_: Laboratory) -> None:
    """There is nothing to mend."""


@dataclass(frozen=True)
class Fault:
    """One sort of fault; `share` is how often it is chosen, `longest_s` the latest moment at which it strikes.

    `hopeless`: until it is mended `paribus undo` cannot restore everything, or look at a target, and has to say so
    with exit code 4.
    """

    name: str
    where: Where
    strike: Strike
    mend: Mend = field(default=_nothing)
    share: int = 4
    longest_s: float = 2.5
    hopeless: bool = False


def _kill(*numbers: int) -> bool:
    """SIGKILL all of them; whether there was one."""
    for number in numbers:
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    return bool(numbers)


def _children(pid: int) -> list[int]:
    found = subprocess.run(["pgrep", "--parent", str(pid)], capture_output=True, text=True, check=False)
    return [int(one) for one in found.stdout.split()]


def _signal(*numbers: int) -> Strike:
    def strike(_: Laboratory, process: Forked, rng: random.Random) -> bool:
        for number in numbers:
            process.send_signal(number)
            time.sleep(rng.uniform(0, 0.05))
        return True

    return strike


def _controller(_: Laboratory, process: Forked, __: random.Random) -> bool:
    return _kill(process.pid)


def _everything(_: Laboratory, process: Forked, __: random.Random) -> bool:
    """The keeper first, so that it has no time to put anything back."""
    return _kill(*_children(process.pid), process.pid)


def _keeper_and_controller(lab: Laboratory, process: Forked, _: random.Random) -> bool:
    """Without a keeper nobody puts anything back there, without a controller nobody asks for it."""
    keepers = lab.processes("journal")
    return _kill(*keepers, process.pid)


def _while_changed(where: Where, strike: Strike, longest_s: float = 0.3) -> Strike:
    """Mostly up to `longest_s` after the first setting: only then is something left that `undo` has to restore."""

    def later(lab: Laboratory, process: Forked, rng: random.Random) -> bool:
        if rng.random() < 0.8:
            while not lab.is_changed(where) and process.poll() is None:
                time.sleep(0.005)
            pause(rng, process, longest_s)
        return process.poll() is None and strike(lab, process, rng)

    return later


def _engine(verb: str) -> Strike:
    """One of the engine's processes, as soon as there is one."""

    def strike(lab: Laboratory, process: Forked, _: random.Random) -> bool:
        while process.poll() is None:
            if found := lab.processes(verb):
                return _kill(*found)
            time.sleep(0.002)
        return False

    return strike


def _ssh(_: Laboratory, process: Forked, rng: random.Random) -> bool:
    """One of the controller's own ssh."""
    children = _children(process.pid)
    return bool(children) and _kill(rng.choice(children))


def _connections(lab: Laboratory, _: Forked, __: random.Random) -> bool:
    lab.target.kill_connections()
    return True


def _link(longest_s: float) -> Strike:
    def strike(lab: Laboratory, _: Forked, rng: random.Random) -> bool:
        lab.target.cut_link()
        time.sleep(rng.uniform(0.2, longest_s))
        lab.target.mend_link()
        return True

    return strike


def _power(lab: Laboratory, _: Forked, rng: random.Random) -> bool:
    """The controller tries to reach it all the while."""
    lab.guest.cut_power()
    time.sleep(rng.uniform(0, 5))
    lab.guest.boot()
    return True


def _power_and_controller(lab: Laboratory, process: Forked, _: random.Random) -> bool:
    lab.guest.cut_power()
    return _kill(process.pid)


def _on(lab: Laboratory) -> None:
    if not lab.guest.is_on:
        lab.guest.boot()


def _fill(disk: str) -> Strike:
    def strike(lab: Laboratory, _: Forked, __: random.Random) -> bool:
        lab.disks[disk].fill()
        return True

    return strike


def _break(disk: str) -> Strike:
    def strike(lab: Laboratory, _: Forked, __: random.Random) -> bool:
        lab.disks[disk].break_()
        return True

    return strike


def _whole(disk: str) -> Mend:
    return lambda lab: lab.disks[disk].mend()


def _disk_faults() -> list[Fault]:
    return [
        Fault(f"{what} under the {disk}", "here", strike(disk), _whole(disk))
        for disk in ("store", "journal", "data")
        for what, strike in (("disk full", _fill), ("I/O errors", _break))
    ]


def _damaged(*places: Callable[[Laboratory], Path]) -> Strike:
    """All are killed while settings are changed, and then their journal is damaged."""
    damage = attacks.damage(places)

    def strike(lab: Laboratory, process: Forked, rng: random.Random) -> bool:
        _everything(lab, process, rng)
        process.wait(10)
        return damage(lab, rng)

    return _while_changed("here", strike)


def _locked(names: str) -> tuple[Strike, Mend]:
    """All are killed while settings are changed, and somebody else locks the journal, or the folder."""
    locker = attacks.Locker()

    def strike(lab: Laboratory, process: Forked, rng: random.Random) -> bool:
        _everything(lab, process, rng)
        process.wait(10)
        return bool(lab.different("here")) and locker.take(lab, names)

    return _while_changed("here", strike), locker.let_go


def _stopped_keeper(lab: Laboratory, process: Forked, _: random.Random) -> bool:
    """The keeper lives and does nothing; nobody else may restore what is its own."""
    return attacks.stop_keepers(lab) and _kill(process.pid)


def _deleted(path: Callable[[Laboratory], Path]) -> Strike:
    return lambda lab, _, __: attacks.delete(path(lab))


def _store(lab: Laboratory) -> Path:
    return Path(lab.environment["PARIBUS_STORE"])


def _journal(lab: Laboratory) -> Path:
    return next(iter(lab.journals.glob("*.jsonl")), lab.journals / "none")


def _attacks() -> list[Fault]:
    locked, unlocked = _locked("*.jsonl")
    main, copy = (lambda lab: lab.journals), (lambda lab: lab.copies)
    return [
        Fault("SIGKILL of everything, journal damaged", "here", _damaged(main), share=8),
        Fault("SIGKILL of everything, copy of the journal damaged", "here", _damaged(copy)),
        Fault(
            "SIGKILL of everything, journal and copy damaged",
            "here",
            _damaged(main, copy),
            attacks.put_right,
            share=8,
            hopeless=True,
        ),
        Fault("SIGKILL of everything, journal locked by another", "here", locked, unlocked, hopeless=True),
        Fault(
            "keeper stopped, SIGKILL of the controller",
            "here",
            _while_changed("here", _stopped_keeper),
            attacks.wake_keepers,
            hopeless=True,
        ),
        Fault("journal deleted", "here", _while_changed("here", _deleted(_journal))),
        Fault("store deleted", "here", _while_changed("here", _deleted(_store)), share=2),
        Fault("data folder opened to all users", "here", attacks.open_to_all, attacks.close_to_others),
        Fault(
            "target taken over",
            "there",
            _while_changed("there", attacks.lie),
            attacks.be_honest,
            longest_s=4,
            hopeless=True,
        ),
        Fault(
            "SIGKILL of everything, engine replaced",
            "there",
            _while_changed("there", attacks.replace_engine),
            longest_s=4,
        ),
        Fault(
            "clock set back, SIGKILL of keeper and controller",
            "guest",
            _while_changed("guest", attacks.set_clock_back, 25),
        ),
    ]


FAULTS = [
    Fault("SIGKILL of the controller", "here", _controller, share=12),
    Fault("SIGKILL of everything", "here", _while_changed("here", _everything), share=12),
    Fault("SIGKILL of keeper and controller", "here", _while_changed("here", _keeper_and_controller)),
    Fault("SIGKILL of the load engine", "here", _engine("run"), share=6),
    Fault("SIGKILL of the sampler", "here", _engine("sample")),
    Fault("SIGKILL of the keeper", "here", _while_changed("here", _engine("journal")), share=6),
    Fault("SIGTERM", "here", _signal(signal.SIGTERM)),
    Fault("SIGHUP", "here", _signal(signal.SIGHUP)),
    Fault("Ctrl-C three times", "here", _signal(signal.SIGINT, signal.SIGINT, signal.SIGINT)),
    *_disk_faults(),
    *_attacks(),
    Fault("SIGKILL of the controller", "there", _controller, share=6, longest_s=4),
    Fault("SIGKILL of everything on the controller", "there", _everything, share=6, longest_s=4),
    Fault("SIGKILL of keeper and controller", "there", _while_changed("there", _keeper_and_controller), longest_s=4),
    Fault("SIGKILL of the load engine", "there", _engine("run"), longest_s=4),
    Fault("SIGKILL of the keeper", "there", _while_changed("there", _engine("journal")), longest_s=4),
    Fault("SIGKILL of one ssh", "there", _ssh, share=8, longest_s=4),
    Fault("SIGKILL of sshd's connections", "there", _connections, share=8, longest_s=4),
    Fault("link down for a moment", "there", _link(3.0), longest_s=4),
    Fault("link down until the target is alone", "there", _link(40.0), share=2, longest_s=4),
    Fault("power cut", "guest", _while_changed("guest", _power, 25)),
    Fault("power cut, and SIGKILL of the controller", "guest", _while_changed("guest", _power_and_controller, 25), _on),
]
