"""What of the machine should have been the same in all trials: whether it was.

In: trials, and of each the facts that it found. Out: Constancy, and names that differ within pairs. Called by `judge`
and by the checks.
"""

from collections.abc import Mapping, Sequence

from paribus.findings import Constancy, Held
from paribus.model import Trial, TrialState

Facts = Mapping[int, Mapping[str, str]]
"""Conditions by name, of each trial that looked at them."""

_ABSENT = "absent"


def constancy(trials: Sequence[Trial], facts: Facts) -> Constancy:
    """Of the trials that count: what all have, and what differed with the trials of each value."""
    told = [t.order for t in trials if t.state is TrialState.DONE and t.order in facts]
    same: dict[str, str] = {}
    differed: dict[str, tuple[Held, ...]] = {}
    for name in dict.fromkeys(name for order in told for name in facts[order]):
        by_value: dict[str, list[int]] = {}
        for order in told:
            by_value.setdefault(facts[order].get(name, _ABSENT), []).append(order)
        if len(by_value) == 1:
            same[name] = next(iter(by_value))
        else:
            differed[name] = tuple(Held(value, tuple(orders)) for value, orders in by_value.items())
    return Constancy(same, differed, tuple(told))


def unlike(trials: Sequence[int], facts: Facts) -> set[str]:
    """The conditions that were not the same in these trials, as far as they tell."""
    told = [facts[order] for order in trials if order in facts]
    names = {name for one in told for name in one}
    return {name for name in names if len({one.get(name, _ABSENT) for one in told}) > 1}
