"""What is known of a machine's noise, and how much of a plan it makes needful.

Called before an experiment begins, by what previews it, and by the walk between comparing equals and comparing arms.
"""

import dataclasses
import math
import statistics
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence

from sqlalchemy.engine import Engine as Store

from paribus.analysis.diagnostics.noise import KEEPS_S, calibrations, fingerprint_digest, level_sds, pair_sd, stack_of
from paribus.i18n import N_, StoredMessage, stored_message
from paribus.model import Calibration, Experiment, Plan, Purpose, Trial, TrialState
from paribus.plan.budget import rounds_needed, with_settle_runs
from paribus.plan.comparisons import comparisons
from paribus.plan.design import schedule_hash
from paribus.plan.protocol import with_usual_margin
from paribus.plan.settling import with_settle
from paribus.stats.planner import smallest_margin
from paribus.store import read, write

BEFORE = (Purpose.PRECONDITION, Purpose.CALIBRATE, Purpose.NOISE_FLOOR)


def known(store: Store, plan: Plan, fingerprint: Mapping[str, str]) -> dict[str, float]:
    """The noise of a pair by workload, so far as earlier experiments on this machine tell. Raises StoreError."""
    by_workload = {name: pair_sd(found) for name, found in _kept(store, plan, fingerprint).items()}
    return {name: sd for name, sd in by_workload.items() if sd}


def _kept(store: Store, plan: Plan, fingerprint: Mapping[str, str]) -> dict[str, list[Calibration]]:
    """What is kept of the noise under each workload."""
    found = read.calibrations(store, fingerprint_digest(fingerprint), time.time())
    stacks = {workload.name: stack_of(workload, plan.protocol) for workload in plan.workloads}
    return {name: [one for one in found if one.workload == stack] for name, stack in stacks.items()}


def informed(store: Store | None, plan: Plan, fingerprint: Mapping[str, str]) -> tuple[Plan, dict[str, float]]:
    """The plan with what depends on the machine, and the noise of a pair by workload.

    That is the margin that is usual at such noise, where that differs from level to level, what applying each factor
    takes, and the settle time, or the runs that show it. Without a store nothing is known. Raises StoreError.
    """
    noise = known(store, plan, fingerprint) if store else {}
    alike = _made_alike(store, fingerprint) if store else []
    plan = with_usual_margin(plan, noise.values())
    if store and alike:
        took: dict[str, list[float]] = defaultdict(list)
        for factor, seconds in read.applications(store, alike):
            took[factor].append(seconds)
        apply_s = {factor: statistics.median(seconds) for factor, seconds in took.items()}
        kept = _kept(store, plan, fingerprint)
        unlike = {workload.name: level_sds(kept[workload.name], workload.levels) for workload in plan.workloads}
        unlike = {name: sds for name, sds in unlike.items() if sds}
        plan = dataclasses.replace(plan, protocol=dataclasses.replace(plan.protocol, apply_s=apply_s, level_sd=unlike))
        plan = _settled(store, plan, alike)
    return with_settle_runs(plan, noise), noise


def _made_alike(store: Store, fingerprint: Mapping[str, str]) -> list[str]:
    """The experiments of the last week on this machine, the newest first."""
    digest, since = fingerprint_digest(fingerprint), time.time() - KEEPS_S
    made = [one for one in read.experiments(store) if one.started > since]
    return [one.id for one in made if fingerprint_digest(one.fingerprint) == digest]


def _settled(store: Store, plan: Plan, alike: Sequence[str]) -> Plan:
    """The plan with the settle time that runs of all its workloads and factors showed, where it leaves that open: an
    experiment's own runs, for no larger a margin."""
    wanted = {stack_of(workload, plan.protocol) for workload in plan.workloads}
    for experiment in alike if plan.protocol.settled == "usual" else ():
        before = read.plan(store, experiment)
        stacks = {stack_of(workload, before.protocol) for workload in before.workloads}
        factors = {one.key for one in before.factors}
        strict = all(before.protocol.margins[name] <= margin for name, margin in plan.protocol.margins.items())
        own = before.protocol.settled == "calibrated" and before.protocol.settle_runs > 0
        if own and strict and wanted <= stacks and factors.issuperset(one.key for one in plan.factors):
            return with_settle(plan, before.protocol.settle_s, before.protocol.toggle_s)
    return plan


def is_to_be_learned(trials: Sequence[Trial]) -> bool:
    """Whether equals were compared, and nothing else yet."""
    compared = [trial for trial in trials if trial.purpose not in BEFORE]
    return any(trial.purpose is Purpose.NOISE_FLOOR for trial in trials) and all(
        trial.state is TrialState.PLANNED for trial in compared
    )


def learn(plan: Plan, experiment: Experiment, store: Store, trials: Sequence[Trial]) -> list[StoredMessage]:
    """Keep the noise that comparing equals showed, and drop the rounds that it makes needless.

    Returns in words what was learned. Doing it twice is doing it once. Raises StoreError.
    """
    summaries = read.summaries(store, experiment.id)
    digest = fingerprint_digest(experiment.fingerprint)
    found = calibrations(trials, summaries, plan.workloads, plan.protocol, digest, time.time())
    write.add_calibrations(store, found)
    noise = known(store, plan, experiment.fingerprint)
    plan = with_usual_margin(plan, noise.values())
    write.set_plan(store, experiment.id, plan)
    rounds = min(max(trial.round for trial in trials), rounds_needed(plan, noise))
    kept = [trial for trial in trials if trial.round <= rounds]
    write.shorten(store, experiment.id, rounds, schedule_hash(kept))
    notes = [words for name, sd in noise.items() if (words := promise(plan, name, sd, rounds))]
    for note in notes:
        write.add_note(store, experiment.id, note)
    return notes


def promise(plan: Plan, workload: str, sd: float, rounds: int) -> StoredMessage | None:
    """What so many rounds can show at this noise; None where nothing is compared under the workload."""
    for one in comparisons(plan):
        if one.workload.name == workload:
            margin = plan.protocol.margins[one.workload.response]
            reached = smallest_margin(sd, rounds * one.blocks_per_round)
            said = stored_message(
                "noise under {workload}: equal trials differ by {noise:.1%}; "
                "{rounds} rounds show equivalence within {reached:.1%}",
                workload=workload,
                noise=math.expm1(sd),
                rounds=rounds,
                reached=math.expm1(reached),
            )
            if reached <= margin:
                return said
            short = N_("{said}, not within {margin:.1%}: raise the budget or the margin")
            return stored_message(short, said=said, margin=math.expm1(margin))
    return None
