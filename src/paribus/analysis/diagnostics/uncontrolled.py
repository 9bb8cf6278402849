"""Uncontrolled machine conditions: equal in all trials, or not."""

from collections.abc import Mapping, Sequence

from paribus.findings import Constancy, Held
from paribus.model import DOMAIN, Settings, Trial, TrialState

Facts = Mapping[int, Mapping[str, str]]
"""Conditions by name, of each trial that looked at them."""

_ABSENT = "absent"
_BOOT = "boot"
_MOVED = {
    "guest.disk.cache": ("block.write_cache", "block.top.write_cache"),
    "guest.vcpus": ("online processors",),
}
"""By setting of a guest's definition: the conditions in the guest that follow from it."""


def _moved(settings: Sequence[Settings]) -> set[str]:
    """Return the conditions that follow from settings in which trials differ: a guest is started anew for its own."""
    keys = {key for each in settings for key in each if key.startswith(DOMAIN)}
    changed = [key for key in keys if len({each.get(key) for each in settings}) > 1]
    return {_BOOT, *(name for key in changed for name in _MOVED.get(key, ()))} if changed else set()


def constancy(trials: Sequence[Trial], facts: Facts) -> Constancy:
    """Return the conditions that were equal in all valid trials, and the values of the others with their trials.

    Those that settings of the trials move are left out.
    """
    done = [trial for trial in trials if trial.state is TrialState.DONE and trial.order in facts]
    recorded, moved = [trial.order for trial in done], _moved([trial.settings for trial in done])
    same: dict[str, str] = {}
    differed: dict[str, tuple[Held, ...]] = {}
    for name in dict.fromkeys(name for order in recorded for name in facts[order] if name not in moved):
        by_value: dict[str, list[int]] = {}
        for order in recorded:
            by_value.setdefault(facts[order].get(name, _ABSENT), []).append(order)
        if len(by_value) == 1:
            same[name] = next(iter(by_value))
        else:
            differed[name] = tuple(Held(value, tuple(orders)) for value, orders in by_value.items())
    return Constancy(same, differed, tuple(recorded))


def differing_conditions(trials: Sequence[int], facts: Facts, settings: Mapping[int, Settings]) -> set[str]:
    """Return the names of the conditions that differ between the trials, as far as these recorded them.

    Those that follow from the settings in which the trials differ are left out.
    """
    recorded = [order for order in trials if order in facts]
    names = {name for order in recorded for name in facts[order]}
    differing = {name for name in names if len({facts[order].get(name, _ABSENT) for order in recorded}) > 1}
    return differing - _moved([settings[order] for order in recorded]) if differing else differing
