"""An imported set: published runs as an experiment whose plan is derived from its trials.

Every run is a trial in a block of its own, since it is unknown which runs belong together. Factors and levels are in
order of appearance; the first level is the baseline unless another is named.
"""

import bisect
import hashlib
import json
import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from paribus.i18n import N_, stored_message
from paribus.imports.reading import ReadFile, ReadRun
from paribus.imports.repeated_tables import ListedCell, RepeatedTables
from paribus.imports.workload_names import WorkloadNames
from paribus.model import (
    RESPONSES,
    Factor,
    Measurement,
    Origin,
    Plan,
    Protocol,
    Purpose,
    Source,
    Target,
    Trial,
    TrialState,
    Workload,
)
from paribus.store.sources import AddedTrial, Addition
from paribus.units import LoadLevel, LoadUnit

NO_FACTOR = "imported"
AS_IT_IS = "as it is"
_CONFIDENCE = 0.95
_JUDGED = ("throughput_per_s", "bytes_per_s", "normalised", "queries_per_s", "response_mean_s", "response_p95_s")
_ALSO = ("response_p95_s",)
_MARGIN = 0.02
_MOST_THREADS = 10**9
_IDENTIFYING = ("throughput_per_s", "bytes_per_s", "queries_per_s", "response_mean_s", "response_max_s", "operations")

Cell = tuple[tuple[tuple[str, str], ...], str, LoadLevel]


@dataclass(slots=True)
class SetContents:
    """The contents of a set, to which files are added.

    The first of a factor's `levels` is the baseline: `baseline` if it is one of them, else by `order`, else the first
    that appeared.
    """

    experiment: str
    name: str
    order: Mapping[str, Sequence[str]] = field(default_factory=dict)
    baseline: str = ""
    levels: dict[str, list[str]] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    _has_level: set[tuple[str, str]] = field(default_factory=set)
    _ordered: set[str] = field(default_factory=set)
    _names: WorkloadNames = field(default_factory=WorkloadNames)
    _tables: RepeatedTables = field(default_factory=RepeatedTables)
    _loads: dict[str, set[LoadLevel]] = field(default_factory=lambda: defaultdict(set))
    _metrics: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _cells: dict[Cell, int] = field(default_factory=lambda: defaultdict(int))
    _first_with: dict[bytes, int] = field(default_factory=dict)
    _trials: int = 0
    _sources: int = 0

    def resume(
        self,
        plan: Plan,
        trials: Sequence[Trial],
        summaries: Mapping[int, Mapping[str, Measurement]],
        sources: Sequence[Source],
        origins: Mapping[int, Origin],
    ) -> None:
        """Restore the contents from the store; `origins` are by trial."""
        self.levels = {factor.key: list(factor.labels) for factor in plan.factors}
        self._has_level = {(factor, level) for factor, levels in self.levels.items() for level in levels}
        self._names.resume(plan.workloads)
        labelled: dict[int, set[tuple[tuple[str, str], ...]]] = defaultdict(set)
        for trial in trials:
            labelled[origins[trial.order].source].add(tuple((key, str(level)) for key, level in trial.settings.items()))
        for source in sources:
            self.hashes[source.sha256] = source.path
            self.labels[source.sha256] = _common_labels(labelled[source.number])
            self._sources = max(self._sources, source.number)
        for trial in trials:
            labels = {key: str(value) for key, value in trial.settings.items()} or {trial.factor: trial.arm}
            figures = {name: measurement.mean for name, measurement in summaries.get(trial.order, {}).items()}
            cell = self._note(labels, trial.workload, trial.load, figures)
            conditions = origins[trial.order].said.get("conditions", {})
            self._names.note(trial.workload, cell[0], trial.load, conditions)
            self._cells[cell] = max(self._cells[cell], trial.round)
            origin = origins[trial.order]
            if (table := origin.said.get("table")) is not None:
                self._tables.note(ListedCell((origin.source, table), cell, trial.order, _identifying(figures)))
            self._first_with.setdefault(_digest(cell, _identifying(figures)), trial.order)
            self._trials = max(self._trials, trial.order)

    def put(self, file: ReadFile) -> Addition:
        """Add a file's source and trials with the next numbers."""
        self._sources += 1
        self.hashes[file.sha256] = file.source.printable_path
        self.labels[file.sha256] = _common_labels({tuple(run.placement.labels.items()) for run in file.runs})
        source = Source(
            number=self._sources,
            path=file.source.printable_path,
            sha256=file.sha256,
            size_bytes=file.size_bytes,
            format=file.format,
            runs=len(file.runs),
            not_understood=file.not_understood,
            remarks=file.remarks,
        )
        trials = [self._trial(run) for run in file.runs]
        listed = [
            ListedCell((source.number, run.table), _cell_of(added.trial), added.trial.order, _identifying(run.figures))
            for run, added in zip(file.runs, trials, strict=True)
            if run.table is not None
        ]
        reasons = self._tables.unused(listed)
        return Addition(source, file.content, [_without(added, reasons) for added in trials])

    def _trial(self, run: ReadRun) -> AddedTrial:
        labels = dict(run.placement.labels) or {NO_FACTOR: AS_IT_IS}
        load = _load_of(run.placement.load)
        workload = self._names.name(run.placement.workload, tuple(sorted(labels.items())), load, run.conditions)
        cell = self._note(labels, workload, load, run.figures)
        identifying = _identifying(run.figures)
        digest = _digest(cell, identifying)
        duplicate_of = self._first_with.get(digest) if len(identifying) > 1 else None
        self._trials += 1
        if duplicate_of is None:
            self._cells[cell] += 1
            self._first_with[digest] = self._trials
        factor, arm = next(iter(labels.items()))
        message = N_("has the same figures as trial {trial}: one run listed twice, counted once")
        duplicate = "" if duplicate_of is None else stored_message(message, trial=duplicate_of)
        unused = tuple(filter(None, [duplicate, _no_result(run)]))
        trial = Trial(
            experiment=self.experiment,
            order=self._trials,
            round=run.placement.repetition or max(1, self._cells[cell]),
            block=self._trials,
            position=1,
            attempt=1,
            factor=factor,
            arm=arm,
            baseline=arm == self.levels[factor][0],
            purpose=Purpose.COMPARE,
            settings=labels,
            workload=workload,
            load=load,
            state=TrialState.INVALID if unused else TrialState.DONE,
            invalid_because=unused or ((run.missing,) if run.missing else ()),
        )
        return AddedTrial(trial, run.lines, run.missing, run.record, run.rows)

    def _note(self, labels: Mapping[str, str], workload: str, load: LoadLevel, figures: Mapping[str, float]) -> Cell:
        for factor, level in labels.items():
            levels = self.levels.setdefault(factor, [])
            if (factor, level) not in self._has_level:
                self._has_level.add((factor, level))
                if factor not in self._ordered:  # those of the store may have had another baseline
                    levels.sort(key=lambda other: self._rank(factor, other))
                    self._ordered.add(factor)
                bisect.insort(levels, level, key=lambda other: self._rank(factor, other))  # after equal ranks
        self._loads[workload].add(load)
        self._metrics[workload] |= figures.keys()
        return tuple(sorted(labels.items())), workload, load

    def _rank(self, factor: str, level: str) -> int:
        ranked = list(self.order.get(factor, ()))
        return -1 if level == self.baseline else ranked.index(level) if level in ranked else len(ranked)

    def plan(self) -> Plan:
        """Return the plan that corresponds to the contents."""
        workloads = tuple(self._workload(name) for name in self._loads)
        factors = tuple(
            Factor(key=factor, levels=tuple(levels), labels=tuple(levels), scope=tuple(self._loads))
            for factor, levels in self.levels.items()
        )
        text = self._text()
        return Plan(
            name=self.name,
            question="",
            target=Target(address="imported", path="", device=None),
            hold={},
            baseline={factor.key: factor.levels[0] for factor in factors},
            factors=factors,
            combinations=(),
            workloads=workloads,
            protocol=Protocol(
                trial_s=0.0,
                settle_s=0.0,
                budget_s=0.0,
                confidence=_CONFIDENCE,
                seed=0,
                margins={name: math.log1p(margin_of(name)) for name in _JUDGED},
                rounds=None,
                placebo=False,
            ),
            digest=hashlib.sha256(text.encode("utf-8", "replace")).hexdigest(),
            text=text,
        )

    def _workload(self, name: str) -> Workload:
        metrics = self._metrics[name]
        judged = [metric for metric in _JUDGED if metric in metrics]
        response = judged[0] if judged else _JUDGED[0]
        loads = sorted(load.n for load in self._loads[name] if load.unit is not LoadUnit.NOT_STATED)
        return Workload(
            name=name,
            kind=NO_FACTOR,
            parameters=self._names.parameters(name),
            load_levels=tuple(loads),
            response=response,
            data="keep",
            cache="warm",
            also=tuple(metric for metric in _ALSO if metric in metrics and metric != response),
        )

    def _text(self) -> str:
        """Return the contents in the syntax of a plan."""
        lines = ["# What others measured, in the words of a plan that would have asked for it", "", "[factors]"]
        for factor, levels in self.levels.items():
            lines.append(f"{json.dumps(factor)} = {json.dumps(levels, ensure_ascii=False)}")
        for name, loads in self._loads.items():
            threads = sorted(load.n for load in loads if load.unit is not LoadUnit.NOT_STATED)
            lines += ["", "[[workload]]", f"name    = {json.dumps(name, ensure_ascii=False)}", f"threads = {threads}"]
        return "\n".join(lines) + "\n"


def _no_result(run: ReadRun) -> str:
    """Return why a run has no result; empty for a run with one."""
    if run.failed:
        return stored_message(N_("the tool reports that the run failed: {words}"), words=run.failed)
    if not run.figures:
        return stored_message(N_("states no figure"))
    if not run.figures.get("operations", 1) and not run.figures.get("throughput_per_s"):
        return stored_message(N_("states 0 operations"))
    return ""


def _common_labels(labels: Iterable[tuple[tuple[str, str], ...]]) -> str:
    """Format the labels of a source's runs; empty if they differ."""
    label_sets = list(labels)
    return (
        sys.intern(", ".join(f"{factor} = {level}" for factor, level in label_sets[0])) if len(label_sets) == 1 else ""
    )


def _load_of(stated: int | None) -> LoadLevel:
    """Return a load level; an impossible number is not stated."""
    if stated is None or not 0 <= stated <= _MOST_THREADS:
        return LoadLevel(0, LoadUnit.NOT_STATED)
    return LoadLevel(stated)


def margin_of(response: str) -> float:
    """Return the margin of a response as a ratio; for unknown metrics that of throughput."""
    definition = RESPONSES.get(response)
    return definition.margin if definition else _MARGIN


def _cell_of(trial: Trial) -> Cell:
    return tuple(sorted((key, str(level)) for key, level in trial.settings.items())), trial.workload, trial.load


def _without(added: AddedTrial, reasons: Mapping[int, str]) -> AddedTrial:
    """Return the trial as invalid if a reason is given and it counted until now."""
    reason = reasons.get(added.trial.order)
    if reason is None or added.trial.state is not TrialState.DONE:
        return added
    return replace(added, trial=replace(added.trial, state=TrialState.INVALID, invalid_because=(reason,)))


def _digest(cell: Cell, identifying: Mapping[str, float]) -> bytes:
    """Return a 16-byte digest, since there is one per run."""
    text = repr((cell, tuple(identifying.items())))
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()


def _identifying(figures: Mapping[str, float]) -> dict[str, float]:
    """Return the figures that two runs of a cell cannot share by chance."""
    return {name: figures[name] for name in _IDENTIFYING if name in figures}
