"""Whether a server lets a plan's loads make as many connections as they need."""

from collections.abc import Iterator

from paribus.model import Facts, Plan, Value
from paribus.plan.data import Complaint

_OWN = 3
"""Connections beside those of a load: the administrator's, the sampler's, and that which changes settings meanwhile."""


def complaints(plan: Plan, facts: Facts) -> Iterator[Complaint]:
    """Yields every workload that needs more connections than the server allows in some trial."""
    most = _most_connections(plan, facts)
    if most is None:
        return
    for workload in plan.workloads:
        load = workload.open_loop.outstanding if workload.open_loop else max(workload.load_levels)
        if workload.database and load + _OWN > most:
            message = f"{load} connections and {_OWN} of our own are needed, and the server allows {most}"
            name = f"{plan.database.family}.max_connections" if plan.database else ""
            way = "hold" if plan.database and not plan.database.running else "set"
            hint = f'{way} "{name}" = {load + _OWN}, or make at most {max(most - _OWN, 0)}'
            yield Complaint(workload.plan_name, "threads", message, hint)


def _most_connections(plan: Plan, facts: Facts) -> int | None:
    """Returns the fewest connections that the server allows in any trial; None where that is unknown."""
    if plan.database is None or not plan.database.is_server or facts.database is None:
        return None
    key = f"{plan.database.family}.max_connections"
    values: list[Value | None] = [plan.baseline.get(key, facts.database.in_force.get("max_connections"))]
    values += [level for factor in plan.factors if factor.key == key for level in factor.levels]
    values += [combination.settings[key] for combination in plan.combinations if key in combination.settings]
    return min((int(value) for value in values if isinstance(value, int | str) and str(value).isdigit()), default=None)
