"""The walk: carrying out a plan.

Every trial is stored before anything is touched. A block is run, stored, and rerun where it must be; then the machine
is restored and the measurements are judged. An interrupted run continues from what the store holds.
"""

import bisect
import contextlib
import dataclasses
import functools
import gc
import operator
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Protocol

from sqlalchemy.engine import Engine as Store

from paribus.analysis.diagnostics.noise import calibrations, fingerprint_digest
from paribus.analysis.paired.judge import Judgement
from paribus.errors import EngineError, Interrupted, JournalOpen, StoreError, Unreachable
from paribus.experiment import block_hooks, noise
from paribus.experiment.budget_cap import is_used_up
from paribus.experiment.evidence import analyse, evidence
from paribus.experiment.interim_analysis import take_due_looks
from paribus.experiment.refusals import raise_if_pointless, refusal_of
from paribus.experiment.replanning import with_open_rounds
from paribus.experiment.saving import save, wait_for_store
from paribus.i18n import stored_message
from paribus.model import (
    ArmKey,
    Calibration,
    Change,
    ChangeState,
    Experiment,
    ExperimentState,
    FailureClass,
    Measurement,
    Plan,
    Purpose,
    Trial,
    TrialState,
    arm_of,
    arms_given_up,
)
from paribus.plan.schedule.budget import extent
from paribus.plan.schedule.comparisons import is_in_flight, washes_out
from paribus.plan.schedule.design import schedule, schedule_hash
from paribus.plan.schedule.screened_alone import all_comparisons
from paribus.store import read, spool, write
from paribus.store.ids import new_id
from paribus.store.open import OnLocked, waiting
from paribus.trial.bench import Bench
from paribus.trial.blocks import lost_preconditioning, next_block, rerun_of
from paribus.trial.devices import PinnedDevices
from paribus.trial.experiment_session import ComparisonModes, ExperimentSession, Record
from paribus.trial.load.precondition import PreconditionListener
from paribus.trial.platforms import Platforms, bench_of
from paribus.trial.restoring import restore
from paribus.trial.target_session import Site, reach_load_hosts

_order = operator.attrgetter("order")
_MOST_FAILURES_IN_A_ROW = 3
_MOST_LOST_CONNECTIONS = 10


class ExperimentListener(PreconditionListener, block_hooks.BlockListener, Protocol):
    """Receiver of an experiment's progress."""

    def on_data_progress(self, workload: str, done_bytes: int, total_bytes: int) -> None:
        """Receive how much of a workload's data is made."""
        ...

    def on_trial_state(self, trial: Trial) -> None:
        """Receive a trial whose state changed."""
        ...

    def on_connection_lost(self, message: str) -> None:
        """Receive the loss of the connection to the target, which is being reached again."""
        ...

    def on_store_locked(self, message: str) -> None:
        """Receive that another program has locked the store, which is being waited for."""
        ...


def begin(
    plan: Plan, overrides: Mapping[str, str], fingerprint: Mapping[str, str], versions: Mapping[str, str], store: Store
) -> Experiment:
    """Store a new experiment with all its trials; nothing is touched yet. Raises StoreError."""
    started = time.time()
    name = new_id(store, started)
    plan, _ = noise.plan_for_machine(store, plan, fingerprint)
    plan = with_open_rounds(plan)
    planned = extent(plan, {})
    trials = schedule(plan, name, planned.rounds, planned.noise_rounds)
    experiment = Experiment(
        id=name,
        name=plan.name,
        plan_digest=plan.digest,
        plan_text=plan.text,
        overrides=dict(overrides),
        seed=plan.protocol.seed,
        schedule_hash=schedule_hash(trials),
        rounds=planned.rounds,
        state=ExperimentState.PLANNED,
        started=started,
        ended=None,
        versions=dict(versions),
        fingerprint=dict(fingerprint),
        notes=plan.notes,
    )
    write.begin(store, experiment, plan, trials)
    return experiment


def carry_out(
    experiment: Experiment, store: Store, site: Site, listener: ExperimentListener, stopped: Callable[[], bool]
) -> None:
    """Run every trial that the store still plans and the budget holds, and restore the machine.

    The plan is the store's: with what was known of the machine, and what was learned since.

    A lost target is reached again and restored, and the experiment continues. Raises Interrupted, JournalError,
    NotRestored, StoreError, EngineError and Unreachable; everything measured is kept.
    """
    lost_connections = 0
    store = waiting(store, wait_for_store(listener.on_store_locked, stopped))
    spool.deliver(store, experiment.id)
    try:
        while lost_connections < _MOST_LOST_CONNECTIONS:
            try:
                _run_session(experiment, store, site, listener, stopped)
                break
            except Unreachable as error:
                lost_connections += 1
                if lost_connections == _MOST_LOST_CONNECTIONS or (stopped() and not site.load_hosts):
                    raise
                listener.on_connection_lost(error.message)
                for machine in reversed(site.machines):  # the hypervisor first: its settings may have lost the target
                    restore(machine, experiment.id, stopped)
                reach_load_hosts(site, experiment.id, stopped)
                note = stored_message("{why}; it was reached again and the experiment continued", why=error.message)
                write.add_note(store, experiment.id, note)
    except JournalOpen:
        raise  # nothing was begun here; where the experiment runs elsewhere, its state is not ours
    except BaseException as error:
        interrupted = isinstance(error, Interrupted | KeyboardInterrupt) or stopped()
        state = ExperimentState.INTERRUPTED if interrupted else ExperimentState.FAILED
        with contextlib.suppress(StoreError):  # what is raised already must not be hidden by a full disk
            write.set_state(store, experiment.id, state, ended=time.time())
        raise
    plan = read.plan(store, experiment.id)
    if is_used_up(plan, read.trials(store, experiment.id)):
        write.set_state(store, experiment.id, ExperimentState.INTERRUPTED, ended=time.time())
        return
    take_due_looks(plan, experiment, store, read.trials(store, experiment.id), over=True)
    write.add_calibrations(store, _calibrations(plan, experiment, store))
    write.set_state(store, experiment.id, ExperimentState.DONE, ended=time.time())


def judge_experiment(experiment: Experiment, store: Store) -> Judgement:
    """The judgement of a finished experiment."""
    return analyse(evidence(store, experiment.id), experiment, store, finished=True)


def _run_session(
    experiment: Experiment, store: Store, site: Site, listener: ExperimentListener, stopped: Callable[[], bool]
) -> None:
    """Run the remaining trials, from opening the journal to restoring the machine. Raises as `carry_out`."""
    plan = read.plan(store, experiment.id)
    trials = read.trials(store, experiment.id)
    compared = all_comparisons(plan)
    modes = ComparisonModes(
        tested={comparison.key: comparison.tested for comparison in compared},
        in_flight={comparison.key for comparison in compared if is_in_flight(comparison, plan)},
        washed={comparison.key for comparison in compared if washes_out(comparison, plan)},
        toggled={comparison.key for comparison in compared if comparison.toggled},
    )
    keep = functools.partial(write.pin_device, store, experiment.id)
    pinned = PinnedDevices(read.devices(store, experiment.id), keep)
    recorder = _recorder(store, listener, wait_for_store(listener.on_store_locked, stopped))
    with bench_of(ExperimentSession(site, plan, trials, recorder, stopped), modes, pinned) as bench:
        write.set_state(store, experiment.id, ExperimentState.RUNNING)
        listener.on_trials(trials)
        after_block = functools.partial(block_hooks.after_block, experiment, store, listener, bench)
        write.add_drive_counters(store, experiment.id, bench.drive_counters(), time.time())
        try:
            _make_trials(trials, store, bench, listener, stopped, after_block)
        finally:
            with contextlib.suppress(StoreError):  # what is raised already must not be hidden
                write.add_drive_counters(store, experiment.id, bench.drive_counters(), time.time())
        for note in bench.notes():
            write.add_note(store, experiment.id, note)
    for note in bench.closing_notes:
        write.add_note(store, experiment.id, note)


@contextlib.contextmanager
def _frozen_heap() -> Iterator[None]:
    """Leave the objects that exist now out of garbage collections, so that one takes milliseconds."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@_frozen_heap()
def _make_trials(
    trials: list[Trial],
    store: Store,
    bench: Bench | Platforms,
    listener: ExperimentListener,
    stopped: Callable[[], bool],
    after_block: Callable[[list[Trial]], set[ArmKey] | None],
) -> None:
    """Run block after block until none is left or the budget is used up. `trials` is updated to match the store.

    `after_block` returns the arms that are decided, and None where the budget is used up.
    """
    failures = 0
    decided = after_block(trials)
    if decided is not None:
        _rerun_if_begun(lost_preconditioning(trials, decided), trials, store, listener)
    while decided is not None and (block := next_block(trials, decided)) is not None:
        block = _rerun_if_begun(block, trials, store, listener, decided)
        bench.make_data(block, functools.partial(listener.on_data_progress, block[0].workload))
        left_out = arms_given_up(trials) | decided
        for trial in [trial for trial in block if arm_of(trial) not in left_out]:
            done = bench.run(trial, listener)
            trials[bisect.bisect_left(trials, done.order, key=_order)] = done
            if stopped():
                todo = f"continue with: paribus resume {done.experiment}"
                raise Interrupted("interrupted; everything was restored", todo)
            if done.failure is FailureClass.SETTING_REJECTED:
                refusal = refusal_of(done)
                raise_if_pointless(done, trials, refusal)
                write.add_note(store, done.experiment, refusal)
                continue
            lacks_data = done.purpose is Purpose.PRECONDITION and done.state is not TrialState.DONE
            failures = failures + 1 if done.state is TrialState.FAILED or lacks_data else 0
            if failures == _MOST_FAILURES_IN_A_ROW:
                raise EngineError(
                    "failing",
                    f"{failures} trials in a row failed, the last with: "
                    + (done.failure_message or "; ".join(done.invalid_because)),
                    f"remove the cause, then continue with: paribus resume {done.experiment}; "
                    "it keeps its plan, so a changed plan is run anew: paribus run FILE",
                )
            if done.state is not TrialState.DONE:
                break  # the block is rerun whole, so its other arms need not run now
        bench.stop_load()
        decided = after_block(trials)
        gc.collect()  # automatic collections are rare, for fast reports


def _rerun_if_begun(
    block: list[Trial],
    trials: list[Trial],
    store: Store,
    listener: ExperimentListener,
    decided: Collection[ArmKey] = (),
) -> list[Trial]:
    """The trials of a block to run now: the block itself, or new trials in place of those begun before."""
    new_trials = rerun_of(block, trials[-1].order, decided)
    if not new_trials:
        return block
    write.rerun(store, block, new_trials)
    replaced = {trial.order for trial in block}
    for index, trial in enumerate(trials):  # not read again: all trials would be in memory twice
        if trial.order in replaced:
            trials[index] = dataclasses.replace(trial, state=TrialState.SUPERSEDED)
    trials += new_trials
    listener.on_trials(trials)
    return new_trials


def _recorder(store: Store, listener: ExperimentListener, on_locked: OnLocked) -> Record:
    """A function that stores a trial, and notes the settings that a trial moved as a side effect."""

    def record(
        trial: Trial, changes: Sequence[Change], measurements: Sequence[Measurement], conditions: Mapping[str, str]
    ) -> None:
        listener.on_trial_state(trial)
        if trial.state is TrialState.MEASURING:
            return  # a short state, in which writing to the disk would disturb the measurement
        save(store, trial, changes, measurements, conditions, on_locked)
        for change in changes:
            if change.state is ChangeState.WRITTEN:
                at_baseline = stored_message("with the machine as found")
                note = stored_message(
                    "{where}, {knob} is {found}: {wanted} is not possible there",
                    where=stored_message("with {subject}", subject=trial.subject) if trial.factor else at_baseline,
                    knob=change.knob,
                    found=stored_message("gone") if change.observed is None else change.observed,
                    wanted=change.wanted,
                )
                write.add_note(store, trial.experiment, note)

    return record


def _calibrations(plan: Plan, experiment: Experiment, store: Store) -> list[Calibration]:
    """The noise of this machine that the experiment showed."""
    trials, summaries = read.trials(store, experiment.id), read.summaries(store, experiment.id)
    host = fingerprint_digest(experiment.fingerprint)
    return calibrations(trials, summaries, plan.workloads, plan.protocol, host, time.time())
