"""Mechanisms of memory management and of the machine's topology."""

from paribus.i18n import N_, stored_message
from paribus.mechanisms.mechanism import Case, Mechanism, Obstacle, above_zero, unsampled
from paribus.units import show_size

_SCANNED = "reclaim_scanned_pages"


def _no_swap(case: Case) -> Obstacle | None:
    if case.facts.swap_bytes != 0:
        return None
    return Obstacle(stored_message("the machine has no swap space"), stored_message("add swap space (swapon)"))


def _never_scarce(case: Case) -> Obstacle | None:
    """No proof: other programs may use the memory up, and a control group may have less."""
    if not case.on_files or any(key.startswith("cgroup.") and ".memory_" in key for key in case.settings):
        return None
    memory, remedy = case.facts.memory_bytes, N_("use buffered I/O on more data than the memory of {size}")
    if case.parameters["direct"]:
        fact = stored_message("{setting}", setting=case.parameter_text("direct"))
    elif case.data.size_bytes < memory:
        size = show_size(case.data.size_bytes)
        fact = stored_message("memory can hold the data of {size} in the page cache", size=size)
    else:
        return None
    return Obstacle(fact, stored_message(remedy, size=show_size(memory)), certain=False)


def _one_node(case: Case) -> Obstacle | None:
    """No proof: a memory policy changes the path of an allocation also where there is one node."""
    if case.facts.fingerprint.get("numa_nodes") != "1":
        return None
    fact = stored_message("the machine has one NUMA node")
    return Obstacle(fact, stored_message("use a machine with several NUMA nodes"), certain=False)


MEMORY_RECLAIM = Mechanism(
    name=N_("memory reclaim"),
    explanation="The kernel examines pages in order to free memory (`pgscan_anon` and `pgscan_file` in /proc/vmstat).",
    counters=(_SCANNED,),
    obstacle=_never_scarce,
    occurred=above_zero([_SCANNED]),
)
SWAP_SPACE = Mechanism(
    name=N_("swap space"),
    explanation="A swap device or file that is in use (SwapTotal in /proc/meminfo).",
    obstacle=_no_swap,
    occurred=unsampled,
)
NUMA_NODES = Mechanism(
    name=N_("several NUMA nodes"),
    explanation="More than one NUMA node in the machine.",
    obstacle=_one_node,
    occurred=unsampled,
)
