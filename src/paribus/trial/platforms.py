"""Two benches of one experiment: the guest under test, and its hypervisor as small as the guest.

In: trials whose settings name a platform. Out: the same trials, each carried out on its machine. Called by
`experiment.walk`.
"""

import contextlib
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Self

from paribus.i18n import StoredMessage
from paribus.model import PLATFORM, Change, Measurement, Plan, Platform, Settings, Trial
from paribus.trial.bench import Bench
from paribus.trial.devices import PinnedDevices
from paribus.trial.experiment_session import ComparisonModes, ExperimentSession
from paribus.trial.load.precondition import TrialListener
from paribus.trial.trial_data import Progress


def bench_of(session: ExperimentSession, modes: ComparisonModes, pinned: PinnedDevices) -> "Bench | Platforms":
    """Return the bench of an experiment, or those of its platforms where it compares them."""
    if session.plan.bound is None:
        return Bench(session, modes, pinned)
    return Platforms(session, modes, pinned)


class Platforms:
    """The benches of the platforms of one experiment; it is used as one bench."""

    def __init__(self, session: ExperimentSession, modes: ComparisonModes, pinned: PinnedDevices) -> None:
        """`pinned`: as for a bench."""
        self._plan = session.plan
        self._settings: dict[int, Settings] = {}  # with the platform, by trial
        self._benches = {
            platform: Bench(self._on(platform, session), modes, pinned)
            for platform in Platform
            if any(_platform_of(trial) is platform for trial in session.trials)
        }
        self._entered = contextlib.ExitStack()

    def __enter__(self) -> Self:
        """Make both machines ready. Raises as a bench, with nothing changed."""
        with contextlib.ExitStack() as entering:
            for bench in self._benches.values():
                entering.enter_context(bench)
            self._entered = entering.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Restore both machines, each also where the other fails. Raises as a bench."""
        self._entered.__exit__(kind, error, trace)

    def make_data(self, block: Sequence[Trial], progress: Progress) -> None:
        """Make the data that a block needs, on each of its machines, and in no page cache.

        It is made outside of the control groups, whose limits cover only what their processes read. Raises EngineError,
        HostError and Interrupted.
        """
        for platform, bench in self._benches.items():
            trials = [_without_platform(trial, self._plan) for trial in block if _platform_of(trial) is platform]
            if trials:
                bench.make_data(trials, progress, cached=False)

    def run(self, trial: Trial, listener: TrialListener) -> Trial:
        """Carry out one trial on its machine. Raises JournalError and StoreError."""
        platform = _platform_of(trial)
        for other, bench in self._benches.items():
            if other is not platform:
                bench.forget_load()
        self._settings[trial.order] = trial.settings
        done = self._benches[platform].run(_without_platform(trial, self._plan), listener)
        return dataclasses.replace(done, settings=trial.settings)

    def follow(self, plan: Plan) -> None:
        """Use the plan with its learned settle times from now on."""
        for platform, bench in self._benches.items():
            bench.follow(plan.on(platform))

    def warning(self) -> StoredMessage | None:
        """Return advice to the user for better trials; each message comes once."""
        return next(filter(None, (bench.warning() for bench in self._benches.values())), None)

    def stop_load(self) -> None:
        """End every load; called after each block."""
        for bench in self._benches.values():
            bench.stop_load()

    def drive_counters(self) -> dict[str, int]:
        """The error counters of the drives under both devices."""
        readings = (bench.drive_counters() for bench in self._benches.values())
        return {name: count for reading in readings for name, count in reading.items()}

    def notes(self) -> list[StoredMessage]:
        """Return notes on the machines for readers of the report."""
        return _of_all(bench.notes() for bench in self._benches.values())

    @property
    def closing_notes(self) -> list[StoredMessage]:
        """Notes about the restoring of the machines."""
        return _of_all(bench.closing_notes for bench in self._benches.values())

    def _on(self, platform: Platform, session: ExperimentSession) -> ExperimentSession:
        """The part of an experiment that one machine carries out; what it records is the experiment's own."""

        def record(
            trial: Trial, changes: Sequence[Change], measurements: Sequence[Measurement], conditions: Mapping[str, str]
        ) -> None:
            named = dataclasses.replace(trial, settings=self._settings[trial.order])
            session.record(named, changes, measurements, conditions)

        above = session.site.hypervisor
        assert above is not None
        site = above if platform is Platform.HOST else session.site
        trials = [_without_platform(trial, session.plan) for trial in session.trials if _platform_of(trial) is platform]
        return dataclasses.replace(session, site=site, plan=session.plan.on(platform), trials=trials, record=record)


def _platform_of(trial: Trial) -> Platform:
    return Platform(str(trial.settings.get(PLATFORM, Platform.GUEST)))


def _without_platform(trial: Trial, plan: Plan) -> Trial:
    """The trial as its machine carries it out: on the hypervisor, within the limits of control groups."""
    settings: Settings = {key: value for key, value in trial.settings.items() if key != PLATFORM}
    if _platform_of(trial) is Platform.HOST and plan.bound is not None:
        settings = {**settings, **plan.bound.settings}
    return dataclasses.replace(trial, settings=settings)


def _of_all(notes: Iterable[Sequence[StoredMessage]]) -> list[StoredMessage]:
    return list(dict.fromkeys(note for each in notes for note in each))
