"""The experiments of a store as its pages show them: read anew where the store changed, and what is slow to make kept.

Called by the pages, from threads of their own, within which the reader's language is spoken. Nothing here writes to the
store.
"""

import contextlib
import contextvars
import os
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from sqlalchemy.engine import Engine as Store

from paribus.i18n import gettext, tag
from paribus.lab.stores import file_of, name_of, open_for_reading, read
from paribus.model import Experiment, ExperimentState, TrialState
from paribus.report.render import html
from paribus.report.sections import evidence
from paribus.report.view.view_models import ReportView
from paribus.web import live
from paribus.web.live import Live
from paribus.web.pace import OVER

ViewOf = Callable[[Store, Experiment], ReportView]
"""What makes the view of an experiment's report."""

_Spoken = tuple[str, str]
"""What something is kept by: the experiment that it is of, and its language."""

_MOST_KEPT = 16
_BREATH_S = 10.0  # so often a page is made anew though the store did not change: time goes on
_QUIET_S = 600.0  # an experiment that wrote nothing for so long has no trial that could be disturbed
_NICE = 19
_ENDED = (ExperimentState.DONE, ExperimentState.IMPORTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One experiment of the list. `answer` is empty before it is done, and until it is worked out.

    `silent` says so of one that seems to go on and tells nothing.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The store and what it holds, the newest first; `exists` is False before the first experiment."""

    store: str
    exists: bool
    experiments: tuple[Listed, ...]


class Archive:
    """The experiments of the store at a URL; `view_of` makes the view of a report."""

    def __init__(self, url: str, view_of: ViewOf) -> None:
        self._url = url
        self._file = file_of(url)
        self._view_of = view_of
        self._answers: dict[_Spoken, tuple[Experiment, str]] = {}
        self._reports: OrderedDict[_Spoken, tuple[Hashable, str]] = OrderedDict()
        self._making = threading.Lock()
        self._answering = threading.Lock()

    def stamp(self) -> Hashable:
        """What differs when a page may have to be made anew; it costs next to nothing."""
        now = time.time()
        if self._file is None:
            return int(now)
        written = tuple((seen.st_ino, seen.st_mtime_ns, seen.st_size) for seen in self._written())
        return written, len(self._answers), int(now / _BREATH_S)

    def listing(self) -> Listing:
        """The list of experiments. Raises StoreError."""
        if self._file is not None and not self._file.exists():
            return Listing(store=name_of(self._url), exists=False, experiments=())
        store = self._open()
        experiments, tallies = read.experiments(store), read.tallies(store)
        signs, now = read.signs(store, ExperimentState.RUNNING), time.time()
        silent = {
            e.id: live.silence(e, signs[e.id], read.plan(store, e.id).protocol.trial_s, now)
            for e in experiments
            if e.id in signs
        }
        waiting = [e for e in experiments if e.state in _ENDED and self._answer(e) is None]
        if waiting and not self._is_measuring(experiments):
            self._work_out(waiting)
        return Listing(
            store=name_of(self._url),
            exists=True,
            experiments=tuple(self._listed(e, tallies.get(e.id, Counter()), silent.get(e.id, "")) for e in experiments),
        )

    def live(self, name: str) -> Live:
        """An experiment as it is now. Raises StoreError, and UsageError where there is none of this name."""
        store = self._open()
        experiment = read.find(store, name)
        plan, trials = read.plan(store, experiment.id), read.trials(store, experiment.id)
        summaries = read.summaries(store, experiment.id, live.shown_orders(trials))
        looks = read.looks(store, experiment.id)
        return live.live(experiment, plan, trials, summaries, looks, time.time())

    def report(self, name: str) -> str:
        """The report of an experiment as one HTML page, made once for each state and language. Raises as `live`."""
        store = self._open()
        experiment = read.find(store, name)
        with self._making:  # one at a time: a second reader waits for the first one's page
            state = (repr(experiment), tuple((t.order, t.state, t.ended) for t in read.trials(store, experiment.id)))
            spoken = experiment.id, tag()
            kept = self._reports.get(spoken)
            if kept is None or kept[0] != state:
                kept = (state, html.render(self._view_of(store, experiment)))
            self._reports[spoken] = kept
            self._reports.move_to_end(spoken)
            if len(self._reports) > _MOST_KEPT:
                self._reports.popitem(last=False)
            return kept[1]

    def _open(self) -> Store:
        return open_for_reading(self._url)

    def _written(self) -> list[os.stat_result]:
        """What the file system says of the store's file and of its log, where they are there."""
        found = []
        for path in filter(None, [self._file, self._file and self._file.with_name(f"{self._file.name}-wal")]):
            with contextlib.suppress(OSError):
                found.append(path.stat())
        return found

    def _listed(self, experiment: Experiment, tally: Counter[TrialState], silent: str) -> Listed:
        counted = tally.total() - tally[TrialState.SUPERSEDED] - tally[TrialState.SPARED]
        made = sum(tally[state] for state in OVER)
        unusable = made - tally[TrialState.DONE]
        said = gettext("{made} of {counted} trials", made=made, counted=counted)
        answer = self._answer(experiment)
        return Listed(
            id=experiment.id,
            name=experiment.name,
            state=str(experiment.state),
            when=evidence.clock(experiment.started),
            counts=said + (gettext(", {n} invalid or failed", n=unusable) if unusable else ""),
            made=made,
            counted=counted,
            live=experiment.state in (ExperimentState.RUNNING, ExperimentState.PLANNED),
            answer=answer or "",
            waits=answer is None and experiment.state in _ENDED,
            silent=silent,
        )

    def _is_measuring(self, experiments: list[Experiment]) -> bool:
        """Whether a trial may be going on, which work on this machine could make invalid."""
        if not any(experiment.state is ExperimentState.RUNNING for experiment in experiments):
            return False
        if self._file is None:
            return True
        written = [
            p.stat().st_mtime for p in (self._file, self._file.with_name(f"{self._file.name}-wal")) if p.exists()
        ]
        return time.time() - max(written, default=0.0) < _QUIET_S

    def _answer(self, experiment: Experiment) -> str | None:
        """The answer that is known of it as it is now, in the language that is spoken; None: none yet."""
        known = self._answers.get((experiment.id, tag()))
        return known[1] if known is not None and known[0] == experiment else None

    def _work_out(self, waiting: list[Experiment]) -> None:
        """Find the answers of these, the newest first, behind everything else that this machine does."""
        if not self._answering.acquire(blocking=False):
            return

        def answer() -> None:
            try:
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
                for experiment in waiting:
                    self._answers[experiment.id, tag()] = (experiment, self._headline(experiment))
            finally:
                self._answering.release()

        threading.Thread(target=contextvars.copy_context().run, args=(answer,), daemon=True).start()

    def _headline(self, experiment: Experiment) -> str:
        try:
            return self._view_of(self._open(), experiment).headline
        except Exception as error:  # whatever is wrong with one, the others do not wait for it
            return gettext("no answer: {error}", error=error)
