"""Attacks on the places of journals and settings, and a second experiment with places of its own."""

import functools
import random
import shutil
import signal
import subprocess

from command import queue_of
from forked import Forked
from laboratory import Laboratory
from victim import run

from guest.image import command

_NOT_RESTORED = 4


def remove_journals(lab: Laboratory) -> None:
    """Remove the folder of journals; the copies are left."""
    shutil.rmtree(lab.journals)


def remove_journals_and_copies(lab: Laboratory) -> None:
    """Remove the folder of journals and that of the copies."""
    for folder in (lab.journals, *lab.copies.iterdir()):
        shutil.rmtree(folder)


def restore_what_is_named(lab: Laboratory) -> None:
    """Restore the settings by hand and remove the entry of the register, as the message asks a person to do."""
    lab.restore_by_hand()
    for entry in (lab.folder / "register").glob("*.json"):
        entry.unlink()


def cover_journals(lab: Laboratory) -> None:
    """Mount an empty file system over the folder of journals."""
    command("mount", "-t", "tmpfs", "-o", "mode=0700", "tmpfs", lab.journals)


def undo_from_copies(lab: Laboratory) -> None:
    """Undo while the journals are covered, and uncover them."""
    if (code := lab.undo("here")) != 0 or lab.different("here"):
        lab.wrong.append(f"undo ended with {code}, and there is left {lab.different('here')}")
    subprocess.run(["umount", str(lab.journals)], capture_output=True, check=False)


def protect_scheduler(lab: Laboratory) -> None:
    """Let nobody write to the file that other settings follow."""
    file = queue_of(lab.device) / "scheduler"
    command("mount", "--bind", file, file)
    command("mount", "-o", "remount,bind,ro", file)


def open_scheduler(lab: Laboratory) -> None:
    """Let it be written again."""
    subprocess.run(["umount", str(queue_of(lab.device) / "scheduler")], capture_output=True, check=False)


def run_elsewhere(lab: Laboratory, process: Forked, _: random.Random) -> bool:
    """Start another experiment on the device, with a state folder of its own."""
    own = {"PARIBUS_STATE": str(lab.folder / "elsewhere"), "PARIBUS_STORE": str(lab.folder / "elsewhere.db")}
    words = lab.folder / "words elsewhere"
    arguments = ["run", str(lab.folder / "here.toml")]
    code = Forked(functools.partial(run, arguments), lab.environment | own, words).wait(120)
    if process.poll() is not None:
        return False
    if "is running on this machine" not in words.read_text():
        lab.wrong.append(f"an experiment beside another one ended with {code}: {words.read_text()[-500:]}")
    return True


def stop_controller(lab: Laboratory, process: Forked, _: random.Random) -> bool:
    """Stop the controller, whose keeper lives; undo has to say that nothing is restored."""
    process.send_signal(signal.SIGSTOP)
    code, left = lab.undo("here"), lab.different("here")
    process.send_signal(signal.SIGCONT)
    if left and code != _NOT_RESTORED:
        lab.wrong.append(f"undo beside a stopped controller ended with {code}, and there is left {left}")
    return bool(left)


class MountHolder:
    """A program with a copy of all mounts in a namespace of its own."""

    def __init__(self) -> None:
        self._held: list[subprocess.Popen[str]] = []

    def copy_mounts(self, _: Laboratory) -> None:
        """Copy the mounts as they are now."""
        argv = ["unshare", "--mount", "--propagation", "private", "sh", "-c", "echo up; exec sleep 600"]
        holder = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        assert holder.stdout is not None
        holder.stdout.readline()
        self._held.append(holder)

    def let_go(self, _: Laboratory) -> None:
        """End it."""
        for holder in self._held:
            with holder:
                holder.kill()
        self._held.clear()
