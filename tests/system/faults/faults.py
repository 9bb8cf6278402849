"""Faults of an experiment: each strikes at a random moment, and is mended before the next."""

import signal
from dataclasses import dataclass, field

import attacks
import places
import strikes
from laboratory import Laboratory, Where
from strikes import Mend, Strike


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


def _disk_faults() -> list[Fault]:
    return [
        Fault(f"{what} under the {disk}", "here", strike(disk), strikes.whole(disk))
        for disk in ("store", "journal", "data")
        for what, strike in (("disk full", strikes.fill), ("I/O errors", strikes.break_))
    ]


def _places() -> list[Fault]:
    """Attacks on the places of journals and settings, and a second experiment with places of its own."""
    holder = places.MountHolder()
    return [
        Fault("SIGKILL of everything, folder of journals removed", "here", strikes.then(places.remove_journals)),
        Fault(
            "SIGKILL of everything, tmpfs over the journals",
            "here",
            strikes.then(places.cover_journals),
            places.undo_from_copies,
        ),
        Fault(
            "SIGKILL of everything, journals and copies removed",
            "here",
            strikes.then(places.remove_journals_and_copies),
            places.restore_what_is_named,
            hopeless=True,
        ),
        Fault(
            "SIGKILL of everything, scheduler read-only",
            "here",
            strikes.then(places.protect_scheduler),
            places.open_scheduler,
            hopeless=True,
        ),
        Fault(
            "another state folder on the same device", "here", strikes.while_changed("here", places.run_elsewhere, 0.05)
        ),
        Fault("controller stopped for a while", "here", strikes.while_changed("here", places.stop_controller)),
        Fault(
            "SIGKILL of everything, mount held by another namespace",
            "mount",
            strikes.then(holder.copy_mounts, "mount"),
            holder.let_go,
            hopeless=True,
        ),
    ]


def _attacks() -> list[Fault]:
    locked, unlocked = strikes.locked("*.jsonl")
    main, copy = (lambda lab: lab.journals), (lambda lab: lab.copies)
    return [
        Fault("SIGKILL of everything, journal damaged", "here", strikes.damaged(main), share=8),
        Fault("SIGKILL of everything, copy of the journal damaged", "here", strikes.damaged(copy)),
        Fault(
            "SIGKILL of everything, journal and copy damaged",
            "here",
            strikes.damaged(main, copy),
            attacks.put_right,
            share=8,
            hopeless=True,
        ),
        Fault("SIGKILL of everything, journal locked by another", "here", locked, unlocked, hopeless=True),
        Fault(
            "keeper stopped, SIGKILL of the controller",
            "here",
            strikes.while_changed("here", strikes.stopped_keeper),
            attacks.wake_keepers,
            hopeless=True,
        ),
        *_places(),
        Fault("journal deleted", "here", strikes.while_changed("here", strikes.deleted(strikes.journal))),
        Fault("store deleted", "here", strikes.while_changed("here", strikes.deleted(strikes.store)), share=2),
        Fault("data folder opened to all users", "here", attacks.open_to_all, attacks.close_to_others),
        Fault(
            "target taken over",
            "there",
            strikes.while_changed("there", attacks.lie),
            attacks.be_honest,
            longest_s=4,
            hopeless=True,
        ),
        Fault(
            "SIGKILL of everything, engine replaced",
            "there",
            strikes.while_changed("there", attacks.replace_engine),
            longest_s=4,
        ),
        Fault(
            "clock set back, SIGKILL of keeper and controller",
            "guest",
            strikes.while_changed("guest", attacks.set_clock_back, 25),
        ),
    ]


FAULTS = [
    Fault("SIGKILL of the controller", "here", strikes.controller, share=12),
    Fault("SIGKILL of everything", "here", strikes.while_changed("here", strikes.everything), share=12),
    Fault("SIGKILL of keeper and controller", "here", strikes.while_changed("here", strikes.keeper_and_controller)),
    Fault("SIGKILL of the load engine", "here", strikes.engine("run"), share=6),
    Fault("SIGKILL of the sampler", "here", strikes.engine("sample")),
    Fault("SIGKILL of the keeper", "here", strikes.while_changed("here", strikes.engine("journal")), share=6),
    Fault("SIGTERM", "here", strikes.send(signal.SIGTERM)),
    Fault("SIGHUP", "here", strikes.send(signal.SIGHUP)),
    Fault("Ctrl-C three times", "here", strikes.send(signal.SIGINT, signal.SIGINT, signal.SIGINT)),
    *_disk_faults(),
    *_attacks(),
    Fault("SIGKILL of the controller", "there", strikes.controller, share=6, longest_s=4),
    Fault("SIGKILL of everything on the controller", "there", strikes.everything, share=6, longest_s=4),
    Fault(
        "SIGKILL of keeper and controller",
        "there",
        strikes.while_changed("there", strikes.keeper_and_controller),
        longest_s=4,
    ),
    Fault("SIGKILL of the load engine", "there", strikes.engine("run"), longest_s=4),
    Fault("SIGKILL of the keeper", "there", strikes.while_changed("there", strikes.engine("journal")), longest_s=4),
    Fault("SIGKILL of one ssh", "there", strikes.ssh, share=8, longest_s=4),
    Fault("SIGKILL of sshd's connections", "there", strikes.connections, share=8, longest_s=4),
    Fault("link down for a moment", "there", strikes.link(3.0), longest_s=4),
    Fault("link down until the target is alone", "there", strikes.link(40.0), share=2, longest_s=4),
    Fault("power cut", "guest", strikes.while_changed("guest", strikes.power, 25)),
    Fault(
        "power cut, and SIGKILL of the controller",
        "guest",
        strikes.while_changed("guest", strikes.power_and_controller, 25),
        strikes.on,
    ),
]
