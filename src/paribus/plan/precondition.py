"""Preconditioning in a plan: its trials, what it writes, how long it takes at most, and what forbids it.

The check, the design and the preview of a plan call this.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from paribus.i18n import N_, StoredMessage, stored_message
from paribus.model import Plan, Precondition, Purpose, Settings, Trial, Workload
from paribus.plan.form.file import PreconditionTable
from paribus.registry import DataSet, data_of, parameters_of
from paribus.units import LoadLevel

_DataKey = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of preconditioning one data set; the empty device stands for the path.

    Random overwriting adds to `least_bytes`. `most_s` does not include the time of the fills.
    """

    workload: str
    device: str
    fills: int
    least_bytes: int
    most_s: float


def precondition_of(table: PreconditionTable | None) -> Precondition | None:
    """Returns the preconditioning that a plan's table asks for; None without a table."""
    if table is None:
        return None
    return Precondition(
        fills=table.fills,
        round_s=table.round,
        most_rounds=table.most_rounds,
        window=table.window,
        most_spread=table.spread,
        most_drift=table.drift,
    )


def put_first(plan: Plan, trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """Returns the trials, renumbered from 1, after one preconditioning trial in block 0 for each data set."""
    first = _preconditioning(plan, trials)
    return (*first, *(dataclasses.replace(trial, order=trial.order + len(first)) for trial in trials))


def _preconditioning(plan: Plan, trials: Sequence[Trial]) -> list[Trial]:
    """Returns one trial for each data set, at the baseline except for the parameters that select the data set."""
    workloads = {workload.name: workload for workload in plan.workloads if workload.precondition}
    first: dict[_DataKey, Trial] = {}
    for trial in trials:
        workload = workloads.get(trial.workload)
        if workload is None or (data_key := _data_key(workload, trial.settings)) in first:
            continue
        settings, arm = plan.baseline, ""
        if _data_key(workload, plan.baseline) != data_key:
            parameters = {
                key: value for key, value in trial.settings.items() if key.partition(".")[0] in workload.owners
            }
            settings, arm = {**plan.baseline, **parameters}, f"{trial.factor} = {trial.arm}"
        number = len(first) + 1
        first[data_key] = Trial(
            experiment=trial.experiment,
            order=number,
            round=0,
            block=0,
            position=number,
            attempt=1,
            factor="",
            arm=arm,
            baseline=True,
            purpose=Purpose.PRECONDITION,
            settings=settings,
            workload=workload.name,
            load=_load(workload),
        )
    return list(first.values())


def _data_key(workload: Workload, settings: Settings) -> _DataKey:
    """Returns the key of a data set: workloads share a device; the series of a matrix share files."""
    data_set = data_of(workload, settings)
    return data_set.device, "" if data_set.device else workload.plan_name, data_set.shape


def _load(workload: Workload) -> LoadLevel:
    """Returns the most operations that the workload has outstanding.

    An open loop would only show the rate that it asks for.
    """
    if workload.open_loop:
        return LoadLevel(workload.open_loop.outstanding)
    return LoadLevel(max(1, *workload.load_levels))


def costs(plan: Plan, trials: Sequence[Trial]) -> list[Cost]:
    """Returns the cost of each preconditioning trial among these."""
    workloads = {workload.name: workload for workload in plan.workloads}
    preconditionings = []
    for trial in trials:
        precondition = workloads[trial.workload].precondition
        if trial.purpose is Purpose.PRECONDITION and precondition:
            data_set = data_of(workloads[trial.workload], trial.settings)
            least_bytes = precondition.fills * data_set.size_bytes
            most_s = precondition.most_rounds * precondition.round_s
            preconditionings.append(
                Cost(workloads[trial.workload].plan_name, data_set.device, precondition.fills, least_bytes, most_s)
            )
    return preconditionings


_UNDONE = {
    ("mode", "seqwr"): ("seqwr empties its files, which undoes preconditioning", "use seqrewr"),
    ("engine", "null"): ("the null engine does no I/O: there is nothing to precondition", "take precondition out"),
}


def complaints(plan: Plan, arms: Mapping[str, Sequence[Settings]]) -> Iterator[tuple[str, str, str, str]]:
    """Yields (workload of the plan, key, message, hint) for everything that would undo preconditioning.

    `arms` are the settings of every arm, by workload.
    """
    sets = {workload.name: _data_sets(workload, arms[workload.name]) for workload in plan.workloads}
    for workload in plan.workloads:
        name = workload.plan_name
        if workload.precondition is None:
            continue
        if workload.data != "keep":
            message = f"with {workload.data!r} the data is restored, which undoes precondition"
            yield name, "data", message, "remove data: preconditioned data is kept"
        parameters = [item for settings in arms[workload.name] for item in _parameters(workload, settings).items()]
        for parameter, (message, hint) in _UNDONE.items():
            if parameter in parameters:
                yield name, "precondition", message, hint
        for other in plan.workloads:
            if other.plan_name != name and _overwrites(other, sets[other.name], sets[workload.name]):
                message = f"{other.plan_name} makes its own data on the same device, which undoes precondition"
                hint = f'give {other.plan_name} another device, or the same data with data = "keep"'
                yield name, "precondition", message, hint


def _parameters(workload: Workload, settings: Settings) -> dict[str, Any]:
    """Returns the workload's parameters; none if they exclude each other, which is a problem of its own."""
    try:
        return parameters_of(workload, settings).model_dump()
    except ValidationError:
        return {}


def _data_sets(workload: Workload, arms: Sequence[Settings]) -> list[DataSet]:
    return [data_of(workload, settings) for settings in arms if _parameters(workload, settings)]


def _overwrites(other: Workload, theirs: Sequence[DataSet], ours: Sequence[DataSet]) -> bool:
    """Returns whether another workload creates data on a device of ours after it was preconditioned."""
    return any(
        their_set.device == our_set.device and (their_set.shape != our_set.shape or other.data != "keep")
        for our_set in ours
        for their_set in theirs
        if our_set.device and (their_set.made or other.data != "keep")
    )


def notes(plan: Plan) -> Iterator[StoredMessage]:
    """Yields the limits of preconditioning in this plan."""
    for workload in {workload.plan_name: workload for workload in plan.workloads}.values():
        if workload.precondition is None:
            continue
        baseline = _parameters(workload, plan.baseline)
        if not baseline.get("direct") and baseline.get("sync_writes") == "none":
            name = workload.plan_name
            note = N_(
                "{workload} is preconditioned through the page cache, which is steady before the device: use {key}"
            )
            yield stored_message(note, workload=name, key="direct = true")
