"""A plan's protocol and limits as they are followed."""

import math

from ceteris.model import RESPONSES, Limits, Protocol
from ceteris.plan.file import LimitsTable, ProtocolTable

_LONGEST_SETTLE_S = 30.0


def protocol_of(table: ProtocolTable) -> Protocol:
    """The protocol with what the plan leaves open: settle time, and the margin of each response."""
    margins = {name: response.margin for name, response in RESPONSES.items()}
    if table.margin is not None:
        margins |= dict.fromkeys(("throughput_per_s", "bytes_per_s"), table.margin)
    margins |= dict(table.margins.items())
    return Protocol(
        trial_s=table.trial,
        settle_s=table.settle if table.settle is not None else min(table.trial / 2, _LONGEST_SETTLE_S),
        budget_s=table.budget,
        confidence=table.confidence,
        seed=table.seed,
        margins={name: math.log1p(margin) for name, margin in margins.items()},
        rounds=table.rounds,
        method=table.method,
    )


def limits_of(table: LimitsTable) -> Limits:
    """What ends the experiment at once."""
    return Limits(
        response_p99_s=table.response_p99_s,
        errors_per_s=table.errors_per_s,
        free_bytes=table.free_space,
        temperature_c=table.temperature,
    )
