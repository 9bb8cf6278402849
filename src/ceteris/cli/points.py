"""What a report needs of points and histograms: the courses that are judged, and what is drawn of trials.

Of many trials a process aside reads them, while we read the summaries and judge. Where it fails, we read them
ourselves, and see why.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Self, TypeVar, cast

from sqlalchemy.engine import Engine as Store

from ceteris.analysis.distribution import distributions
from ceteris.aside import Aside, Ended, serve
from ceteris.errors import StoreError
from ceteris.experiment import evidence
from ceteris.findings import Distribution
from ceteris.model import Measurement, Plan, Trial
from ceteris.report import curves
from ceteris.store import read
from ceteris.store.open import open_for_reading

_MANY = 4000  # trials; with fewer we are done before the process has started

Series = Mapping[str, Mapping[int, Measurement]]
Read = TypeVar("Read")
Part = Callable[[Store, str, Plan, Sequence[Trial]], Read]


@dataclass(frozen=True, slots=True)
class Drawn:
    """Distributions of response times, and by metric and trial the course over time, thinned."""

    distributions: tuple[Distribution, ...]
    series: Series


def courses(store: Store, experiment: str, plan: Plan, trials: Sequence[Trial]) -> Series:
    """By response and trial its course within the trial, as short as it is judged by. Raises StoreError."""
    return evidence.courses(store, experiment, plan, evidence.made(trials))


def drawn(store: Store, experiment: str, _: Plan, trials: Sequence[Trial]) -> Drawn:
    """What is drawn of trials. Raises StoreError."""
    made = evidence.made(trials)
    chosen = curves.choose(made)
    return Drawn(
        distributions(trials, read.histograms(store, experiment, "response_mean_s", made)),
        {
            metric: {
                order: curves.thinned(course, chosen.points)
                for order, course in read.each_series(store, experiment, metric, chosen.trials)
            }
            for metric in chosen.metrics
        },
    )


class Points:
    """Parts of an experiment's points, on their way while this is entered."""

    def __init__(self, store: Store, experiment: str, *parts: Part[object]) -> None:
        """`parts` in the order in which they will be wanted. Raises StoreError."""
        self._store, self._experiment, self._coming = store, experiment, list(parts)
        many = bool(parts) and sum(read.tallies(store)[experiment].values()) >= _MANY
        self._aside = Aside(__name__) if many else None

    def __enter__(self) -> Self:
        if self._aside is not None:
            url = self._store.url.render_as_string(hide_password=False)
            with suppress(Ended):
                for part in self._coming:
                    self._aside.ask((part, url, self._experiment))
        return self

    def of(self, part: Part[Read], plan: Plan, trials: Sequence[Trial]) -> Read:
        """One of the parts, or any. Raises StoreError."""
        with suppress(Ended):
            while self._aside is not None and part in self._coming:
                answer = self._aside.answer()
                if self._coming.pop(0) is part:
                    return cast("Read", answer)
        return part(self._store, self._experiment, plan, trials)

    def __exit__(self, *_: object) -> None:
        if self._aside is not None:
            self._aside.end()


def _serve() -> None:
    @functools.cache
    def known(url: str, experiment: str) -> tuple[Store, str, Plan, Sequence[Trial]]:
        store = open_for_reading(url)
        return store, experiment, read.plan(store, experiment), read.trials(store, experiment)

    with suppress(StoreError):  # who asked finds it too, and says so
        serve(lambda asked: asked[0](*known(*asked[1:])))


if __name__ == "__main__":
    _serve()
