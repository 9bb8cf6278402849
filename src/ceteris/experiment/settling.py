"""How long a load is given to settle, once long runs have shown it.

Called by the walk between these runs and what compares equals.
"""

import math
from collections.abc import Sequence

import numpy as np
from sqlalchemy.engine import Engine as Store

from ceteris.experiment.noise import known
from ceteris.model import Experiment, Measurement, Plan, Purpose, Trial, TrialState
from ceteris.plan.budget import least_rounds, round_s, rounds_needed, spent_s
from ceteris.plan.design import schedule_hash
from ceteris.plan.settling import with_settle
from ceteris.stats.pairs import CannotJudge
from ceteris.stats.settle import mser5, settle_s, time_constant
from ceteris.store import read, write
from ceteris.units import show_duration

_STEP = 0.1  # log ratio; what a load that goes on may be thrown off by when a setting changes


def is_to_be_learned(plan: Plan, trials: Sequence[Trial]) -> bool:
    """Whether it was looked at, and not concluded from yet."""
    runs = [trial for trial in trials if trial.purpose is Purpose.CALIBRATE]
    made = any(trial.state is not TrialState.PLANNED for trial in runs)
    return made and plan.protocol.settled == "usual"


def learn(plan: Plan, experiment: Experiment, store: Store, trials: Sequence[Trial]) -> str:
    """Keep the settle time that the slowest run needs, and drop the rounds that the budget then does not hold.

    Returns in words what was learned. Doing it twice is doing it once. Raises StoreError.
    """
    runs = {t.order: t for t in trials if t.purpose is Purpose.CALIBRATE and t.state is TrialState.DONE}
    courses = read.series(store, experiment.id, "throughput_per_s", list(runs))
    needed = {order: seen for order, course in courses.items() if (seen := _needed(plan, runs[order], course))}
    if not needed:
        return ""
    slowest = max(needed, key=lambda order: needed[order][0])
    plan = with_settle(plan, needed[slowest][0], max(toggle for _, toggle in needed.values()))
    left_s = plan.protocol.budget_s - spent_s(plan, trials)
    held = max(int(left_s // round_s(plan)), least_rounds(plan))
    rounds = min(max(trial.round for trial in trials), held)
    rounds = min(rounds, rounds_needed(plan, known(store, plan, experiment.fingerprint)))
    write.set_plan(store, experiment.id, plan)
    kept = [trial for trial in trials if trial.round <= rounds]
    write.shorten(store, experiment.id, rounds, schedule_hash(kept))
    run = runs[slowest]
    said = f"each load is given {show_duration(plan.protocol.settle_s)} to settle"
    return f"{said}: the slowest of {len(needed)} long runs was {run.subject} under {run.workload} at {run.load}"


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
