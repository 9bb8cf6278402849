"""Noise of a machine from earlier experiments, and the margin that a number of rounds shows at a noise.

Called before an experiment begins, and by previews.
"""

import dataclasses
import math
import statistics
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence

from sqlalchemy.engine import Engine as Store

from paribus.analysis.diagnostics.noise import KEEPS_S, fingerprint_digest, level_sds, pair_sd, stack_of
from paribus.i18n import N_, StoredMessage, stored_message
from paribus.model import Calibration, Plan
from paribus.plan.protocol import with_usual_margin
from paribus.plan.schedule.budget import Extent, duration_s, rounds_for_noise, rounds_that_show, with_settle_runs
from paribus.plan.schedule.comparisons import comparisons
from paribus.plan.schedule.settling import with_settle
from paribus.plan.schedule.trial_fit import with_fitting_trials
from paribus.stats.planner import smallest_effect, smallest_margin
from paribus.store import read
from paribus.units import show_duration


def known_pair_sds(store: Store, plan: Plan, fingerprint: Mapping[str, str]) -> dict[str, float]:
    """The standard deviation of a pair by workload, from earlier experiments on this machine. Raises StoreError."""
    by_workload = {name: pair_sd(stored) for name, stored in _stored_calibrations(store, plan, fingerprint).items()}
    return {name: sd for name, sd in by_workload.items() if sd}


def _stored_calibrations(store: Store, plan: Plan, fingerprint: Mapping[str, str]) -> dict[str, list[Calibration]]:
    """The unexpired calibrations of each workload on this machine."""
    calibrations_of_host = read.calibrations(store, fingerprint_digest(fingerprint), time.time())
    stacks = {workload.name: stack_of(workload, plan.protocol) for workload in plan.workloads}
    return {
        name: [calibration for calibration in calibrations_of_host if calibration.workload == stack]
        for name, stack in stacks.items()
    }


def plan_for_machine(store: Store | None, plan: Plan, fingerprint: Mapping[str, str]) -> tuple[Plan, dict[str, float]]:
    """The plan with its machine-dependent values, and the standard deviation of a pair by workload.

    These values are the usual margin at that noise, and the noise by load level where it differs. They also include
    the time to apply each factor, and the settle time or the runs that measure it. Without a store nothing is known.
    Raises StoreError.
    """
    recent = _recent_experiments(store, fingerprint) if store else []
    if store and recent:
        plan = _with_known_applications(store, plan, recent)
    plan = with_fitting_trials(plan)  # noise and settle time are those of trials of this length
    pair_sds = known_pair_sds(store, plan, fingerprint) if store else {}
    plan = with_usual_margin(plan, pair_sds.values())
    if store and recent:
        stored = _stored_calibrations(store, plan, fingerprint)
        level_noise = {workload.name: level_sds(stored[workload.name], workload.levels) for workload in plan.workloads}
        level_noise = {name: sds for name, sds in level_noise.items() if sds}
        plan = dataclasses.replace(plan, protocol=dataclasses.replace(plan.protocol, level_sd=level_noise))
        plan = _with_known_settle(store, plan, recent)
    return with_settle_runs(plan), pair_sds


def _with_known_applications(store: Store, plan: Plan, recent: Sequence[str]) -> Plan:
    """The plan with the time that applying each factor took in earlier experiments."""
    durations_s: dict[str, list[float]] = defaultdict(list)
    for factor, seconds in read.applications(store, recent):
        durations_s[factor].append(seconds)
    measured_s = {factor: statistics.median(seconds) for factor, seconds in durations_s.items()}
    apply_s = {**plan.protocol.apply_s, **measured_s}
    return dataclasses.replace(plan, protocol=dataclasses.replace(plan.protocol, apply_s=apply_s))


def _recent_experiments(store: Store, fingerprint: Mapping[str, str]) -> list[str]:
    """The experiments of the last week on this machine, the newest first."""
    digest, since = fingerprint_digest(fingerprint), time.time() - KEEPS_S
    recent = [experiment for experiment in read.experiments(store) if experiment.started > since]
    return [experiment.id for experiment in recent if fingerprint_digest(experiment.fingerprint) == digest]


def _with_known_settle(store: Store, plan: Plan, recent: Sequence[str]) -> Plan:
    """The plan with the settle time of an earlier experiment, where the plan leaves it open.

    That experiment measured it in its own runs, with all these workloads and factors and margins at least as strict.
    One of an earlier version of Paribus may lack the margin of a response.
    """
    judged = {response for workload in plan.workloads for response in workload.responses}
    needed_stacks = {stack_of(workload, plan.protocol) for workload in plan.workloads}
    for experiment in recent if plan.protocol.settled == "usual" else ():
        earlier = read.plan(store, experiment)
        stacks = {stack_of(workload, earlier.protocol) for workload in earlier.workloads}
        factors = {factor.key for factor in earlier.factors}
        as_strict = all(
            earlier.protocol.margins.get(response, math.inf) <= plan.protocol.margins[response] for response in judged
        )
        measured_itself = earlier.protocol.settled == "calibrated" and earlier.protocol.settle_runs > 0
        if (
            measured_itself
            and as_strict
            and needed_stacks <= stacks
            and factors.issuperset(factor.key for factor in plan.factors)
        ):
            return with_settle(plan, earlier.protocol.settle_s, earlier.protocol.toggle_s)
    return plan


def precision_note(plan: Plan, workload: str, sd: float, rounds: int) -> StoredMessage | None:
    """Return what so many rounds show at this noise, and what the margin needs; None for a workload not compared."""
    for comparison in comparisons(plan):
        if comparison.workload.name == workload:
            margin = plan.protocol.margins[comparison.workload.response]
            pairs = rounds * comparison.blocks_per_round
            reached = smallest_margin(sd, pairs)
            note = stored_message(
                "noise under {workload}: equal trials differ by {noise:.1%}; "
                "{rounds} rounds find an effect of {effect:.1%} and show equivalence within {reached:.1%}",
                workload=workload,
                noise=math.expm1(sd),
                rounds=rounds,
                effect=math.expm1(smallest_effect(sd, pairs)),
                reached=math.expm1(reached),
            )
            if reached <= margin:
                return note
            needed = rounds_that_show(comparison, plan, sd)
            by_budget = N_(
                "{said}, not within {margin:.1%}, which needs {needed} rounds ({duration}): "
                "raise the budget to that, or the margin"
            )
            by_trials = N_(
                "{said}, not within {margin:.1%}, which needs {needed} rounds ({duration}), more than an experiment "
                "has: lengthen the trials, or raise the margin"
            )
            text = by_budget if needed <= rounds_for_noise(comparison, plan, sd) else by_trials
            duration = show_duration(duration_s(plan, Extent(0, needed)))
            return stored_message(text, said=note, margin=math.expm1(margin), needed=needed, duration=duration)
    return None
