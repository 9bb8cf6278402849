"""Trials and machine time of a plan: rounds that the budget holds, and rounds that the question needs."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paribus.errors import PlanError, Problem
from paribus.mechanisms import has_least
from paribus.model import FEWEST_SECONDS, OF_SECONDS, Plan, Protocol, Purpose, Trial, TrialState, Workload
from paribus.plan.protocol import with_trial_length
from paribus.plan.schedule import settling
from paribus.plan.schedule.comparisons import (
    Comparison,
    adjusts_for_carry_over,
    candidates_at,
    comparisons,
    is_in_flight,
    measured,
    noise_comparisons,
    washes_out,
)
from paribus.plan.schedule.screened_alone import all_comparisons, confirming, each_alone
from paribus.stats.foldover import least_pairs, rows_for
from paribus.stats.planner import MOST_PAIRS, pairs_for, pairs_planned, pairs_that_show_stalls
from paribus.units import show_duration

LEAST_ROUNDS = 2
_LEAST_PAIRS = 16
OVERHEAD_S = 0.15  # start of the engine, write and read-back of settings; measured on a small virtual machine
_START_S = 4.0  # stop and start of a private server, an estimate
TOGGLE_OVERHEAD_S = 0.05  # write and read-back of settings under load, and storing the trial
_NOISE_SHARE = 0.2  # of the budget, for noise rounds and settle runs
_SETTLE_SHARE = 0.1  # of the budget, for settle runs; part of the share above
_SCREEN_SHARE = 0.5  # of the remaining budget, for a screen; the rest is for its confirmation
_MOST_OPEN_ROUNDS = 200
_TRIALS_S = (60, 45, 30, 20, 15, 10, 8, 6, 5, 4, 3, 2, 1)  # that a message proposes
_WASHED_SHARE = 0.5  # of the pairs: orders are random, so that every other pair begins with another arm than ran last

Noise = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Extent:
    """Number of rounds to carry out: noise rounds, which compare equal arms, and at most `rounds` that compare arms."""

    noise_rounds: int
    rounds: int


def block_s(comparison: Comparison, plan: Plan) -> float:
    """Returns the seconds that one block of a comparison takes."""
    protocol, arms, start_s = plan.protocol, len(comparison.arms), _start_s(comparison, plan)
    if comparison.toggled:
        protocol, trials = protocol.in_segments(), comparison.trials_per_block
        discarded = protocol.takeoff_s + (trials - 1) * protocol.toggle_s
        return start_s + discarded + trials * (protocol.trial_s + TOGGLE_OVERHEAD_S) + OVERHEAD_S
    wash_s = _wash_s(protocol) if washes_out(comparison, plan) else 0.0
    if is_in_flight(comparison, plan):
        discarded = protocol.takeoff_s + (arms - 1) * protocol.toggle_s
        return start_s + wash_s + discarded + arms * (protocol.trial_s + TOGGLE_OVERHEAD_S) + OVERHEAD_S
    return start_s + wash_s + arms * (comparison.apply_s + comparison.sub_trials * _alone_s(plan, comparison.workload))


def _wash_s(protocol: Protocol) -> float:
    """Returns the seconds that a block washes out on average: less where its first arm just ran for a trial."""
    after_own_s = max(0.0, protocol.wash_out_s - protocol.trial_s)
    return _WASHED_SHARE * protocol.wash_out_s + (1 - _WASHED_SHARE) * after_own_s


def _start_s(comparison: Comparison, plan: Plan) -> float:
    """Returns the seconds of a block's share in a start of the private server, which holds for several blocks."""
    database = plan.database if comparison.workload.database else None
    if comparison.apply_s or comparison.workload.cache == "cold":
        return 0.0  # each application, or each trial, is a start
    if database is None or not database.is_private or not database.restart_every:
        return 0.0
    return _START_S / database.restart_every


def round_s(plan: Plan) -> float:
    """Returns the seconds of one round of every comparison, and of the workloads that are only measured."""
    alone = sum(len(workload.load_levels) * _alone_s(plan, workload) for workload in measured(plan))
    return _round_s(comparisons(plan), plan) + alone


def noise_round_s(plan: Plan) -> float:
    """Returns the seconds of one round of comparisons between equal arms."""
    return _round_s(noise_comparisons(plan), plan)


def duration_s(plan: Plan, extent: Extent) -> float:
    """Returns the seconds of the whole experiment if no comparison stops early."""
    return settle_runs_s(plan) + extent.noise_rounds * noise_round_s(plan) + extent.rounds * round_s(plan)


def settle_runs_s(plan: Plan) -> float:
    """Returns the seconds of the long runs that show how long a load settles."""
    return plan.protocol.settle_runs * (plan.protocol.settle_run_s + OVERHEAD_S)


def with_settle_runs(plan: Plan) -> Plan:
    """Returns the plan with settle runs, if it leaves the settle time open and the budget has room for them.

    Settle runs get at most a tenth of the budget. A noise round, where the length of trials is open, and the fewest
    rounds that can be judged must still fit.
    """
    budget_s = plan.protocol.budget_s
    room_s = _NOISE_SHARE * budget_s - (noise_round_s(plan) if _needs_noise_trials(plan) else 0.0)
    extended = settling.with_runs(plan, min(room_s, _SETTLE_SHARE * budget_s), OVERHEAD_S)
    return extended if duration_s(extended, Extent(0, least_rounds(extended))) <= budget_s else plan


def _needs_noise_trials(plan: Plan) -> bool:
    """Returns whether equal arms must show first how long trials are in which a setting can act."""
    return plan.protocol.learns_trial_length and any(map(has_least, plan.requirements))


def _round_s(chosen: Sequence[Comparison], plan: Plan) -> float:
    return sum(comparison.blocks_per_round * block_s(comparison, plan) for comparison in chosen)


def _alone_s(plan: Plan, workload: Workload) -> float:
    """Returns the seconds of a trial that has a load of its own."""
    on_server = workload.database and plan.database and plan.database.is_server
    start_s = _START_S if on_server and workload.cache == "cold" else 0.0
    return plan.protocol.settle_s + plan.protocol.trial_s + OVERHEAD_S + start_s


def extent(plan: Plan, noise: Noise) -> Extent:
    """Returns the rounds to carry out: as the plan says, else as many as the question needs and the budget holds.

    `noise` is the standard deviation of a pair's log-ratio, by workload. A workload that has none gets as many rounds
    as may be worthwhile. If the length of trials is open, a noise round shows it, within a fifth of the budget.
    Raises PlanError if the budget does not hold the fewest rounds to judge.
    """
    protocol = plan.protocol
    one_round_s = round_s(plan)
    if protocol.rounds:
        requested = Extent(0, protocol.rounds)
        _refuse_beyond_budget(plan, requested)
        return requested
    noise_s = noise_round_s(plan) if _needs_noise_trials(plan) else 0.0
    settling_s = settle_runs_s(plan)
    noise_rounds = 1 if 0 < noise_s <= _NOISE_SHARE * protocol.budget_s - settling_s else 0
    remaining_s = protocol.budget_s - settling_s - noise_rounds * noise_s
    screen_share = _SCREEN_SHARE if any(comparison.screened for comparison in comparisons(plan)) else 1.0
    fewest = least_rounds(plan)
    planned = Extent(
        noise_rounds, min(rounds_needed(plan, noise), max(int(screen_share * remaining_s // one_round_s), fewest))
    )
    if duration_s(plan, planned) > protocol.budget_s:
        planned = Extent(0, fewest)
        _refuse_beyond_budget(plan, planned)
    return planned


def least_rounds(plan: Plan) -> int:
    """Returns the fewest rounds after which every comparison can be judged."""
    return max([LEAST_ROUNDS, *(_rounds_of(comparison, _LEAST_PAIRS) for comparison in comparisons(plan))])


def rounds_needed(plan: Plan, noise: Noise) -> int:
    """Returns the most rounds worth planning: they show equivalence at the margin with a probability of 0.9."""
    chosen = comparisons(plan)
    return _rounds_needed(plan, noise, chosen) if chosen else 10  # workloads that are only measured have no margin


def _rounds_needed(plan: Plan, noise: Noise, chosen: Sequence[Comparison]) -> int:
    if plan.protocol.method == "open-ended":
        return _MOST_OPEN_ROUNDS
    rounds = [LEAST_ROUNDS]
    for comparison in chosen:
        sd = noise.get(comparison.workload.name)
        margin = plan.protocol.margins[comparison.workload.response]
        rounds.append(_worthwhile_rounds(comparison, plan, MOST_PAIRS if sd is None else pairs_planned(margin, sd)))
    return max(rounds)


def rounds_for_noise(comparison: Comparison, plan: Plan, pair_sd: float) -> int:
    """Returns the most rounds of a comparison worth planning for this standard deviation of a pair."""
    margin = plan.protocol.margins[comparison.workload.response]
    return max(LEAST_ROUNDS, _worthwhile_rounds(comparison, plan, pairs_planned(margin, pair_sd)))


def _worthwhile_rounds(comparison: Comparison, plan: Plan, pairs: int) -> int:
    """Returns the rounds that show what `pairs` pairs show if no carry-over is estimated."""
    if adjusts_for_carry_over(comparison, plan):
        pairs = math.ceil(pairs * (1 + 1 / len(comparison.arms)))  # the covariate adds that to the variance: simulated
    return _rounds_of(comparison, pairs)


def _rounds_of(comparison: Comparison, pairs: int) -> int:
    """Returns the rounds that hold `pairs` pairs; a screen has whole replicates of its design."""
    if comparison.screened:
        rows = rows_for(len(comparison.screened))
        pairs = max(least_pairs(len(comparison.screened)), math.ceil(pairs / rows) * rows)
    if comparison.sub_trials > 1:
        pairs = math.ceil(pairs / 2)  # averaging the trials of an application removes at least half of the variance
    return math.ceil(pairs / comparison.blocks_per_round)


def confirmed_within(
    plan: Plan, noise: Noise, survivors: Sequence[tuple[str, str]], earlier: Sequence[Trial]
) -> tuple[Sequence[tuple[str, str]], int]:
    """Returns the survivors of a screen whose confirmation the budget holds, and the rounds of that confirmation.

    `survivors` are factors and workloads, the clearest first. As many as can be judged are confirmed, in as many rounds
    as are worth it. Lost trials that were rerun are not charged, so that an interrupted experiment plans the same.
    """
    remaining_s = _remaining_s(plan, earlier)
    for count in range(len(survivors), 0, -1):
        confirmations = confirming(plan, survivors[:count])
        affordable = int(remaining_s // _round_s(confirmations, plan))
        rounds = min(plan.protocol.rounds or _rounds_needed(plan, noise, confirmations), affordable)
        if rounds >= LEAST_ROUNDS:
            return survivors[:count], rounds
    return (), 0


def alone_within(
    plan: Plan, keys: Sequence[tuple[str, str]], earlier: Sequence[Trial]
) -> tuple[Sequence[tuple[str, str]], int]:
    """Returns the leading factors and workloads that the budget can try alone, and the rounds of the fewest pairs."""
    remaining_s = _remaining_s(plan, earlier)
    for count in range(len(keys), 0, -1):
        compared = each_alone(plan, keys[:count])
        rounds = max((_rounds_of(comparison, _LEAST_PAIRS) for comparison in compared), default=0)
        if rounds and rounds * _round_s(compared, plan) <= remaining_s:
            return keys[:count], rounds
    return (), 0


def _remaining_s(plan: Plan, earlier: Sequence[Trial]) -> float:
    """Returns the seconds of the budget that no trial uses."""
    charged = [trial for trial in earlier if trial.state not in (TrialState.SPARED, TrialState.SUPERSEDED)]
    return plan.protocol.budget_s - cost_s(plan, charged)


def confirming_s(plan: Plan) -> float:
    """Returns the most seconds of the shortest confirmation of one screened factor; 0 if nothing is screened."""
    screened = {
        (key, comparison.workload.name)
        for comparison in comparisons(plan)
        if comparison.screened
        for key in comparison.tested
    }
    costs_s = [comparison.blocks_per_round * block_s(comparison, plan) for comparison in candidates_at(plan, screened)]
    return LEAST_ROUNDS * max(costs_s, default=0.0)


def spent_s(plan: Plan, trials: Sequence[Trial]) -> float:
    """Returns the planned seconds of the trials carried out so far."""
    return cost_s(plan, [trial for trial in trials if trial.state not in (TrialState.PLANNED, TrialState.SPARED)])


def cost_s(plan: Plan, trials: Sequence[Trial]) -> float:
    """Returns the planned seconds of these trials."""
    if (noise_trial_s := plan.protocol.noise_trial_s) is not None:
        protocol = dataclasses.replace(plan.protocol, trial_s=noise_trial_s, noise_trial_s=None)
        noise_trials = [trial for trial in trials if trial.purpose is Purpose.NOISE_FLOOR]
        others = [trial for trial in trials if trial.purpose is not Purpose.NOISE_FLOOR]
        return cost_s(dataclasses.replace(plan, protocol=protocol), noise_trials) + _cost_s(plan, others)
    return _cost_s(plan, trials)


def _cost_s(plan: Plan, trials: Sequence[Trial]) -> float:
    """Returns the planned seconds of trials of the same length."""
    trial_cost_s = {
        comparison.key: block_s(comparison, plan) / comparison.trials_per_block for comparison in all_comparisons(plan)
    }
    settle_s = sum(trial.purpose is Purpose.CALIBRATE for trial in trials) * (plan.protocol.settle_run_s + OVERHEAD_S)
    others = [trial for trial in trials if trial.purpose not in (Purpose.CALIBRATE, Purpose.PRECONDITION)]
    alone_s = {workload.name: _alone_s(plan, workload) for workload in plan.workloads}
    return settle_s + sum(trial_cost_s.get((trial.factor, trial.workload), alone_s[trial.workload]) for trial in others)


def rounds_that_show(comparison: Comparison, plan: Plan, pair_sd: float) -> int:
    """Returns the rounds, however many, that show equivalence at the margin with a probability of 0.9."""
    margin = plan.protocol.margins[comparison.workload.response]
    pairs = max(pairs_for(margin, pair_sd), pairs_that_show_stalls(margin))
    return max(LEAST_ROUNDS, _worthwhile_rounds(comparison, plan, pairs))


def time_for(plan: Plan, noise: Noise, workload: str) -> float | None:
    """Returns the seconds to show equivalence at the margin with a probability of 0.9; None if the noise is unknown."""
    sd = noise.get(workload)
    if sd is None:
        return None
    under_workload = [comparison for comparison in comparisons(plan) if comparison.workload.name == workload]
    return max(rounds_that_show(comparison, plan, sd) for comparison in under_workload) * round_s(plan)


def _refuse_beyond_budget(plan: Plan, planned: Extent) -> None:
    needed_s = duration_s(plan, planned)
    budget_s = plan.protocol.budget_s
    if needed_s > budget_s:
        message = f"{show_duration(budget_s)} do not hold {planned.rounds} rounds, which take {show_duration(needed_s)}"
        lengths = [trial_s for trial_s in _TRIALS_S if trial_s >= shortest_trial_s(plan, 1)]
        fitting_s = next((trial_s for trial_s in lengths if _fits(plan, planned, trial_s)), None)
        shorten = f"shorten trial to {fitting_s} s, " if fitting_s else ""
        budget = f"{math.ceil(needed_s / 60)} min" if needed_s <= 7200 else f"{math.ceil(needed_s / 360) / 10:g} h"
        hint = f"raise the budget to {budget}, {shorten}or compare less"
        raise PlanError(plan.name, [Problem("protocol.budget", message, hint)])


def _fits(plan: Plan, planned: Extent, trial_s: float) -> bool:
    """Returns whether a plan with shorter trials is complete in its budget; a stated settle time stays."""
    shortened = dataclasses.replace(plan, protocol=with_trial_length(plan.protocol, trial_s))
    return trial_s < plan.protocol.trial_s and duration_s(shortened, planned) <= plan.protocol.budget_s


def shortest_trial_s(plan: Plan, usual_s: int) -> int:
    """Returns the shortest trials in which every response of a plan can be judged, at least `usual_s`."""
    of_seconds = any(set(OF_SECONDS) & set(workload.responses) for workload in plan.workloads)
    return FEWEST_SECONDS if of_seconds else usual_s
