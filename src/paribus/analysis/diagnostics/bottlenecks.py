"""What bounds the system at each load level: processors, the device, commits, locks, or the load itself.

In: cell means, and trials that were not used. Out: Bounded, with the figures that tell it. These are rules of thumb
over means, no test: they say where to look, and change no verdict.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from paribus.findings import Bounded, Limit
from paribus.i18n import N_, gettext, translate_stored
from paribus.model import Cell, Trial
from paribus.units import LoadLevel, LoadUnit

_FULL = 0.90  # of the processors, or of the time in which a device has something to do
_KEPT_UP = 0.98  # of what was offered
_LARGE_BYTES = 128 * 1024  # requests from here on are bounded by bandwidth rather than by their number
_COMMITS = 0.1  # syncs for each operation: a group of ten shares one
_WAITS = 0.05  # lock waits or conflicts for each operation
_LOCKS = ("server_row_lock_waits_per_s", "server_deadlocks_per_s", "conflicts_per_s", "lock_timeouts_per_s")
_ENGINE = "the load engine was the bound"  # as trials have it, whatever language is spoken
_COUNTED = (N_("row lock waits"), N_("deadlocks"), N_("conflicts"), N_("lock timeouts"))

_Place = tuple[str, str, str, LoadLevel]


def bounds(cells: Sequence[Cell], trials: Iterable[Trial]) -> tuple[Bounded, ...]:
    """One for each arm at each load level of which the machine was watched, or that the load engine bounded."""
    measured: dict[_Place, dict[str, float]] = defaultdict(dict)
    for cell in cells:
        measured[cell.factor, cell.workload, cell.arm, cell.load][cell.metric] = cell.mean
    said = {
        (trial.factor, trial.workload, trial.arm, trial.load): reason
        for trial in trials
        for reason in trial.invalid_because
        if reason.startswith(_ENGINE)
    }
    found = []
    for place in [*measured, *(place for place in said if place not in measured)]:
        told = (
            (Limit.ENGINE, translate_stored(said[place])) if place in said else _limit(measured[place], place[3].unit)
        )
        if told is not None:
            factor, workload, arm, load = place
            found.append(Bounded(factor=factor, workload=workload, arm=arm, load=load, limit=told[0], evidence=told[1]))
    return tuple(found)


def _limit(means: Mapping[str, float], unit: LoadUnit) -> tuple[Limit, str] | None:
    """The first that is full, beginning with what hides the others."""
    rate = means.get("throughput_per_s", 0.0)
    if "cpu_user_share" not in means or rate <= 0:
        return None
    offered = means.get("offered_per_s", 0.0)
    if unit is LoadUnit.RATE_PER_S and rate >= _KEPT_UP * offered:
        return Limit.OFFERED, gettext(
            "{rate:,.0f}/s of {offered:,.0f}/s offered are served", rate=rate, offered=offered
        )
    busy = sum(means.get(f"cpu_{kind}_share", 0.0) for kind in ("user", "system", "steal"))
    if busy >= _FULL:
        return Limit.CPU, gettext("processors {busy:.0%} busy", busy=busy)
    for name in _LOCKS:
        if means.get(name, 0.0) >= _WAITS * rate:
            what = name.removeprefix("server_").removesuffix("_per_s").replace("_", " ")
            return Limit.LOCKS, gettext("{n:.2g} {what} for each operation", n=means[name] / rate, what=gettext(what))
    device = means.get("device_utilisation", 0.0)
    if device >= _FULL:
        return _of_the_device(means, device)
    syncs = max(means.get("server_fsyncs_per_s", 0.0), means.get("fsyncs_per_s", 0.0)) / rate
    if syncs >= _COMMITS:
        said = N_("{n:.2g} syncs for each operation, device {device:.0%} and processors {busy:.0%} busy")
        return Limit.COMMITS, gettext(said, n=syncs, device=device, busy=busy)
    return Limit.NOTHING, gettext("processors {busy:.0%}, device {device:.0%} busy", busy=busy, device=device)


def _of_the_device(means: Mapping[str, float], busy: float) -> tuple[Limit, str]:
    requests = sum(means.get(f"device_{kind}_per_s", 0.0) for kind in ("reads", "writes"))
    moved = sum(means.get(f"device_{kind}_bytes_per_s", 0.0) for kind in ("read", "written"))
    each = moved / requests if requests else 0.0
    limit = Limit.BANDWIDTH if each >= _LARGE_BYTES else Limit.OPERATIONS
    said = N_("device {busy:.0%} busy, {requests:,.0f} requests/s of {size:,.0f} KiB")
    return limit, gettext(said, busy=busy, requests=requests, size=each / 1024)
