"""What a plan costs in trials and machine time, and the rounds a budget holds."""

from ceteris.errors import PlanError, Problem
from ceteris.model import Plan
from ceteris.plan.design import comparisons, measured, passes_per_round
from ceteris.units import show_duration

MOST_ROUNDS = 10
LEAST_ROUNDS = 2
OVERHEAD_S = 0.15  # starting the engine, setting and reading back; measured on a small virtual machine


def trial_time(plan: Plan) -> float:
    """Seconds one trial takes in all."""
    return plan.protocol.settle_s + plan.protocol.trial_s + OVERHEAD_S


def trials_per_round(plan: Plan) -> int:
    """Trials of one round of every comparison, and of what is only measured."""
    compared = sum(
        passes_per_round(len(c.workload.load_levels)) * len(c.workload.load_levels) * len(c.arms)
        for c in comparisons(plan)
    )
    return compared + sum(len(workload.load_levels) for workload in measured(plan))


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
