"""Removal of the time series of old experiments from a store: `paribus store prune`."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from paribus.i18n import N_, stored_message
from paribus.knobs.journals import inspect
from paribus.lab.machine.connection import Report, discard, inspected_site
from paribus.lab.store.deleting import shrink
from paribus.lab.store.stores import name_of, open_store
from paribus.model import ExperimentState
from paribus.store import read
from paribus.store.delete import size_bytes
from paribus.store.prune import count_series, prune

_OVER = (ExperimentState.DONE, ExperimentState.INTERRUPTED, ExperimentState.FAILED)
_PRUNED = N_("the time series of the system's counters were removed on {date}, and their summaries are here")


@dataclass(frozen=True, slots=True)
class Pruned:
    """The experiments that lose time series, and how many; sizes of the store, None where it has no file.

    `notes` say why the store was not made smaller.
    """

    store: str
    experiments: int
    series: int
    size_bytes: int | None
    size_after_bytes: int | None
    notes: Sequence[str] = ()


def prune_series(
    location: str | None,
    older_s: float,
    *,
    dry_run: bool = False,
    confirm: Callable[[Pruned], bool] = lambda _pruned: True,
    report: Report = discard,
) -> Pruned | None:
    """Remove the counters' time series of experiments that ended longer ago than `older_s`; None if not confirmed.

    Imported sets keep theirs, since verdicts on them may rest on these. Raises StoreError, UsageError and
    NotInspected.
    """
    store = open_store(location)
    before = time.time() - older_s
    old = [each.id for each in read.experiments(store) if each.state in _OVER and each.ended and each.ended < before]
    chosen = [experiment for experiment in old if count_series(store, [experiment])]
    size = size_bytes(store)
    name = name_of(store.url.render_as_string(hide_password=False))
    selection = Pruned(name, len(chosen), count_series(store, chosen), size, size)
    if dry_run or not chosen:
        return selection
    if not confirm(selection):
        return None
    prune(store, chosen, stored_message(_PRUNED, date=time.strftime("%Y-%m-%d")))
    with inspected_site(report=report) as here:
        notes = shrink(store, inspect(here.host, here.engine))
    return Pruned(name, selection.experiments, selection.series, size, size_bytes(store), notes)
