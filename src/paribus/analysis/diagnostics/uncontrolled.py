"""Uncontrolled machine conditions: equal in all trials, or not."""

from collections.abc import Mapping, Sequence

from paribus.findings import Constancy, Held
from paribus.model import DOMAIN, Trial, TrialState

Facts = Mapping[int, Mapping[str, str]]
"""Conditions by name, of each trial that looked at them."""

_ABSENT = "absent"
_BOOT = "boot"
_MOVED = {
    "guest.disk.cache": ("block.write_cache", "block.top.write_cache"),
    "guest.vcpus": ("online processors",),
}
"""By setting of a guest's definition: the conditions in the guest that follow from it."""


def without_moved(facts: Facts, trials: Sequence[Trial]) -> Facts:
    """Return the facts without those that settings of the trials move, since a guest is started anew for its own."""
    keys = {key for trial in trials for key in trial.settings if key.startswith(DOMAIN)}
    if not keys:
        return facts
    moved = {_BOOT, *(name for key in keys for name in _MOVED.get(key, ()))}
    return {
        order: {name: value for name, value in conditions.items() if name not in moved}
        for order, conditions in facts.items()
    }


def constancy(trials: Sequence[Trial], facts: Facts) -> Constancy:
    """Return the conditions that were equal in all valid trials, and the values of the others with their trials."""
    recorded = [trial.order for trial in trials if trial.state is TrialState.DONE and trial.order in facts]
    same: dict[str, str] = {}
    differed: dict[str, tuple[Held, ...]] = {}
    for name in dict.fromkeys(name for order in recorded for name in facts[order]):
        by_value: dict[str, list[int]] = {}
        for order in recorded:
            by_value.setdefault(facts[order].get(name, _ABSENT), []).append(order)
        if len(by_value) == 1:
            same[name] = next(iter(by_value))
        else:
            differed[name] = tuple(Held(value, tuple(orders)) for value, orders in by_value.items())
    return Constancy(same, differed, tuple(recorded))


def differing_conditions(trials: Sequence[int], facts: Facts) -> set[str]:
    """Return the names of the conditions that differ between the trials, as far as these recorded them."""
    recorded = [facts[order] for order in trials if order in facts]
    names = {name for conditions in recorded for name in conditions}
    return {name for name in names if len({conditions.get(name, _ABSENT) for conditions in recorded}) > 1}
