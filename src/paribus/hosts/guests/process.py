"""The processes of QEMU on a hypervisor: which guest each runs, and how long its threads ran and waited.

In: a UUID or a process number. Out: facts from `/proc`. Sources: proc(5) and the kernel's documentation of schedstats.
"""

import itertools
from typing import NamedTuple

from paribus.hosts.transport import Host

_NS = 1e-9
_TICKS_PER_S = 100  # of the times in /proc, on all kernels
_OF_VCPU = "CPU "  # begins the names that QEMU gives to the threads of virtual processors


class ThreadTimes(NamedTuple):
    """Seconds since a process of QEMU was started: of its virtual processors, and of its other threads."""

    vcpu_run_s: float
    vcpu_wait_s: float
    other_run_s: float

    def since(self, earlier: "ThreadTimes") -> "ThreadTimes":
        """The growth since then, never negative."""
        return ThreadTimes(*(max(0.0, now - then) for now, then in zip(self, earlier, strict=True)))


def process_of(host: Host, uuid: str) -> tuple[str, list[str]] | None:
    """The number and the words of the process that runs a domain; None where it cannot be seen."""
    pids = [name for name in host.names("/proc") if name.isdigit()]
    for pid, line in zip(pids, host.read_each([f"/proc/{pid}/cmdline" for pid in pids]), strict=True):
        words = (line or "").split("\0")
        if _option(words, "-uuid") == uuid:
            return pid, words
    return None


def runs(host: Host, pid: int, uuid: str) -> bool:
    """Whether the process runs the domain with this UUID."""
    return _option(_words(host, pid), "-uuid") == uuid


def guest_of(host: Host, pid: int) -> str:
    """The name of the guest that a process of QEMU runs; empty where it has none, or has ended."""
    name, *more = _option(_words(host, pid), "-name").split(",")
    named = dict(option.partition("=")[::2] for option in (name, *more))
    return named.get("guest", "" if "=" in name else name)


def thread_times(host: Host, pid: int) -> ThreadTimes | None:
    """The times of the threads of a process of QEMU; None where the kernel does not count them.

    Those of other threads are the rest of the process's own time, since threads of I/O come and go.
    """
    folder = f"/proc/{pid}/task"
    threads = host.names(folder)
    files = [f"{folder}/{thread}/{file}" for thread in threads for file in ("comm", "schedstat")]
    stat, *texts = host.read_each([f"/proc/{pid}/stat", *files])
    vcpus = [
        [int(number) for number in times.split()[:2]]
        for name, times in zip(texts[::2], texts[1::2], strict=True)
        if name is not None and times and name.startswith(_OF_VCPU)
    ]
    if not vcpus or stat is None:
        return None
    run_s, wait_s = (_NS * sum(numbers) for numbers in zip(*vcpus, strict=True))
    user, system = stat.rpartition(")")[2].split()[11:13]
    return ThreadTimes(run_s, wait_s, (int(user) + int(system)) / _TICKS_PER_S - run_s)


def _words(host: Host, pid: int) -> list[str]:
    return (host.read_each([f"/proc/{pid}/cmdline"])[0] or "").split("\0")


def _option(words: list[str], option: str) -> str:
    return next((argument for word, argument in itertools.pairwise(words) if word == option), "")
