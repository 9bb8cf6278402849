"""The walk: carrying out a plan.

Every trial stands in the store before anything is touched; a block is tried, kept, and rerun where it must be;
the machine is put back; what was measured is judged. A run that was cut off goes on from what the store holds.
"""

import bisect
import contextlib
import dataclasses
import functools
import gc
import operator
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from sqlalchemy.engine import Engine as Store

from paribus.analysis.diagnostics.noise import calibrations, fingerprint_digest
from paribus.analysis.paired.judge import Judgement
from paribus.errors import EngineError, Interrupted, JournalOpen, StoreError, Unreachable
from paribus.experiment import block_hooks, noise
from paribus.experiment.evidence import analyse, evidence
from paribus.experiment.interim_analysis import look
from paribus.i18n import stored_message
from paribus.model import (
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
from paribus.plan.budget import extent
from paribus.plan.comparisons import every_comparison, is_in_flight
from paribus.plan.design import schedule, schedule_hash
from paribus.store import read, write
from paribus.store.ids import new_id
from paribus.trial.bench import Bench
from paribus.trial.blocks import lost_preconditioning, next_block, renewed
from paribus.trial.devices import PinnedDevices
from paribus.trial.precondition import Onlooker
from paribus.trial.runner import Record
from paribus.trial.target_session import Site, put_back

_order = operator.attrgetter("order")
_MOST_FAILURES_IN_A_ROW = 3
_MOST_LOSSES = 10


class Audience(Onlooker, block_hooks.Listener, Protocol):
    """Whoever watches an experiment."""

    def prepares(self, workload: str, done_bytes: int, total_bytes: int) -> None:
        """Data is being made."""
        ...

    def shows(self, trial: Trial) -> None:
        """A trial came to another state."""
        ...

    def loses(self, why: str) -> None:
        """The target was lost, and is being reached again."""
        ...


def begin(
    plan: Plan, overrides: Mapping[str, str], fingerprint: Mapping[str, str], versions: Mapping[str, str], store: Store
) -> Experiment:
    """Keep a new experiment with all its trials in the store; nothing is touched yet. Raises StoreError."""
    started = time.time()
    name = new_id(store, started)
    plan, known = noise.informed(store, plan, fingerprint)
    wanted = extent(plan, known)
    trials = schedule(plan, name, wanted.rounds, wanted.noise_rounds)
    experiment = Experiment(
        id=name,
        name=plan.name,
        plan_digest=plan.digest,
        plan_text=plan.text,
        overrides=dict(overrides),
        seed=plan.protocol.seed,
        schedule_hash=schedule_hash(trials),
        rounds=wanted.rounds,
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
    experiment: Experiment, store: Store, site: Site, audience: Audience, stopped: Callable[[], bool]
) -> None:
    """Make every trial that the store still plans, and put the machine back.

    What is followed is the plan as the store holds it: with what was known of the machine, and what was learned since.

    A target that is lost is reached again and put back, and the experiment goes on. Raises Interrupted, JournalError,
    NotRestored, StoreError, EngineError and Unreachable; all that was measured is kept.
    """
    losses = 0
    try:
        while losses < _MOST_LOSSES:
            try:
                _sit_down(experiment, store, site, audience, stopped)
                break
            except Unreachable as error:
                losses += 1
                if stopped() or losses == _MOST_LOSSES:
                    raise
                audience.loses(error.message)
                put_back(site, experiment.id, stopped)
                note = stored_message("{why}; it was reached again, and went on", why=error.message)
                write.add_note(store, experiment.id, note)
    except JournalOpen:
        raise  # it never began here; where it is going on elsewhere, its state is not ours
    except BaseException as error:
        interrupted = isinstance(error, Interrupted) or stopped()
        state = ExperimentState.INTERRUPTED if interrupted else ExperimentState.FAILED
        with contextlib.suppress(StoreError):  # what is raised already must not be hidden by a full disk
            write.set_state(store, experiment.id, state, ended=time.time())
        raise
    plan = read.plan(store, experiment.id)
    look(plan, experiment, store, read.trials(store, experiment.id), over=True)
    write.add_calibrations(store, _calibrations(plan, experiment, store))
    write.set_state(store, experiment.id, ExperimentState.DONE, ended=time.time())


def judge(experiment: Experiment, store: Store) -> Judgement:
    """What follows from what was measured, once all is."""
    return analyse(evidence(store, experiment.id), experiment, store, finished=True)


def _sit_down(
    experiment: Experiment, store: Store, site: Site, audience: Audience, stopped: Callable[[], bool]
) -> None:
    """Make the trials that are left, from opening the journal to having put the machine back. Raises as `carry_out`."""
    plan = read.plan(store, experiment.id)
    trials = read.trials(store, experiment.id)
    compared = every_comparison(plan)
    tested = {one.key: one.tested for one in compared}
    in_flight = {one.key for one in compared if is_in_flight(one, plan)}
    pinned = PinnedDevices(
        read.devices(store, experiment.id), functools.partial(write.pin_device, store, experiment.id)
    )
    gc.freeze()
    with Bench(site, plan, trials, tested, in_flight, _recorder(store, audience), pinned, stopped) as bench:
        write.set_state(store, experiment.id, ExperimentState.RUNNING)
        audience.begins(trials)
        after_block = functools.partial(block_hooks.after_block, experiment, store, audience, bench)
        write.add_drive_counters(store, experiment.id, bench.drive_counters(), time.time())
        try:
            _make_trials(trials, store, bench, audience, stopped, after_block)
        finally:
            with contextlib.suppress(StoreError):  # what is raised already must not be hidden
                write.add_drive_counters(store, experiment.id, bench.drive_counters(), time.time())
        for note in bench.notes():
            write.add_note(store, experiment.id, note)
    for note in bench.closing_notes:
        write.add_note(store, experiment.id, note)


def _make_trials(
    trials: list[Trial],
    store: Store,
    bench: Bench,
    audience: Audience,
    stopped: Callable[[], bool],
    after_block: Callable[[list[Trial]], None],
) -> None:
    """Block after block until none is left. `trials` follows what the store holds."""
    failures = 0
    after_block(trials)
    _renew(lost_preconditioning(trials), trials, store, audience)
    while (block := next_block(trials)) is not None:
        block = _renew(block, trials, store, audience)
        bench.make_data(block, functools.partial(audience.prepares, block[0].workload))
        refused = arms_given_up(trials)
        for trial in [trial for trial in block if arm_of(trial) not in refused]:
            done = bench.run(trial, audience)
            trials[bisect.bisect_left(trials, done.order, key=_order)] = done
            if stopped():
                raise Interrupted("interrupted", f"go on with: paribus resume {done.experiment}")
            if done.failure is FailureClass.SETTING_REJECTED:
                said = stored_message("the machine refuses {setting}", setting=done.failure_message)
                if done.purpose is Purpose.SCREEN:
                    raise EngineError("refused-in-screen", said, 'leave it out, or set protocol.design="one-at-a-time"')
                write.add_note(store, done.experiment, said)
                continue
            lacks_data = done.purpose is Purpose.PRECONDITION and done.state is not TrialState.DONE
            failures = failures + 1 if done.state is TrialState.FAILED or lacks_data else 0
            if failures == _MOST_FAILURES_IN_A_ROW:
                raise EngineError(
                    "failing",
                    f"{failures} trials in a row failed, the last with: "
                    + (done.failure_message or "; ".join(done.invalid_because)),
                    "mend that, then resume",
                )
            if done.state is not TrialState.DONE:
                break  # the block is rerun whole, so its other arms need not be made now
        bench.land()
        after_block(trials)
        gc.collect()  # its own moments are rare, as reports want them; what was frozen is not looked at


def _renew(block: list[Trial], trials: list[Trial], store: Store, audience: Audience) -> list[Trial]:
    """The trials of a block as they are to be made now: new ones in the place of those that were begun before."""
    again = renewed(block, trials[-1].order)
    if not again:
        return block
    write.rerun(store, block, again)
    replaced = {trial.order for trial in block}
    for place, trial in enumerate(trials):  # not read anew: all trials would be in memory twice
        if trial.order in replaced:
            trials[place] = dataclasses.replace(trial, state=TrialState.SUPERSEDED)
    trials += again
    audience.begins(trials)
    return again


def _recorder(store: Store, audience: Audience) -> Record:
    """What keeps a trial, and notes what a setting moved beside itself."""

    def record(
        trial: Trial, changes: Sequence[Change], measurements: Sequence[Measurement], conditions: Mapping[str, str]
    ) -> None:
        audience.shows(trial)
        if trial.state is TrialState.MEASURING:
            return  # known to be short, and no moment to write to a disk
        write.save_trial(store, trial, changes, measurements, conditions)
        for change in changes:
            if change.state is ChangeState.WRITTEN:
                as_is = stored_message("as the machine is")
                note = stored_message(
                    "{where}, {knob} is {found}: {wanted} is not possible there",
                    where=stored_message("with {subject}", subject=trial.subject) if trial.factor else as_is,
                    knob=change.knob,
                    found=stored_message("gone") if change.observed is None else change.observed,
                    wanted=change.wanted,
                )
                write.add_note(store, trial.experiment, note)

    return record


def _calibrations(plan: Plan, experiment: Experiment, store: Store) -> list[Calibration]:
    """What the experiment showed of this machine's noise."""
    trials, summaries = read.trials(store, experiment.id), read.summaries(store, experiment.id)
    host = fingerprint_digest(experiment.fingerprint)
    return calibrations(trials, summaries, plan.workloads, plan.protocol, host, time.time())
