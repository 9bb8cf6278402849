"""A plan's protocol and limits as they are followed."""

import math

from ceteris.model import RESPONSES, Limits, Protocol
from ceteris.plan.file import LimitsTable, ProtocolTable

# Of the length of a trial, and at most so many seconds: for a new load, one that then goes on, and after a change.
_SETTLE, _TAKEOFF, _TOGGLE = (1 / 2, 30.0), (1 / 3, 20.0), (1 / 5, 12.0)


def protocol_of(table: ProtocolTable) -> Protocol:
    """The protocol with what the plan leaves open: settle time, and the margin of each response."""
    margins = {name: response.margin for name, response in RESPONSES.items()}
    if table.margin is not None:
        margins |= dict.fromkeys(("throughput_per_s", "bytes_per_s"), table.margin)
    margins |= dict(table.margins.items())
    return Protocol(
        trial_s=table.trial,
        settle_s=_discarded(table, _SETTLE),
        in_flight=table.in_flight,
        takeoff_s=_discarded(table, _TAKEOFF),
        toggle_s=_discarded(table, _TOGGLE),
        budget_s=table.budget,
        confidence=table.confidence,
        seed=table.seed,
        margins={name: math.log1p(margin) for name, margin in margins.items()},
        rounds=table.rounds,
        method=table.method,
    )


def _discarded(table: ProtocolTable, usual: tuple[float, float]) -> float:
    share, most_s = usual
    return table.settle if table.settle is not None else min(table.trial * share, most_s)


def limits_of(table: LimitsTable) -> Limits:
    """What ends the experiment at once."""
    return Limits(
        response_p99_s=table.response_p99_s,
        errors_per_s=table.errors_per_s,
        free_bytes=table.free_space,
        temperature_c=table.temperature,
    )
