"""What a plan costs: trials, machine time, bytes; and the rounds a budget holds."""

import contextlib
from collections.abc import Sequence

from pydantic import ValidationError

from ceteris.errors import PlanError, Problem
from ceteris.model import Combination, Factor, Plan, Settings, Workload
from ceteris.plan.design import comparisons, passes_per_round
from ceteris.registry import workload_kinds
from ceteris.units import show_duration

MOST_ROUNDS = 10
LEAST_ROUNDS = 2
OVERHEAD_S = 0.15  # starting the engine, setting and reading back; measured on a small virtual machine


def data_bytes(workloads: Sequence[Workload], factors: Sequence[Factor], combinations: Sequence[Combination]) -> int:
    """Bytes of storage that all data sets of a plan take side by side."""
    variants: list[Settings] = [{}, *(combination.settings for combination in combinations)]
    variants += [{factor.key: level} for factor in factors for level in factor.levels]
    total = 0
    for workload in workloads:
        kind = workload_kinds.get(workload.kind)
        sizes = set()
        for variant in variants:
            own = {
                k.partition(".")[2]: v
                for k, v in variant.items()
                if k.partition(".")[0] in (workload.name, workload.kind)
            }
            with contextlib.suppress(ValidationError):  # a level of another workload, told as a problem elsewhere
                sizes.add(kind.data_bytes(kind.parameters.model_validate({**workload.parameters, **own})))
        total += sum(sizes)
    return total


def trial_time(plan: Plan) -> float:
    """Seconds one trial takes in all."""
    return plan.protocol.settle_s + plan.protocol.trial_s + OVERHEAD_S


def trials_per_round(plan: Plan) -> int:
    """Trials of one round of every comparison."""
    return sum(
        passes_per_round(len(c.workload.load_levels)) * len(c.workload.load_levels) * len(c.arms)
        for c in comparisons(plan)
    )


def rounds_within(plan: Plan) -> int:
    """The rounds to make: as the plan says, else as many as its budget holds.

    Raises PlanError where the budget does not hold the least number that can be judged.
    """
    one = trials_per_round(plan) * trial_time(plan)
    wanted = plan.protocol.rounds
    rounds = wanted or min(MOST_ROUNDS, int(plan.protocol.budget_s // one))
    if rounds < LEAST_ROUNDS or rounds * one > plan.protocol.budget_s:
        needed = show_duration((wanted or LEAST_ROUNDS) * one)
        wrong = (
            f"{show_duration(plan.protocol.budget_s)} do not hold {wanted or LEAST_ROUNDS} rounds, which take {needed}"
        )
        raise PlanError(
            plan.name, [Problem("protocol.budget", wrong, "raise the budget, shorten trial, or compare less")]
        )
    return rounds
