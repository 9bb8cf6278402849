"""An experiment that goes on in a store, as the walk would write it."""

import math
import time
from collections.abc import Callable
from dataclasses import replace

from sqlalchemy.engine import Engine as Store

from paribus.lab.results import reporting
from paribus.model import (
    Experiment,
    ExperimentState,
    Factor,
    FailureClass,
    Look,
    Measurement,
    Plan,
    Protocol,
    Purpose,
    Target,
    Trial,
    TrialState,
    Verdict,
    Workload,
)
from paribus.report.experiment_view import ReportView
from paribus.store import read, write
from paribus.units import LoadLevel

FACTOR, ARMS = "block.scheduler", ("mq-deadline", "none")


def plan(name: str = "scheduler") -> Plan:
    return Plan(
        name=name,
        question="Which scheduler for this SSD?",
        target=Target(address="local", path="/", device=None),
        hold={},
        baseline={},
        factors=(Factor(key=FACTOR, levels=ARMS, labels=ARMS, scope=("mixed",)),),
        combinations=(),
        workloads=(
            Workload(
                name="mixed",
                kind="fileio",
                parameters={},
                load_levels=(8,),
                response="throughput_per_s",
                data="keep",
                cache="warm",
            ),
        ),
        protocol=Protocol(
            trial_s=10,
            settle_s=1,
            budget_s=3600,
            confidence=0.95,
            seed=1,
            margins={"throughput_per_s": 0.02},
            rounds=None,
        ),
        digest="d",
        text="name = 'scheduler'",
    )


def begin(
    store: Store,
    trials: int = 40,
    name: str = "scheduler",
    experiment: str = "20260101-000000-abcd",
    purpose: Purpose = Purpose.COMPARE,
) -> str:
    """An experiment with all its trials, as it is before the first."""
    write.begin(
        store,
        Experiment(
            id=experiment,
            name=name,
            plan_digest="d",
            plan_text="t",
            overrides={},
            seed=1,
            schedule_hash="h",
            rounds=trials // 2,
            state=ExperimentState.PLANNED,
            started=time.time(),
            ended=None,
            versions={},
            fingerprint={"host": "x"},
            notes=(),
        ),
        plan(name),
        [replace(_trial(experiment, order), purpose=purpose) for order in range(1, trials + 1)],
    )
    return experiment


def _trial(experiment: str, order: int) -> Trial:
    arm = ARMS[(order + (order - 1) // 2) % 2]
    return Trial(
        experiment=experiment,
        order=order,
        round=(order + 1) // 2,
        block=(order + 1) // 2,
        position=2 - order % 2,
        attempt=1,
        factor=FACTOR,
        arm=arm,
        baseline=arm == ARMS[0],
        purpose=Purpose.COMPARE,
        settings={FACTOR: arm},
        workload="mixed",
        load=LoadLevel(8),
    )


def set_off(store: Store, experiment: str, seconds: float = 10.0) -> Trial:
    """The next trial is under way, and settles."""
    write.set_state(store, experiment, ExperimentState.RUNNING)
    trial = next(t for t in read.trials(store, experiment) if t.state in (TrialState.PLANNED, TrialState.SETTLING))
    began = time.time() - seconds
    trial = replace(trial, state=TrialState.SETTLING, started=began, applied=began + 0.1)
    write.save_trial(store, trial)
    return trial


def make(store: Store, experiment: str, *, because: str = "", failure: str = "") -> Trial:
    """The next trial is made; `because` makes it invalid, `failure` failed."""
    trial = set_off(store, experiment)
    state = TrialState.FAILED if failure else TrialState.INVALID if because else TrialState.DONE
    trial = replace(
        trial,
        state=state,
        ended=time.time(),
        invalid_because=(because,) if because else (),
        failure=FailureClass.LOAD_ERROR if failure else None,
        failure_message=failure,
    )
    per_s = (5000 if trial.baseline else 5400) * (1 + 0.01 * math.sin(trial.order))
    measured = [] if failure else [_measured(*one) for one in _METRICS] + [_measured("throughput_per_s", "1/s", per_s)]
    write.save_trial(store, trial, (), measured)
    return trial


_METRICS = (
    ("response_p95_s", "s", 0.0024),
    ("cpu_user_share", "", 0.31),
    ("cpu_system_share", "", 0.22),
    ("cpu_iowait_share", "", 0.08),
    ("memory_available_bytes", "B", 21.5 * 2**30),
    ("device_utilisation", "", 0.97),
    ("device_queue", "", 7.9),
    ("device_written_bytes_per_s", "B/s", 80 * 2**20),
)


def _measured(metric: str, unit: str, mean: float) -> Measurement:
    return Measurement(
        phase="measure",
        metric=metric,
        unit=unit,
        source="engine",
        n=10,
        mean=mean,
        low=mean * 0.9,
        high=mean * 1.02,
        total=mean * 10,
    )


def look(store: Store, experiment: str, number: int, verdict: Verdict | None = None, arm: str = ARMS[1]) -> None:
    """A look whose interval is narrower than that of the one before."""
    half = 0.12 / number
    write.add_looks(
        store,
        experiment,
        [
            Look(
                factor=FACTOR,
                arm=arm,
                workload="mixed",
                response="throughput_per_s",
                number=number,
                pairs=4 * number,
                alpha_spent=0.001 * number,
                low=0.076 - half,
                high=0.076 + half,
                estimate=0.076,
                verdict=verdict,
            )
        ],
    )


def finish(store: Store, experiment: str) -> None:
    """Finish the experiment: trials that were not made are spared."""
    left = [t.order for t in read.trials(store, experiment) if t.state in (TrialState.PLANNED, TrialState.SETTLING)]
    write.add_looks(store, experiment, [], left)
    write.set_state(store, experiment, ExperimentState.DONE, ended=time.time())


def counted_views() -> tuple[list[Experiment], Callable[[Store, Experiment], ReportView]]:
    """Return a maker of report views, and the list of experiments that it was called with."""
    made: list[Experiment] = []

    def view_of(store: Store, of: Experiment) -> ReportView:
        made.append(of)
        return reporting.report_view(store, of)

    return made, view_of
