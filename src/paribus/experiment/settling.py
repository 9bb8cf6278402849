"""Settle time of a load, learned from long runs.

Called by the walk between these runs and the noise trials.
"""

import math
from collections.abc import Sequence

import numpy as np
from sqlalchemy.engine import Engine as Store

from paribus.experiment.withdrawal import without
from paribus.model import Experiment, Measurement, Plan, Purpose, Trial, TrialState
from paribus.plan.schedule.budget import cost_s, least_rounds, round_s, spent_s
from paribus.plan.schedule.settling import with_settle
from paribus.stats.pairs import CannotJudge
from paribus.stats.settle import mser5, settle_s, time_constant
from paribus.store import read, write
from paribus.units import show_duration

_FEWEST = 2  # runs that must show the settle time
_MAX_SETTLE_TRIALS = 5  # the longest settle time, in lengths of a trial
_ROUNDED_S = 0.001
_STEP = 0.1  # log ratio; the assumed disturbance of a running load when a setting changes


def should_learn(plan: Plan, trials: Sequence[Trial]) -> bool:
    """Whether long runs were made and their settle time is not yet in the plan."""
    runs = [trial for trial in trials if trial.purpose is Purpose.CALIBRATE]
    begun = any(trial.state is not TrialState.PLANNED for trial in runs)
    return begun and plan.protocol.settled == "usual"


def learn(plan: Plan, experiment: Experiment, store: Store, trials: Sequence[Trial]) -> str:
    """Store the settle time that the runs need, and drop the rounds that the budget then cannot hold.

    The slowest run decides: too long costs time, too short would favour the arm that settles sooner. Returns a message
    about the settle time. Idempotent. Raises StoreError.
    """
    runs = {t.order: t for t in trials if t.purpose is Purpose.CALIBRATE and t.state is TrialState.DONE}
    all_series = read.series(store, experiment.id, "throughput_per_s", list(runs))
    needed = {order: times for order, series in all_series.items() if (times := _needed(plan, runs[order], series))}
    if len(needed) < _FEWEST:
        write.set_plan(store, experiment.id, with_settle(plan, plan.protocol.settle_s, 0.0))
        return "the long runs do not show how long the load takes to settle: it is given the usual time"
    slowest = max(needed, key=lambda order: needed[order][0])
    followed, rounds = _within(plan, trials, *needed[slowest])
    without({trial.order for trial in trials if trial.round > rounds}, trials, experiment.id, store)
    write.set_plan(store, experiment.id, followed)
    run, settle = runs[slowest], show_duration(followed.protocol.settle_s)
    short = "" if followed.protocol.settle_s >= needed[slowest][0] - _ROUNDED_S else ", less than it needs"
    return f"each load is given {settle} to settle{short}, by {run.subject} under {run.workload} at {run.load}"


def _within(plan: Plan, trials: Sequence[Trial], settle_s: float, toggle_s: float) -> tuple[Plan, int]:
    """The plan with that settle time, or the usual one where the budget cannot hold it, and the number of rounds."""
    learning = [trial for trial in trials if trial.purpose is Purpose.NOISE_FLOOR]
    planned = max(trial.round for trial in trials)
    most_s = _MAX_SETTLE_TRIALS * plan.protocol.trial_s
    for wanted_s in (min(settle_s, most_s), min(settle_s, plan.protocol.settle_s)):
        followed = with_settle(plan, wanted_s, min(toggle_s, wanted_s))
        left_s = plan.protocol.budget_s - spent_s(followed, trials) - cost_s(followed, learning)
        rounds = min(planned, int(left_s // round_s(followed)))
        if rounds >= least_rounds(followed):
            break
    return followed, max(rounds, min(planned, least_rounds(followed)))


def _needed(plan: Plan, run: Trial, series: Measurement) -> tuple[float, float] | None:
    """Seconds that a new load and one whose setting changes need to settle; None where the run does not show it."""
    protocol = plan.protocol
    margin = next(protocol.margins[workload.response] for workload in plan.workloads if workload.name == run.workload)
    points, step_s = np.array(series.points), series.step_s or 0.0
    try:
        if points.min(initial=math.inf) <= 0:
            return mser5(points) * step_s, 0.0
        tau_s, depth = time_constant(np.log(points), step_s)
    except CannotJudge:
        return None
    return settle_s(tau_s, depth, protocol.trial_s, margin), settle_s(tau_s, _STEP, protocol.trial_s, margin)
