"""The import: several processes read files, one stores them in batches."""

import contextlib
import gc
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from multiprocessing import get_context

from sqlalchemy.engine import Engine as Store

from paribus.errors import ParibusError, StoreError, UsageError
from paribus.imports.export_reader import ExportFolder
from paribus.imports.files import ImportFile
from paribus.imports.reading import ImportReader, ReadFile
from paribus.imports.sets import SetContents
from paribus.model import Experiment, ExperimentState
from paribus.store import delete, read, sources, write
from paribus.store.ids import new_id

_FEW = 48  # up to this number of files, starting processes takes longer
_A_CHUNK = 8
_A_BATCH = 64  # files in one transaction
_AHEAD = 6  # chunks per process waiting to be stored

Item = ImportFile | ExportFolder


@dataclass(frozen=True, slots=True)
class ImportOutcome:
    """Result of a file: stored, a copy of the file at `duplicate_path` with its `labels`, or refused.

    `workloads` are the names of its runs' workloads in the set.
    """

    file: ReadFile
    stored: bool
    duplicate_path: str = ""
    labels: str = ""
    workloads: Sequence[str] = ()


@dataclass(slots=True)
class ImportRequest:
    """Parameters of an import."""

    items: Sequence[Item]
    reader: ImportReader
    name: str
    order: Mapping[str, Sequence[str]] = field(default_factory=dict)
    baseline: str = ""
    processes: int = 0


def read_all(request: ImportRequest) -> Iterator[ReadFile]:
    """Yield every file as read, in request order. Raises UsageError for an invalid rule."""
    processes = request.processes or len(os.sched_getaffinity(0))
    if len(request.items) <= _FEW or processes == 1:
        with _uncollected():
            yield from (_take(request.reader, item) for item in request.items)
        return
    # By fork: no threads run here, and workers start in milliseconds.
    pool = ProcessPoolExecutor(processes, get_context("fork"), initializer=_begin)
    try:
        yield from _ahead(pool, request, processes)
    except BrokenProcessPool as error:
        raise ParibusError("a process that reads logs was killed", "free some memory, then import again") from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _ahead(pool: ProcessPoolExecutor, request: ImportRequest, processes: int) -> Iterator[ReadFile]:
    starts = iter(range(0, len(request.items), _A_CHUNK))
    waiting: deque[Future[list[ReadFile]]] = deque()
    while True:
        while len(waiting) < processes * _AHEAD and (start := next(starts, None)) is not None:
            waiting.append(pool.submit(_take_some, request.reader, request.items[start : start + _A_CHUNK]))
        if not waiting:
            return
        yield from waiting.popleft().result()


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Disable garbage collection: the records have no cycles, and a large table has a million of them."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _begin() -> None:
    """Initialise a worker: Ctrl-C is left to the parent, and objects from before the fork are not collected."""
    gc.freeze()
    gc.disable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def _take_some(reader: ImportReader, items: Sequence[Item]) -> list[ReadFile]:
    results = [_take(reader, item) for item in items]
    gc.collect()
    return results


def _take(reader: ImportReader, item: Item) -> ReadFile:
    return item.take(reader) if isinstance(item, ExportFolder) else reader.take(item)


def find_set(store: Store, name: str) -> Experiment:
    """Return the set with this id, unique id prefix or name. Raises UsageError, also for an experiment."""
    experiment = read.find(store, name)
    if experiment.state is not ExperimentState.IMPORTED:
        raise UsageError(
            f"{experiment.id} ({experiment.name}) is an experiment of Paribus, to which no file can be added",
            "name an imported set, or give the new set another --name",
        )
    return experiment


def set_named(store: Store, name: str) -> Experiment | None:
    """Return the newest set of exactly this name, or None."""
    return next((e for e in read.experiments(store) if e.name == name and e.state is ExperimentState.IMPORTED), None)


def carry_out(
    request: ImportRequest,
    store: Store | None,
    target: Experiment | None,
    version: str,
    report: Callable[[ImportOutcome], None],
) -> tuple[SetContents, Experiment | None]:
    """Import into an existing set or a new one; without a `store`, report outcomes only.

    After an interruption the stored files remain, and the same import continues. After a failure a new set is deleted.
    Raises StoreError and UsageError.
    """
    started = time.time()
    name = new_id(store, started)
    contents = SetContents(
        target.id if target else name, target.name if target else request.name, request.order, request.baseline
    )
    if store and target:
        plan, trials = read.plan(store, target.id), read.trials(store, target.id)
        stored_sources, origins = sources.sources(store, target.id), sources.origins(store, target.id)
        contents.resume(plan, trials, read.summaries(store, target.id), stored_sources, origins)
    batch: list[sources.Addition] = []
    experiment = target
    results = read_all(request)
    try:
        for file in results:
            first_path = contents.hashes.get(file.sha256, "")
            if first_path or file.refused or not file.runs:
                report(
                    ImportOutcome(
                        file, stored=False, duplicate_path=first_path, labels=contents.labels.get(file.sha256, "")
                    )
                )
                continue
            addition = contents.put(file)
            batch.append(addition)
            if len(batch) >= _A_BATCH and store:
                experiment = _store_batch(store, experiment, contents, batch, version)
                batch = []
            workloads = [added.trial.workload for added in addition.trials]
            report(ImportOutcome(file, stored=True, workloads=workloads))
        experiment = _store_end(store, experiment, contents, batch, version)
    except Exception:
        if store and not target:
            with contextlib.suppress(StoreError):  # it was not created, or the store itself failed
                delete.delete(store, {contents.experiment: ExperimentState.IMPORTED})
        raise
    except BaseException:  # an interruption
        _store_end(store, experiment, contents, batch, version)
        raise
    finally:
        results.close()  # type: ignore[attr-defined]  # of a generator
    return contents, experiment


def _store_end(
    store: Store | None,
    experiment: Experiment | None,
    contents: SetContents,
    batch: Sequence[sources.Addition],
    version: str,
) -> Experiment | None:
    """Store the last batch and the baselines."""
    if store and batch:
        experiment = _store_batch(store, experiment, contents, batch, version)
    if store and experiment:
        for factor, levels in contents.levels.items():
            sources.set_baseline(store, experiment.id, factor, levels[0])
    return experiment


def _store_batch(
    store: Store, experiment: Experiment | None, contents: SetContents, batch: Sequence[sources.Addition], version: str
) -> Experiment:
    now_s = time.time()
    plan = contents.plan()
    if experiment is None:
        experiment = Experiment(
            id=contents.experiment,
            name=contents.name,
            plan_digest=plan.digest,
            plan_text=plan.text,
            overrides={},
            seed=0,
            schedule_hash="",
            rounds=0,
            state=ExperimentState.IMPORTED,
            started=now_s,
            ended=now_s,
            versions={"paribus": version},
            fingerprint={},
            notes=(),
        )
        write.begin(store, experiment, plan, ())
    sources.add(store, experiment.id, plan, batch, now_s)
    return experiment
