"""The limit of the system at each load level: processors, device, commits, locks, or the load itself.

Rules of thumb over cell means, not tests: they show where to look and change no verdict.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from paribus.findings import Bounded, Limit
from paribus.i18n import N_, gettext, translate_stored
from paribus.model import Cell, Trial
from paribus.units import LoadLevel, LoadUnit

_FULL = 0.90  # of the processors, or of a device's time
_LEAST_SERVED = 0.98  # of the offered rate
_LARGE_BYTES = 128 * 1024  # requests from this size on are limited by bandwidth
_COMMITS = 0.1  # syncs for each operation: a group of ten shares one
_WAITS = 0.05  # lock waits or conflicts for each operation
_UTILISATION = "device_utilisation"
_LOCKS = ("server_row_lock_waits_per_s", "server_deadlocks_per_s", "conflicts_per_s", "lock_timeouts_per_s")
# Message ids, independent of the language.
_ENGINE = ("the load engine was the bottleneck", "the processors were the bottleneck")
_COUNTED = (N_("row lock waits"), N_("deadlocks"), N_("conflicts"), N_("lock timeouts"))

_CellKey = tuple[str, str, str, LoadLevel]


def bounds(cells: Sequence[Cell], trials: Iterable[Trial]) -> tuple[Bounded, ...]:
    """Return the limit of each arm at each load level that has machine figures or a load engine at its limit.

    Args:
        cells: Cell means.
        trials: All trials, also invalid ones.
    """
    measured: dict[_CellKey, dict[str, float]] = defaultdict(dict)
    for cell in cells:
        measured[cell.factor, cell.workload, cell.arm, cell.load][cell.metric] = cell.mean
    engine_reasons = {
        (trial.factor, trial.workload, trial.arm, trial.load): reason
        for trial in trials
        for reason in trial.invalid_because
        if any(text in reason for text in _ENGINE)
    }
    result = []
    for key in [*measured, *(key for key in engine_reasons if key not in measured)]:
        limit = (
            (Limit.ENGINE, translate_stored(engine_reasons[key]))
            if key in engine_reasons
            else _limit(measured[key], key[3].unit)
        )
        if limit is not None:
            factor, workload, arm, load = key
            result.append(
                Bounded(factor=factor, workload=workload, arm=arm, load=load, limit=limit[0], evidence=limit[1])
            )
    return tuple(result)


def _limit(means: Mapping[str, float], unit: LoadUnit) -> tuple[Limit, str] | None:
    """The first saturated resource, in an order where none hides behind another; None without machine figures."""
    rate = means.get("throughput_per_s", 0.0)
    device = _busiest_device(means)
    if ("cpu_user_share" not in means and not device) or rate <= 0:
        return None
    offered = means.get("offered_per_s", 0.0)
    if unit is LoadUnit.RATE_PER_S and rate >= _LEAST_SERVED * offered:
        return Limit.OFFERED, gettext(
            "{rate:,.0f}/s of {offered:,.0f}/s offered are served", rate=rate, offered=offered
        )
    busy = sum(means.get(f"cpu_{kind}_share", 0.0) for kind in ("user", "system", "steal"))
    if busy >= _FULL:
        return Limit.CPU, gettext("processors {busy:.0%} busy", busy=busy)
    for name in _LOCKS:
        if means.get(name, 0.0) >= _WAITS * rate:
            event = name.removeprefix("server_").removesuffix("_per_s").replace("_", " ")
            return Limit.LOCKS, gettext("{n:.2g} {what} for each operation", n=means[name] / rate, what=gettext(event))
    if device and device[1] >= _FULL:
        return _device_limit(means, *device)
    syncs = max(means.get("server_fsyncs_per_s", 0.0), means.get("fsyncs_per_s", 0.0)) / rate
    if syncs >= _COMMITS:
        return Limit.COMMITS, gettext("{n:.2g} syncs for each operation, {usage}", n=syncs, usage=_usage(means, device))
    return Limit.NOTHING, _usage(means, device)


def _busiest_device(means: Mapping[str, float]) -> tuple[str, float] | None:
    """The name and the utilisation of the busiest sampled device; an own trial samples one, without a name."""
    devices = {
        metric.partition(":")[2]: share for metric, share in means.items() if metric.partition(":")[0] == _UTILISATION
    }
    return max(devices.items(), key=lambda device: device[1], default=None)


def _usage(means: Mapping[str, float], device: tuple[str, float] | None) -> str:
    """The use of processors and device, as far as they were sampled."""
    busy = sum(means.get(f"cpu_{kind}_share", 0.0) for kind in ("user", "system", "steal"))
    processors = (
        gettext("processors {busy:.0%} busy", busy=busy)
        if "cpu_user_share" in means
        else gettext("processors not sampled")
    )
    device_text = (
        gettext("device {name} {busy:.4g}% busy", name=device[0], busy=device[1] * 100)
        if device
        else gettext("device not sampled")
    )
    return gettext(", ").join((processors, " ".join(device_text.split())))


def _device_limit(means: Mapping[str, float], name: str, busy: float) -> tuple[Limit, str]:
    of_device = f":{name}" if name else ""
    requests = sum(means.get(f"device_{kind}_per_s{of_device}", 0.0) for kind in ("reads", "writes"))
    bytes_per_s = sum(means.get(f"device_{kind}_bytes_per_s{of_device}", 0.0) for kind in ("read", "written"))
    if not requests:
        return Limit.DEVICE, _usage(means, (name, busy))
    request_bytes = bytes_per_s / requests
    limit = Limit.BANDWIDTH if request_bytes >= _LARGE_BYTES else Limit.OPERATIONS
    message = N_("device {busy:.0%} busy, {requests:,.0f} requests/s of {size:,.0f} KiB")
    return limit, gettext(message, busy=busy, requests=requests, size=request_bytes / 1024)
