"""An experiment on two machines: which of them carries out a trial, and what is recorded of it."""

from collections.abc import Sequence
from typing import Self

import pytest
from plan_samples import checked, facts, offer

from paribus.errors import HostError
from paribus.hosts.fake import FakeHost
from paribus.knobs.catalog import load
from paribus.model import Guest, GuestFacts, Plan, Purpose, Settings, Trial, TrialState
from paribus.trial import platforms
from paribus.trial.experiment_session import ComparisonModes, ExperimentSession
from paribus.trial.platforms import bench_of
from paribus.trial.target_session import Site

GUEST = GuestFacts(guest=Guest(name="db1", machine="local", uri="qemu:///system"))
PLAN = """
name = "n"
[target]
guest = "db1"
[target.bound]
path = "/srv"
[factors]
platform = ["host", "guest"]
[[workload]]
kind = "fileio"
total_size = "1MiB"
"""
LIMITS = {"cgroup.load.cpus": "0-1", "cgroup.load.memory_max": 2**33}
MODES = ComparisonModes(tested={}, in_flight=(), washed=(), toggled=())


class _Bench:
    """A bench that writes down what it has to do."""

    steps: list[str]
    refuses = ""

    def __init__(self, session: ExperimentSession, _modes: object, _pinned: object) -> None:
        self.session = session
        self.name = session.plan.target.path

    def __enter__(self) -> Self:
        if self.refuses == self.name:
            raise HostError("no")
        self.steps.append(f"enter {self.name}")
        return self

    def __exit__(self, *_error: object) -> None:
        self.steps.append(f"leave {self.name}")

    def make_data(self, trials: Sequence[Trial], _progress: object, *, cached: bool) -> None:
        assert not cached
        self.steps.append(f"data of {[trial.order for trial in trials]} in {self.name}")

    def forget_load(self) -> None:
        self.steps.append(f"stop {self.name}")

    def run(self, trial: Trial, _listener: object) -> Trial:
        self.steps.append(f"run {trial.order} in {self.name} with {dict(trial.settings)}")
        self.session.record(trial, (), (), {"kernel": self.name})
        return trial


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The steps of both benches."""
    _Bench.steps = []
    monkeypatch.setattr(platforms, "Bench", _Bench)
    return _Bench.steps


def _plan() -> Plan:
    bound = facts(path="/srv", memory_bytes=2**36, offers={name: offer(name, "max") for name in LIMITS})
    return checked(PLAN, offers={"platform": offer("platform", "guest")}, guest=GUEST, bound=bound)


def _trial(order: int, settings: Settings) -> Trial:
    return Trial(
        experiment="e",
        order=order,
        round=1,
        block=1,
        position=order,
        purpose=Purpose.COMPARE,
        factor="platform",
        arm="host",
        workload="fileio",
        load=1,
        settings=settings,
        attempt=1,
        baseline="host",
        state=TrialState.PLANNED,
    )


def _session(recorded: list[tuple[Settings, object]], *trials: Trial) -> ExperimentSession:
    above = Site(FakeHost({}), "engine", load())
    site = Site(FakeHost({}), "engine", load(), hypervisor=above)
    return ExperimentSession(
        site, _plan(), trials, lambda trial, _c, _m, facts: recorded.append((trial.settings, facts)), lambda: False
    )


def test_a_trial_runs_on_its_machine_and_is_recorded_as_planned(steps: list[str]) -> None:
    recorded: list[tuple[Settings, object]] = []
    on_host, on_guest = _trial(1, {"platform": "host", "x": 1}), _trial(2, {"platform": "guest", "x": 1})
    with bench_of(_session(recorded, on_host, on_guest), MODES, {}) as bench:  # type: ignore[arg-type]
        bench.make_data([on_host, on_guest], lambda *_: None)  # type: ignore[arg-type]
        rerun = _trial(3, on_host.settings)
        assert bench.run(rerun, None) == rerun  # type: ignore[arg-type]
        bench.run(on_guest, None)  # type: ignore[arg-type]
    limited: Settings = {"x": 1, **LIMITS}
    assert steps == [
        "enter /data",
        "enter /srv",
        "data of [2] in /data",
        "data of [1] in /srv",
        "stop /data",
        f"run 3 in /srv with {limited}",
        "stop /srv",
        "run 2 in /data with {'x': 1}",
        "leave /srv",
        "leave /data",
    ]
    assert recorded == [(on_host.settings, {"kernel": "/srv"}), (on_guest.settings, {"kernel": "/data"})]


def test_a_machine_without_trials_is_left_alone(steps: list[str]) -> None:
    with bench_of(_session([], _trial(1, {"platform": "guest"})), MODES, {}):  # type: ignore[arg-type]
        pass
    assert steps == ["enter /data", "leave /data"]


def test_the_first_machine_is_restored_where_the_second_refuses(
    steps: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Bench, "refuses", "/srv")
    trials = _trial(1, {"platform": "guest"}), _trial(2, {"platform": "host"})
    with pytest.raises(HostError), bench_of(_session([], *trials), MODES, {}):  # type: ignore[arg-type]
        pass
    assert steps == ["enter /data", "leave /data"]
