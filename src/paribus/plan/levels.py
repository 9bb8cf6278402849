"""Levels as a plan writes them, converted to values to set and checked against catalogue, workload and host."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from paribus.knobs.catalog import LISTED, Catalogue, level_of
from paribus.model import HYPERVISOR, Combination, Factor, Facts, Knob, Value
from paribus.plan.form.file import WorkloadTable
from paribus.plan.workloads import kind_of, name_of, parameters_in
from paribus.registry import nearest

Complain = Callable[[str, str], None]  # message, hint


@dataclass(frozen=True, slots=True)
class Level:
    """A value to set, and its text in the plan."""

    value: Value
    label: str


def label_of(written: Any) -> str:
    """Returns a level as TOML writes it, without quotes; of a layout, its name."""
    if isinstance(written, dict):
        from paribus.knobs.layouts.layout import label_of_layout  # its models take time to import

        return label_of_layout(written)
    return str(written).lower() if isinstance(written, bool) else str(written)


def knob_level(knob: Knob, key: str, written: Any, facts: Facts, complain: Complain) -> Level | None:
    """Returns a knob's level as it is read back; None, after a complaint, if the host does not offer it."""
    try:
        value = level_of(knob, key, written)
    except ValueError as error:
        complain(str(error), "")
        return None
    offer = facts.offers.get(knob.name)
    if offer is None or offer.current is None:
        return Level(value, label_of(written))  # the check reports why the knob cannot be used
    if value == "current" and knob.kind != "layout":
        return Level(offer.current, str(offer.current))
    if offer.allowed and value not in offer.allowed:
        offered = f"it offers {', '.join(str(allowed) for allowed in offer.allowed)}"
        renamed = knob.renamed.get(str(value))
        owner = facts.device if "{device}" in knob.addresses[0] else facts.hostname
        message = f"{owner} does not offer {label_of(written)!r}"
        complain(message, f"its present name is {renamed!r}; {offered}" if renamed else offered)
        return None
    return Level(value, label_of(written))


def parameter_level(table: WorkloadTable, parameter: str, written: Any, complain: Complain) -> Level | None:
    """Returns a workload parameter's level; None, after a complaint, if the workload cannot have it."""
    try:
        whole = parameters_in(table) | {parameter: written}
        value = getattr(kind_of(table).parameters.model_validate(whole), parameter)
    except ValidationError as error:
        first = error.errors()[0]
        complain(f"{label_of(written)!r}: {first['msg'].removeprefix('Value error, ')}", "")
        return None
    return Level(value, label_of(written))


def impossible(parameter: str, value: Value, facts: Facts) -> str:
    """Returns why this machine cannot make a load with that parameter; empty if it can."""
    if (parameter, value) == ("engine", "io_uring"):
        return facts.io_uring_refused
    if (parameter, value) == ("direct", True):
        return facts.direct_refused
    return ""


def unknown_key(key: str, catalogue: Catalogue, tables: Sequence[WorkloadTable]) -> str:
    """Returns what to write instead of a key that is neither a knob nor a parameter of these workloads."""
    owner, _, parameter = key.partition(".")
    candidates = [name for knob in catalogue for name in (knob.name, *knob.aliases)]
    for table in tables:
        kind, owners = kind_of(table), {name_of(table), kind_of(table).name}
        if owner in owners and parameter in {*kind.axes, "threads"}:
            return f"give the values of {parameter} in the workload itself: each is tried anyway"
        candidates += [
            f"{prefix}.{field}" for prefix in owners for field in kind.parameters.model_fields.keys() - kind.axes
        ]
    if key.startswith(HYPERVISOR):
        candidates = [f"{HYPERVISOR}{name}" for name in candidates]
    return nearest(key, candidates) or catalogue.suggest(key) or LISTED


def baseline_of(
    hold: Mapping[str, Value], factors: Sequence[Factor], combinations: Sequence[Combination], facts: Facts
) -> dict[str, Value]:
    """Returns every setting that some trial makes at its baseline: held, first level, or the value as found."""
    base = {**hold, **{factor.key: factor.levels[0] for factor in factors}}
    for key in [key for combination in combinations for key in combination.settings if key not in base]:
        offer = facts.offers.get(key)
        if offer is not None and offer.current is not None:  # a parameter has the value of its workload
            base[key] = offer.current
    return base
