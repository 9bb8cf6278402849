"""Carrying out an import: files read by several processes, kept by one, a few at a time whatever their number."""

import gc
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context

from sqlalchemy.engine import Engine as Store

from paribus.errors import ParibusError, UsageError
from paribus.imports.export_reader import Exported
from paribus.imports.files import Named
from paribus.imports.reading import ImportReader, Taken
from paribus.imports.sets import Gathered
from paribus.model import Experiment, ExperimentState
from paribus.store import read, sources, write
from paribus.store.ids import new_id

_FEW = 48  # so many files are read here, before other processes would have started
_A_CHUNK = 8
_A_BATCH = 64  # files in one transaction
_AHEAD = 6  # chunks that wait for the one that keeps them, for each process

Item = Named | Exported


@dataclass(frozen=True, slots=True)
class ImportOutcome:
    """What became of a file: read and `kept`, or there already under the path `again` as `labels`, or refused."""

    taken: Taken
    kept: bool
    again: str = ""
    labels: str = ""


@dataclass(slots=True)
class Wanted:
    """What an import is asked for."""

    items: Sequence[Item]
    reader: ImportReader
    name: str
    order: Mapping[str, Sequence[str]] = field(default_factory=dict)
    baseline: str = ""
    processes: int = 0


def read_all(wanted: Wanted) -> Iterator[Taken]:
    """Every file as read, in the order asked for. Raises UsageError where a rule says what cannot be."""
    processes = wanted.processes or len(os.sched_getaffinity(0))
    if len(wanted.items) <= _FEW or processes == 1:
        with _uncollected():
            yield from (_take(wanted.reader, item) for item in wanted.items)
        return
    # By fork: nothing of this program runs in threads here, and workers begin in milliseconds.
    pool = ProcessPoolExecutor(processes, get_context("fork"), initializer=_begin)
    try:
        yield from _ahead(pool, wanted, processes)
    except BrokenProcessPool as error:
        raise ParibusError(
            "a process that reads logs was ended by someone else", "free some memory, then import again"
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _ahead(pool: ProcessPoolExecutor, wanted: Wanted, processes: int) -> Iterator[Taken]:
    starts = iter(range(0, len(wanted.items), _A_CHUNK))
    waiting: deque[Future[list[Taken]]] = deque()
    while True:
        while len(waiting) < processes * _AHEAD and (start := next(starts, None)) is not None:
            waiting.append(pool.submit(_take_some, wanted.reader, wanted.items[start : start + _A_CHUNK]))
        if not waiting:
            return
        yield from waiting.popleft().result()


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without looking for circles: what is read has none, and a large table is a million records that stay."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _begin() -> None:
    """Ctrl-C is for the process that keeps what was read; what was there at the fork is looked at by no collection."""
    gc.freeze()
    gc.disable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _take_some(reader: ImportReader, items: Sequence[Item]) -> list[Taken]:
    taken = [_take(reader, item) for item in items]
    gc.collect()
    return taken


def _take(reader: ImportReader, item: Item) -> Taken:
    return item.take(reader) if isinstance(item, Exported) else reader.take(item)


def find_set(store: Store, name: str) -> Experiment:
    """The set that an id, a unique start of one or a name means. Raises UsageError, also for an experiment."""
    found = read.find(store, name)
    if found.state is not ExperimentState.IMPORTED:
        raise UsageError(
            f"{found.id} ({found.name}) was measured by Paribus, and nothing is added to it",
            "name a set that was imported, or give this one another --name",
        )
    return found


def set_named(store: Store, name: str) -> Experiment | None:
    """The newest set of this very name, where there is one."""
    return next((e for e in read.experiments(store) if e.name == name and e.state is ExperimentState.IMPORTED), None)


def carry_out(
    wanted: Wanted, store: Store | None, into: Experiment | None, version: str, tell: Callable[[ImportOutcome], None]
) -> tuple[Gathered, Experiment | None]:
    """Import: into a set that is there, else a new one; without a `store` nothing is kept, and all is told.

    What is kept stays when it is interrupted: the same import goes on from there. Raises StoreError and UsageError.
    """
    started = time.time()
    name = new_id(store, started)
    found = Gathered(into.id if into else name, into.name if into else wanted.name, wanted.order, wanted.baseline)
    if store and into:
        plan, trials = read.plan(store, into.id), read.trials(store, into.id)
        kept_sources, source_of = sources.sources(store, into.id), sources.source_of(store, into.id)
        found.resume(plan, trials, read.summaries(store, into.id), kept_sources, source_of)
    batch: list[sources.Addition] = []
    kept = into
    taken = read_all(wanted)
    try:
        for one in taken:
            again = found.hashes.get(one.sha256, "")
            if again or one.refused or not one.runs:
                tell(ImportOutcome(one, kept=False, again=again, labels=found.labels.get(one.sha256, "")))
                continue
            batch.append(found.put(one))
            if len(batch) >= _A_BATCH and store:
                kept = _keep(store, kept, found, batch, version)
                batch = []
            tell(ImportOutcome(one, kept=True))
    finally:
        taken.close()  # type: ignore[attr-defined]  # a generator's
        if store and batch:
            kept = _keep(store, kept, found, batch, version)
        if store and kept:
            for factor, levels in found.levels.items():
                sources.set_baseline(store, kept.id, factor, levels[0])
    return found, kept


def _keep(
    store: Store, kept: Experiment | None, found: Gathered, batch: Sequence[sources.Addition], version: str
) -> Experiment:
    now = time.time()
    plan = found.plan()
    if kept is None:
        kept = Experiment(
            id=found.experiment,
            name=found.name,
            plan_digest=plan.digest,
            plan_text=plan.text,
            overrides={},
            seed=0,
            schedule_hash="",
            rounds=0,
            state=ExperimentState.IMPORTED,
            started=now,
            ended=now,
            versions={"paribus": version},
            fingerprint={},
            notes=(),
        )
        write.begin(store, kept, plan, ())
    sources.add(store, kept.id, plan, batch, now)
    return kept
