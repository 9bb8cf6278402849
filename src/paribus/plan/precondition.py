"""Preconditioning in a plan: which data sets, by which trials, and what forbids it.

In: a plan as laid out and its trials. Out: the trials with those that precondition before them, what these write and
how long they take at most, complaints and notes. Called by the check, by the design and by what shows a plan.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from paribus.i18n import N_, StoredMessage, stored_message
from paribus.model import Plan, Precondition, Purpose, Settings, Trial, Workload
from paribus.plan.file import PreconditionTable
from paribus.registry import DataSet, data_of, parameters_of
from paribus.units import LoadLevel

_DataKey = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Cost:
    """What preconditioning one data set takes; the empty device stands for the path.

    Random overwriting writes on top of `least_bytes`, and comes on top of the time that the fills take.
    """

    workload: str
    device: str
    fills: int
    least_bytes: int
    most_s: float


def precondition_of(table: PreconditionTable | None) -> Precondition | None:
    """What a plan's table asks for."""
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
    """The trials with one for each data set to precondition before them, in block 0, all numbered from 1."""
    first = _preconditioning(plan, trials)
    return (*first, *(dataclasses.replace(trial, order=trial.order + len(first)) for trial in trials))


def _preconditioning(plan: Plan, trials: Sequence[Trial]) -> list[Trial]:
    """A trial for each data set, at the baseline but for what makes it another data set."""
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
    """What tells one data set from another: a device is shared by all, files by the series of a matrix."""
    data_set = data_of(workload, settings)
    return data_set.device, "" if data_set.device else workload.plan_name, data_set.shape


def _load(workload: Workload) -> LoadLevel:
    """The most that the workload has under way at once: an open loop would only show the rate it asks for."""
    if workload.open_loop:
        return LoadLevel(workload.open_loop.outstanding)
    return LoadLevel(max(1, *workload.load_levels))


def costs(plan: Plan, trials: Sequence[Trial]) -> list[Cost]:
    """What each preconditioning among these trials costs."""
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
    ("mode", "seqwr"): ("seqwr empties its files, and with them goes what preconditioning has done", "use seqrewr"),
    ("engine", "null"): ("the null engine does no I/O: there is nothing to precondition", "take precondition out"),
}


def complaints(plan: Plan, arms: Mapping[str, Sequence[Settings]]) -> Iterator[tuple[str, str, str, str]]:
    """Workload of the plan, key, what is wrong and what would be right, where preconditioning would be undone.

    `arms`: by workload, the settings of everything that is tried under it.
    """
    sets = {workload.name: _data_sets(workload, arms[workload.name]) for workload in plan.workloads}
    for workload in plan.workloads:
        name = workload.plan_name
        if workload.precondition is None:
            continue
        if workload.data != "keep":
            message = f"with {workload.data!r} the data is made anew, which undoes precondition"
            yield name, "data", message, "take data out: what is preconditioned is kept"
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
    """The workload's parameters; none where they do not go together, which is a complaint of its own."""
    try:
        return parameters_of(workload, settings).model_dump()
    except ValidationError:
        return {}


def _data_sets(workload: Workload, arms: Sequence[Settings]) -> list[DataSet]:
    return [data_of(workload, settings) for settings in arms if _parameters(workload, settings)]


def _overwrites(other: Workload, theirs: Sequence[DataSet], ours: Sequence[DataSet]) -> bool:
    """Whether data of another workload is made on a device of ours after ours was preconditioned."""
    return any(
        their_set.device == our_set.device and (their_set.shape != our_set.shape or other.data != "keep")
        for our_set in ours
        for their_set in theirs
        if our_set.device and (their_set.made or other.data != "keep")
    )


def notes(plan: Plan) -> Iterator[StoredMessage]:
    """What makes preconditioning say less than it seems to."""
    for workload in {workload.plan_name: workload for workload in plan.workloads}.values():
        if workload.precondition is None:
            continue
        baseline = _parameters(workload, plan.baseline)
        if not baseline.get("direct") and baseline.get("sync_writes") == "none":
            name = workload.plan_name
            note = N_("{workload} is preconditioned through the page cache, steady before the device is: use {key}")
            yield stored_message(note, workload=name, key="direct = true")
