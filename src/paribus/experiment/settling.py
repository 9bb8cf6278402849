"""How long a load is given to settle, once long runs have shown it.

Called by the walk between these runs and what compares equals.
"""

import math
from collections.abc import Sequence

import numpy as np
from sqlalchemy.engine import Engine as Store

from paribus.experiment.noise import known
from paribus.model import Experiment, Measurement, Plan, Purpose, Trial, TrialState
from paribus.plan.budget import cost_s, least_rounds, round_s, rounds_needed, spent_s
from paribus.plan.design import schedule_hash
from paribus.plan.settling import with_settle
from paribus.stats.pairs import CannotJudge
from paribus.stats.settle import mser5, settle_s, time_constant
from paribus.store import read, write
from paribus.units import show_duration

_FEWEST = 2  # runs that must show it
_MOST = 5  # lengths of a trial that a load is given
_ROUNDED_S = 0.001
_STEP = 0.1  # log ratio; what a load that goes on may be thrown off by when a setting changes


def is_to_be_learned(plan: Plan, trials: Sequence[Trial]) -> bool:
    """Whether it was looked at, and not concluded from yet."""
    runs = [trial for trial in trials if trial.purpose is Purpose.CALIBRATE]
    made = any(trial.state is not TrialState.PLANNED for trial in runs)
    return made and plan.protocol.settled == "usual"


def learn(plan: Plan, experiment: Experiment, store: Store, trials: Sequence[Trial]) -> str:
    """Keep the settle time that the runs need, and drop the rounds that the budget then does not hold.

    The slowest run decides: too much costs time, too little would favour the arm that settles sooner. Returns in words
    what was learned. Doing it twice is doing it once. Raises StoreError.
    """
    runs = {t.order: t for t in trials if t.purpose is Purpose.CALIBRATE and t.state is TrialState.DONE}
    courses = read.series(store, experiment.id, "throughput_per_s", list(runs))
    needed = {order: seen for order, course in courses.items() if (seen := _needed(plan, runs[order], course))}
    if len(needed) < _FEWEST:
        write.set_plan(store, experiment.id, with_settle(plan, plan.protocol.settle_s, 0.0))
        return "the long runs do not show how long the load takes to settle: it is given the usual time"
    slowest = max(needed, key=lambda order: needed[order][0])
    followed, rounds = _within(plan, experiment, store, trials, *needed[slowest])
    kept = [trial for trial in trials if trial.round <= rounds]
    write.shorten(store, experiment.id, rounds, schedule_hash(kept))
    write.set_plan(store, experiment.id, followed)
    run, given = runs[slowest], show_duration(followed.protocol.settle_s)
    short = "" if followed.protocol.settle_s >= needed[slowest][0] - _ROUNDED_S else ", less than it needs"
    return f"each load is given {given} to settle{short}, by {run.subject} under {run.workload} at {run.load}"


def _within(
    plan: Plan, experiment: Experiment, store: Store, trials: Sequence[Trial], settle_s: float, toggle_s: float
) -> tuple[Plan, int]:
    """The plan with that settle time, or with the usual one where the budget does not hold it, and the rounds then."""
    noise = known(store, plan, experiment.fingerprint)
    learning = [trial for trial in trials if trial.purpose is Purpose.NOISE_FLOOR]
    planned = max(trial.round for trial in trials)
    most_s = _MOST * plan.protocol.trial_s
    for wanted_s in (min(settle_s, most_s), min(settle_s, plan.protocol.settle_s)):
        followed = with_settle(plan, wanted_s, min(toggle_s, wanted_s))
        left_s = plan.protocol.budget_s - spent_s(followed, trials) - cost_s(followed, learning)
        held = min(planned, rounds_needed(followed, noise), int(left_s // round_s(followed)))
        if held >= least_rounds(followed):
            break
    return followed, max(held, min(planned, least_rounds(followed)))


def _needed(plan: Plan, run: Trial, course: Measurement) -> tuple[float, float] | None:
    """Seconds that a new load needs, and one whose setting changes; None where the run does not show it."""
    protocol = plan.protocol
    margin = next(protocol.margins[one.response] for one in plan.workloads if one.name == run.workload)
    points, step_s = np.array(course.points), course.step_s or 0.0
    try:
        if points.min(initial=math.inf) <= 0:
            return mser5(points) * step_s, 0.0
        tau_s, depth = time_constant(np.log(points), step_s)
    except CannotJudge:
        return None
    return settle_s(tau_s, depth, protocol.trial_s, margin), settle_s(tau_s, _STEP, protocol.trial_s, margin)
