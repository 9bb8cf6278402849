"""Contents of the pages, read from a store when it changes, with a cache of what is slow to compute.

The pages call it from their own threads, in which the language of the reader is set. It never writes to the store.
"""

import contextlib
import contextvars
import os
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass

from sqlalchemy.engine import Engine as Store

from paribus.i18n import gettext, tag
from paribus.lab.results.preliminary import preliminary
from paribus.lab.store.stores import file_of, name_of, open_for_reading, read
from paribus.model import Experiment, ExperimentState, TrialState
from paribus.report.render import html
from paribus.report.sections import evidence
from paribus.report.view.view_models import ReportView
from paribus.web import cut_offs, live, metrics, pace
from paribus.web.live import Live
from paribus.web.pace import OVER

ViewOf = Callable[[Store, Experiment], ReportView]
"""Maker of the view of an experiment's report."""

_CacheKey = tuple[str, str]
"""Key of the cache: an experiment and a language."""

_MOST_CACHED = 16
_REFRESH_S = 10.0  # a page is rendered again after this time even if the store did not change, since it shows times
_QUIET_S = 600.0  # an experiment that wrote nothing for so long has no trial that could be disturbed
_NICE = 19
_RUNNING = ExperimentState.RUNNING
_ENDED = (ExperimentState.DONE, ExperimentState.IMPORTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """An entry of the list. `answer` is empty until the experiment is done and its answer is computed.

    `silent` is a warning for a running experiment that has written nothing for too long. `resume` is the command that
    continues one that was cut off, and empty otherwise.
    """

    id: str
    name: str
    state: str
    when: str
    counts: str
    made: int
    counted: int
    live: bool
    answer: str
    waits: bool
    silent: str
    resume: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The store and its experiments, the newest first; `exists` is False before the first experiment."""

    store: str
    exists: bool
    experiments: tuple[Listed, ...]


class Archive:
    """The experiments of the store at a URL; `view_of` returns the view model of a report."""

    def __init__(self, url: str, view_of: ViewOf, running_here: cut_offs.RunningHere = cut_offs.unknown) -> None:
        self._url = url
        self._cut_offs = cut_offs.CutOffs(running_here)
        self._file = file_of(url)
        self._view_of = view_of
        self._answers: dict[_CacheKey, tuple[Experiment, str]] = {}
        self._reports: OrderedDict[_CacheKey, tuple[Hashable, str]] = OrderedDict()
        self._making = threading.Lock()
        self._answering = threading.Lock()

    def stamp(self) -> Hashable:
        """A value that changes when a page may have to be rendered again; it is cheap to compute."""
        now = time.time()
        if self._file is None:
            return int(now)
        written = tuple((status.st_ino, status.st_mtime_ns, status.st_size) for status in self._written())
        return written, len(self._answers), int(now / _REFRESH_S)

    def listing(self) -> Listing:
        """The list of experiments. Raises StoreError."""
        if self._file is not None and not self._file.exists():
            return Listing(store=name_of(self._url), exists=False, experiments=())
        store = self._open()
        experiments, tallies = read.experiments(store), read.tallies(store)
        stalls = self._stalls(store, experiments)
        waiting = [
            experiment for experiment in experiments if experiment.state in _ENDED and self._answer(experiment) is None
        ]
        if waiting and not self._is_measuring(experiments):
            self._compute_answers(waiting)
        return Listing(
            store=name_of(self._url),
            exists=True,
            experiments=tuple(
                self._listed(experiment, tallies.get(experiment.id, Counter()), *stalls.get(experiment.id, (False, "")))
                for experiment in experiments
            ),
        )

    def live(self, name: str) -> Live:
        """The current state of an experiment. Raises StoreError, and UsageError for an unknown name."""
        store = self._open()
        experiment = read.find(store, name)
        plan, trials = read.plan(store, experiment.id), read.trials(store, experiment.id)
        summaries = read.summaries(store, experiment.id, live.shown_orders(trials))
        looks, now = read.looks(store, experiment.id), time.time()
        is_cut_off = self._cut_offs.has(experiment, plan, pace.last_activity(trials), now)
        before_looks = [] if experiment.state in _ENDED else preliminary(store, experiment.id, plan, trials, looks)
        return live.live(
            experiment, plan, trials, summaries, looks, now, is_cut_off=is_cut_off, before_looks=before_looks
        )

    def report(self, name: str) -> str:
        """The report of an experiment as one HTML page, rendered once per state and language. Raises as `live`."""
        store = self._open()
        experiment = read.find(store, name)
        with self._making:  # one at a time: a second reader waits for the first one's page
            state = (
                repr(experiment),
                tuple((trial.order, trial.state, trial.ended) for trial in read.trials(store, experiment.id)),
            )
            cache_key = experiment.id, tag()
            cached = self._reports.get(cache_key)
            if cached is None or cached[0] != state:
                cached = (state, html.render(self._view_of(store, experiment)))
            self._reports[cache_key] = cached
            self._reports.move_to_end(cache_key)
            if len(self._reports) > _MOST_CACHED:
                self._reports.popitem(last=False)
            return cached[1]

    def metrics(self) -> str:
        """The experiments as numbers, for a program that collects them. Raises StoreError."""
        if self._file is not None and not self._file.exists():
            return metrics.text({}, ())
        store = self._open()
        experiments, tallies, signs = read.experiments(store), read.tallies(store), read.signs(store, _RUNNING)
        stalls = self._stalls(store, experiments)
        return metrics.text(
            Counter(experiment.state for experiment in experiments),
            [
                metrics.Measured(
                    experiment=experiment,
                    tally=tallies.get(experiment.id, Counter()),
                    active_s=max(experiment.started, signs[experiment.id][0]) if experiment.id in signs else None,
                    cut_off=stalls.get(experiment.id, (False, ""))[0],
                    looks=read.looks(store, experiment.id),
                )
                for place, experiment in enumerate(experiments)
                if place < metrics.MOST_EXPERIMENTS or experiment.id in signs
            ],
        )

    def _open(self) -> Store:
        return open_for_reading(self._url)

    def _written(self) -> list[os.stat_result]:
        """Status of the store's file and of its write-ahead log, if they exist."""
        statuses = []
        for path in filter(None, [self._file, self._file and self._file.with_name(f"{self._file.name}-wal")]):
            with contextlib.suppress(OSError):
                statuses.append(path.stat())
        return statuses

    def _stalls(self, store: Store, experiments: Iterable[Experiment]) -> dict[str, tuple[bool, str]]:
        """By the id of each running experiment, whether it was cut off, and the warning about its silence."""
        signs, now = read.signs(store, _RUNNING), time.time()
        stalls = {}
        for experiment in experiments:
            if experiment.id in signs:
                plan, activity = read.plan(store, experiment.id), signs[experiment.id]
                warning = live.silence(experiment, activity, plan.protocol.trial_s, now)
                stalls[experiment.id] = self._cut_offs.has(experiment, plan, activity, now), warning
        return stalls

    def _listed(self, experiment: Experiment, tally: Counter[TrialState], is_cut_off: bool, silent: str) -> Listed:
        counted = tally.total() - tally[TrialState.SUPERSEDED] - tally[TrialState.SPARED]
        ended = sum(tally[state] for state in OVER)
        unusable = ended - tally[TrialState.DONE]
        counts = gettext("{made} of {counted} trials", made=ended, counted=counted)
        answer = self._answer(experiment)
        return Listed(
            id=experiment.id,
            name=experiment.name,
            state=live.state_of(experiment, is_cut_off=is_cut_off),
            when=evidence.clock(experiment.started),
            counts=counts + (gettext(", {n} invalid or failed", n=unusable) if unusable else ""),
            made=ended,
            counted=counted,
            live=experiment.state in (ExperimentState.RUNNING, ExperimentState.PLANNED),
            answer=answer or "",
            waits=answer is None and experiment.state in _ENDED,
            silent="" if is_cut_off else silent,
            resume=live.resume_command(experiment) if is_cut_off else "",
        )

    def _is_measuring(self, experiments: list[Experiment]) -> bool:
        """Whether a trial may be running, which work on this machine could make invalid."""
        if not any(experiment.state is ExperimentState.RUNNING for experiment in experiments):
            return False
        if self._file is None:
            return True
        change_times = [
            path.stat().st_mtime
            for path in (self._file, self._file.with_name(f"{self._file.name}-wal"))
            if path.exists()
        ]
        return time.time() - max(change_times, default=0.0) < _QUIET_S

    def _answer(self, experiment: Experiment) -> str | None:
        """Cached answer for the current state of an experiment in the current language; None if there is none."""
        cached = self._answers.get((experiment.id, tag()))
        return cached[1] if cached is not None and cached[0] == experiment else None

    def _compute_answers(self, waiting: list[Experiment]) -> None:
        """Compute the answers of these experiments, the newest first, in a thread of lowest priority."""
        if not self._answering.acquire(blocking=False):
            return

        def compute() -> None:
            try:
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
                for experiment in waiting:
                    self._answers[experiment.id, tag()] = (experiment, self._headline(experiment))
            finally:
                self._answering.release()

        threading.Thread(target=contextvars.copy_context().run, args=(compute,), daemon=True).start()

    def _headline(self, experiment: Experiment) -> str:
        try:
            return self._view_of(self._open(), experiment).headline
        except Exception as error:  # whatever is wrong with one, the others do not wait for it
            return gettext("no answer: {error}", error=error)
