"""Experiments on a scripted bench: trials, looks and verdicts are real, measurements are drawn."""

import functools
import itertools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from sqlalchemy.engine import Engine as Store

from paribus.experiment import block_hooks, walk
from paribus.experiment.interim_analysis import take_due_looks
from paribus.i18n import StoredMessage
from paribus.lab.machine.inspection import checked, site_of
from paribus.model import Experiment, ExperimentState, FailureClass, Measurement, Plan, Trial, TrialState
from paribus.plan.form.parse import parse
from paribus.store import read, write
from paribus.store.open import open_engine, store_url

MACHINE = {"kernel": "k"}


def measured(rate: float, points: Sequence[float]) -> list[Measurement]:
    """The measurement of a trial's throughput, in points of a second."""
    series = tuple(points)
    return [
        Measurement(
            phase="measure",
            metric="throughput_per_s",
            unit="1/s",
            source="engine",
            n=len(series),
            mean=rate,
            low=rate,
            high=rate,
            total=60 * rate,
            start_s=0.0,
            step_s=1.0,
            points=series,
        )
    ]


@dataclass
class Bench:
    """Runs trials at once with drawn measurements; `spoils` says which are invalid, `refuses` which are refused.

    `noise` is the standard deviation between trials, `wobble` that between seconds of a trial. `takes_s` is the machine
    time of each.
    """

    store: Store
    effect: Callable[[Trial], float]
    spoils: Callable[[Trial], bool] = lambda _trial: False
    refuses: Callable[[Trial], bool] = lambda _trial: False
    noise: float = 0.005
    wobble: float = 0.01
    takes_s: float = 0.5
    followed: list[float] = field(default_factory=list)
    made: list[int] = field(default_factory=list)
    warnings: list[StoredMessage] = field(default_factory=list)
    clock: itertools.count = field(default_factory=lambda: itertools.count(1))  # type: ignore[type-arg]
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(1))

    def make_data(self, block: Sequence[Trial], progress: object) -> None: ...

    def warning(self) -> StoredMessage | None:
        return self.warnings.pop() if self.warnings else None

    def stop_load(self) -> None: ...

    def follow(self, plan: Plan) -> None:
        self.followed.append(plan.protocol.settle_s)

    def run(self, trial: Trial, listener: object) -> Trial:
        at = float(next(self.clock))
        spoilt = ("spoilt",) if self.spoils(trial) else ()
        if self.refuses(trial):
            failure = FailureClass.SETTING_REJECTED
            refused = replace(trial, state=TrialState.FAILED, started=at, ended=at, failure=failure)
            write.save_trial(self.store, refused, (), [])
            return refused
        state = TrialState.INVALID if spoilt else TrialState.DONE
        done = replace(trial, state=state, started=at, applied=at, ended=at + self.takes_s, invalid_because=spoilt)
        rate = math.exp(9 + self.effect(trial) + self.rng.normal(0, self.noise))
        points = tuple((rate * np.exp(self.rng.normal(0, self.wobble, 100))).tolist())
        write.save_trial(self.store, done, (), measured(rate, points))
        self.made.append(trial.order)
        return done


class Silent:
    """Receives every call and does nothing."""

    def __getattr__(self, _name: str) -> Callable[..., None]:
        return lambda *_args: None


def make_trials(store: Store, begun: Experiment, bench: Bench) -> list[Trial]:
    """Run the trials as the walk does between opening the bench and restoring the machine."""
    trials = read.trials(store, begun.id)
    after_block = functools.partial(block_hooks.after_block, begun, store, Silent(), bench)
    walk._make_trials(trials, store, bench, Silent(), lambda: False, after_block)  # type: ignore[arg-type]
    assert trials == read.trials(store, begun.id)
    return trials


def carry_out(
    store: Store,
    plan: Plan,
    effect: Callable[[Trial], float],
    fingerprint: Mapping[str, str] = MACHINE,
    wobble: float = 0.0,
) -> Experiment:
    """Run a whole experiment in which each trial's throughput has a known effect (log ratio) and little noise."""
    begun = walk.begin(plan, {}, fingerprint, {}, store)
    take_due_looks(
        plan, begun, store, make_trials(store, begun, Bench(store, effect, noise=0.001, wobble=wobble)), over=True
    )
    write.set_state(store, begun.id, ExperimentState.DONE, ended=time.time())
    return read.find(store, begun.id)


def experiment_here(text: str, store: str | None = None) -> str:
    """The id of an experiment on this machine, of a plan's text, in which each level beside the baseline is better."""
    parsed = parse("plan.toml", text, {})
    with site_of(parsed) as site:
        ready, facts = checked(site, parsed)
    opened = open_engine(store_url(store), create=True)
    experiment = carry_out(opened, ready, lambda trial: 0.0 if trial.baseline else 0.06, facts.fingerprint).id
    opened.dispose()
    return experiment
