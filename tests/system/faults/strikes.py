"""Strikes: signals, lost connections and power, failing disks, and attacks after everything was killed."""

import contextlib
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import attacks
from forked import Forked
from laboratory import Laboratory, Where, pause

Strike = Callable[[Laboratory, Forked, random.Random], bool]  # whether it met something to hurt
Mend = Callable[[Laboratory], None]


def kill(*numbers: int) -> bool:
    """SIGKILL all of them; whether there was one."""
    for number in numbers:
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    return bool(numbers)


def children(pid: int) -> list[int]:
    found = subprocess.run(["pgrep", "--parent", str(pid)], capture_output=True, text=True, check=False)
    return [int(one) for one in found.stdout.split()]


def send(*numbers: int) -> Strike:
    def strike(_: Laboratory, process: Forked, rng: random.Random) -> bool:
        for number in numbers:
            process.send_signal(number)
            time.sleep(rng.uniform(0, 0.05))
        return True

    return strike


def controller(_: Laboratory, process: Forked, __: random.Random) -> bool:
    return kill(process.pid)


def everything(_: Laboratory, process: Forked, __: random.Random) -> bool:
    """The keeper first, so that it has no time to put anything back."""
    return kill(*children(process.pid), process.pid)


def keeper_and_controller(lab: Laboratory, process: Forked, _: random.Random) -> bool:
    """Without a keeper nobody puts anything back there, without a controller nobody asks for it."""
    keepers = lab.processes("journal")
    return kill(*keepers, process.pid)


def while_changed(where: Where, strike: Strike, longest_s: float = 0.3) -> Strike:
    """Mostly up to `longest_s` after the first setting: only then is something left that `undo` has to restore."""

    def later(lab: Laboratory, process: Forked, rng: random.Random) -> bool:
        if rng.random() < 0.8:
            while not lab.is_changed(where) and process.poll() is None:
                time.sleep(0.005)
            pause(rng, process, longest_s)
        return process.poll() is None and strike(lab, process, rng)

    return later


def engine(verb: str) -> Strike:
    """One of the engine's processes, as soon as there is one."""

    def strike(lab: Laboratory, process: Forked, _: random.Random) -> bool:
        while process.poll() is None:
            if found := lab.processes(verb):
                return kill(*found)
            time.sleep(0.002)
        return False

    return strike


def ssh(_: Laboratory, process: Forked, rng: random.Random) -> bool:
    """One of the controller's own ssh."""
    clients = children(process.pid)
    return bool(clients) and kill(rng.choice(clients))


def connections(lab: Laboratory, _: Forked, __: random.Random) -> bool:
    lab.target.kill_connections()
    return True


def link(longest_s: float) -> Strike:
    def strike(lab: Laboratory, _: Forked, rng: random.Random) -> bool:
        lab.target.cut_link()
        time.sleep(rng.uniform(0.2, longest_s))
        lab.target.mend_link()
        return True

    return strike


def power(lab: Laboratory, _: Forked, rng: random.Random) -> bool:
    """The controller tries to reach it all the while."""
    lab.guest.cut_power()
    time.sleep(rng.uniform(0, 5))
    lab.guest.boot()
    return True


def power_and_controller(lab: Laboratory, process: Forked, _: random.Random) -> bool:
    lab.guest.cut_power()
    return kill(process.pid)


def on(lab: Laboratory) -> None:
    if not lab.guest.is_on:
        lab.guest.boot()


def fill(disk: str) -> Strike:
    def strike(lab: Laboratory, _: Forked, __: random.Random) -> bool:
        lab.disks[disk].fill()
        return True

    return strike


def break_(disk: str) -> Strike:
    def strike(lab: Laboratory, _: Forked, __: random.Random) -> bool:
        lab.disks[disk].break_()
        return True

    return strike


def whole(disk: str) -> Mend:
    return lambda lab: lab.disks[disk].mend()


def damaged(*places: Callable[[Laboratory], Path]) -> Strike:
    """All are killed while settings are changed, and then their journal is damaged."""
    damage = attacks.damage(places)

    def strike(lab: Laboratory, process: Forked, rng: random.Random) -> bool:
        everything(lab, process, rng)
        process.wait(10)
        return damage(lab, rng)

    return while_changed("here", strike)


def locked(names: str) -> tuple[Strike, Mend]:
    """All are killed while settings are changed, and somebody else locks the journal, or the folder."""
    locker = attacks.Locker()

    def strike(lab: Laboratory, process: Forked, rng: random.Random) -> bool:
        everything(lab, process, rng)
        process.wait(10)
        return bool(lab.different("here")) and locker.take(lab, names)

    return while_changed("here", strike), locker.let_go


def stopped_keeper(lab: Laboratory, process: Forked, _: random.Random) -> bool:
    """The keeper lives and does nothing; nobody else may restore what is its own."""
    return attacks.stop_keepers(lab) and kill(process.pid)


def then(attack: Callable[[Laboratory], None], where: Where = "here") -> Strike:
    """All are killed while settings are changed, and then this happens to what they have left."""

    def strike(lab: Laboratory, process: Forked, rng: random.Random) -> bool:
        everything(lab, process, rng)
        process.wait(10)
        if not lab.different(where):
            return False
        attack(lab)
        return True

    return while_changed(where, strike)


def deleted(path: Callable[[Laboratory], Path]) -> Strike:
    return lambda lab, _, __: attacks.delete(path(lab))


def store(lab: Laboratory) -> Path:
    return Path(lab.environment["PARIBUS_STORE"])


def journal(lab: Laboratory) -> Path:
    return next(iter(lab.journals.glob("*.jsonl")), lab.journals / "none")
