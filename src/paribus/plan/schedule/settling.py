"""Settle runs: long runs before anything is compared that show how long a load needs to settle.

The baseline runs first, at the highest and the lowest load level, then the arms as far as the time allows.
"""

import dataclasses
from collections.abc import Iterator

from paribus.model import Plan, Purpose, Trial
from paribus.plan.schedule.comparisons import candidates
from paribus.registry import workload_kinds

_SHORTEST, _LONGEST = 5, 10  # length of a settle run, in lengths of a trial
_FEWEST = 2
_LEAST_SETTLE = 1 / 12  # of the length of a trial, if no settling was found


def with_runs(plan: Plan, room_s: float, overhead_s: float) -> Plan:
    """Returns the plan with the settle runs that `room_s` seconds hold.

    There are none if the plan needs none, or if the time does not hold the two of the baseline.
    """
    protocol = plan.protocol
    run_count = len(list(trials(plan, None)))
    if protocol.settled != "usual" or protocol.rounds or run_count < _FEWEST:
        return plan
    time_each_s = room_s / run_count - overhead_s
    run_s = round(min(max(time_each_s, _SHORTEST * protocol.trial_s), _LONGEST * protocol.trial_s), 3)
    count = min(run_count, int(room_s // (run_s + overhead_s)))
    if count < _FEWEST:
        return plan
    return dataclasses.replace(plan, protocol=dataclasses.replace(protocol, settle_runs=count, settle_run_s=run_s))


def with_settle(plan: Plan, settle_s: float, toggle_s: float) -> Plan:
    """Returns the plan with calibrated settle times: for a new load, and for a change under load."""
    protocol = plan.protocol
    settle_s = round(max(settle_s, _LEAST_SETTLE * protocol.trial_s), 3)
    calibrated = dataclasses.replace(
        protocol,
        settle_s=settle_s,
        takeoff_s=settle_s,
        toggle_s=round(max(protocol.toggle_s, toggle_s), 3),
        settled="calibrated",
    )
    return dataclasses.replace(plan, protocol=calibrated)


def trials(plan: Plan, most: int | None) -> Iterator[Trial]:
    """Yields the settle runs, the most important first, without numbers.

    Tools do not report how a load settles, and what is toggled needs no time to.
    """
    compared = [
        comparison
        for comparison in candidates(plan)
        if not comparison.toggled and not workload_kinds.get(comparison.workload.kind).tool
    ]
    workloads = {comparison.workload.name: comparison.workload for comparison in compared}.values()
    baselines = [(workload, "", "", plan.baseline) for workload in workloads]
    arms = [
        (comparison.workload, comparison.factor, arm.label, arm.settings)
        for comparison in compared
        for arm in comparison.arms[1:]
    ]
    runs = [(run, load) for run in [*baselines, *arms] for load in dict.fromkeys((run[0].levels[-1], run[0].levels[0]))]
    for (workload, factor, arm, settings), load in runs[:most]:
        yield Trial(
            experiment="",
            order=0,
            round=0,
            block=0,
            position=1,
            attempt=1,
            factor=factor,
            arm=arm,
            baseline=not arm,
            purpose=Purpose.CALIBRATE,
            settings=settings,
            workload=workload.name,
            load=load,
        )
