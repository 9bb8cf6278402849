"""Number of rounds by the first pairs: before the first look at a comparison, their variation says how many it needs.

The variation says nothing about the effect, so that looks keep their error rates (internal pilot study, Wittes and
Brittain 1990). Unlike trials of equal settings these pairs count, and they show the noise of both arms.
"""

import dataclasses
import math
import time
from collections.abc import Sequence

from sqlalchemy.engine import Engine as Store

from paribus.analysis.diagnostics.noise import fingerprint_digest, pair_sd
from paribus.analysis.diagnostics.pilot_noise import pilot_calibrations
from paribus.analysis.paired.effects import metrics_of_pairs
from paribus.analysis.paired.finding import LEAST_UNITS
from paribus.experiment.noise import precision_note
from paribus.experiment.withdrawal import without
from paribus.i18n import StoredMessage
from paribus.model import Calibration, Experiment, Plan, Purpose, Trial, TrialState
from paribus.plan.protocol import with_usual_margin
from paribus.plan.schedule.budget import rounds_for_noise
from paribus.plan.schedule.comparisons import Comparison, comparisons
from paribus.store import read, write
from paribus.trial.blocks import blocks_over


def with_open_rounds(plan: Plan) -> Plan:
    """The plan in which the first pairs decide the rounds, unless it states their number or has no end."""
    protocol = plan.protocol
    if protocol.rounds is not None or protocol.method == "open-ended":
        return plan
    keys = tuple(comparison.key for comparison in judged(plan))
    return dataclasses.replace(plan, protocol=dataclasses.replace(protocol, open_rounds=keys))


def replan(plan: Plan, experiment: Experiment, store: Store, trials: Sequence[Trial]) -> list[StoredMessage]:
    """Drop the needless rounds of each comparison that has its first pairs, and store the noise that they show.

    Returns messages about the noise. Idempotent. Raises StoreError.
    """
    if not plan.protocol.open_rounds:
        return []
    notes: list[StoredMessage] = []
    completed = blocks_over(trials)
    for comparison in judged(plan):
        own_trials = [trial for trial in trials if (trial.factor, trial.workload) == comparison.key]
        is_planned = any(trial.state is TrialState.PLANNED for trial in own_trials)
        if comparison.key not in plan.protocol.open_rounds or (
            is_planned and completed.get(comparison.key, 0) < blocks_before_first_look(comparison)
        ):
            continue
        noise = _noise(comparison, own_trials, plan, experiment, store)
        sd = pair_sd(noise)
        if sd is not None:
            if not comparison.toggled:  # the noise of short trials under one load is not that of others
                write.add_calibrations(store, noise)
            plan = with_usual_margin(plan, [sd])
            rounds = min(rounds_for_noise(comparison, plan, sd), max(trial.round for trial in own_trials))
            if _is_first_of_workload(comparison, plan) and (
                note := precision_note(plan, comparison.workload.name, sd, rounds)
            ):
                notes.append(note)
                write.add_note(store, experiment.id, note)
            needless = {
                trial.order for trial in own_trials if trial.round > rounds and trial.state is TrialState.PLANNED
            }
            trials = without(needless, trials, experiment.id, store)
        still_open = tuple(key for key in plan.protocol.open_rounds if key != comparison.key)
        protocol = dataclasses.replace(plan.protocol, open_rounds=still_open, usual_margin=False)
        plan = dataclasses.replace(plan, protocol=protocol)
        if not still_open:
            without(_unaccompanied(plan, trials), trials, experiment.id, store)
        write.set_plan(store, experiment.id, plan)
    return notes


def judged(plan: Plan) -> list[Comparison]:
    """The comparisons that get a verdict: all but placebos."""
    return [comparison for comparison in comparisons(plan) if comparison.purpose is not Purpose.PLACEBO]


def blocks_before_first_look(comparison: Comparison) -> int:
    """The blocks of a comparison before its first look."""
    if comparison.screened:
        return 2 * comparison.blocks_per_look
    least = LEAST_UNITS["application" if comparison.sub_trials > 1 else "pair"]
    return math.ceil(least / comparison.blocks_per_look) * comparison.blocks_per_look


def _is_first_of_workload(comparison: Comparison, plan: Plan) -> bool:
    """Whether the rounds of no other comparison under the workload were decided before."""
    workload = comparison.workload.name
    keys = {other.key for other in judged(plan) if other.workload.name == workload}
    return keys.issubset(plan.protocol.open_rounds)


def _unaccompanied(plan: Plan, trials: Sequence[Trial]) -> set[int]:
    """The planned trials of placebos and of workloads that are only measured, in rounds without a comparison."""
    keys = {comparison.key for comparison in judged(plan)}
    compared = [t for t in trials if t.state is not TrialState.SPARED and (t.factor, t.workload) in keys]
    last = max((trial.round for trial in compared), default=0)
    accompanying = (Purpose.PLACEBO, Purpose.MEASURE)
    return {t.order for t in trials if t.purpose in accompanying and t.round > last and t.state is TrialState.PLANNED}


def _noise(
    comparison: Comparison, trials: Sequence[Trial], plan: Plan, experiment: Experiment, store: Store
) -> list[Calibration]:
    """The noise of the comparison's pairs; nothing where they do not tell."""
    metrics = metrics_of_pairs([comparison.workload])
    summaries = read.summaries(store, experiment.id, metrics=metrics, comparisons=[comparison.key])
    host, now = fingerprint_digest(experiment.fingerprint), time.time()
    return pilot_calibrations(trials, summaries, comparison.workload, plan, host, now)
