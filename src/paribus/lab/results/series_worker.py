"""Time series and histograms for judging and drawing.

For experiments with many trials, a worker process reads them while this process reads the summaries. If the worker
fails, this process reads them itself, and meets the same error.
"""

import functools
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Self, TypeVar, cast

from sqlalchemy.engine import Engine as Store

from paribus.analysis.diagnostics.distribution import distributions, response_maps
from paribus.errors import StoreError
from paribus.experiment.time_series import Series, done_orders
from paribus.findings import Distribution, ResponseMap
from paribus.model import Experiment, ExperimentState, Plan, Trial, TrialState
from paribus.report.sections import curves
from paribus.store import read
from paribus.store.open import open_for_reading
from paribus.worker_process import WorkerFailed, WorkerProcess, serve, share

_MANY = 4000  # trials; with fewer we are done before the process has started

PartResult = TypeVar("PartResult")
Part = Callable[[Store, str, Plan, Sequence[Trial]], PartResult]


@dataclass(frozen=True, slots=True)
class DrawnData:
    """Distributions and maps of response times, and thinned time series by metric and trial."""

    distributions: tuple[Distribution, ...]
    response_maps: tuple[ResponseMap, ...]
    series: Series


def read_drawn_data(store: Store, experiment: str, _: Plan, trials: Sequence[Trial]) -> DrawnData:
    """Read the distributions and time series that a report draws. Raises StoreError."""
    orders = done_orders(trials)
    chosen = curves.choose(orders)
    histograms = read.histograms(store, experiment, "response_mean_s", orders)
    return DrawnData(
        distributions(trials, histograms),
        response_maps(trials, histograms),
        {
            metric: {
                order: curves.thinned(course, chosen.points)
                for order, course in read.each_series(store, experiment, metric, chosen.trials)
            }
            for metric in chosen.metrics
        },
    )


class Points:
    """Parts of an experiment's points, read by a worker process while the context is open."""

    def __init__(self, store: Store, experiment: Experiment, *parts: Part[object]) -> None:
        """Start reading `parts` in the order in which they will be requested. Raises StoreError."""
        self._store, self._experiment = store, experiment.id
        self._coming: dict[Part[object], Future[object]] = {}
        self._leaving = ExitStack()
        if not parts or experiment.state is ExperimentState.RUNNING:  # which is read at one moment
            return
        if read.tallies(store).get(experiment.id, Counter())[TrialState.DONE] >= _MANY:
            with suppress(WorkerFailed):
                reader = WorkerProcess(__name__)
                self._leaving.callback(reader.end)
                url = store.url.render_as_string(hide_password=False)
                requests = [(part, url, experiment.id) for part in parts]
                self._coming = dict(zip(parts, share([reader], requests), strict=True))

    def of(self, part: Part[PartResult], plan: Plan, trials: Sequence[Trial]) -> PartResult:
        """The result of a part; computed here if no worker reads it. Raises StoreError."""
        if part in self._coming:
            with suppress(WorkerFailed):
                return cast("PartResult", self._coming.pop(part).result())
        return part(self._store, self._experiment, plan, trials)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._leaving.close()


def _serve() -> None:
    @functools.cache
    def opened(url: str, experiment: str) -> tuple[Store, str, Plan, Sequence[Trial]]:
        store = open_for_reading(url)
        return store, experiment, read.plan(store, experiment), read.trials(store, experiment)

    with suppress(StoreError):  # who asked finds it too, and says so
        serve(lambda request: request[0](*opened(*request[1:])))


if __name__ == "__main__":
    _serve()
