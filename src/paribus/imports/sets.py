"""A set: what others measured, as an experiment whose plan is made up from its trials.

Every run is a trial, and a block of its own, since nobody knows what ran beside what. Factors and levels stand in the
order in which they came; the first level is what others are compared with, unless another is named.
"""

import hashlib
import json
import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from paribus.i18n import N_, stored_message
from paribus.imports.reading import Taken, TakenRun
from paribus.model import (
    RESPONSES,
    Factor,
    Measurement,
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
_LONG = 40  # letters of a workload's name
_STATED = "stated"
_ALIKE = ("throughput_per_s", "bytes_per_s", "queries_per_s", "response_mean_s", "response_max_s", "operations")

Cell = tuple[tuple[tuple[str, str], ...], str, LoadLevel]


@dataclass(slots=True)
class Gathered:
    """What a set holds so far, and how more is put into it.

    The first of a factor's `levels` is what others are compared with: `baseline` where that is one of them, else by
    `order`, else the one that came first.
    """

    experiment: str
    name: str
    order: Mapping[str, Sequence[str]] = field(default_factory=dict)
    baseline: str = ""
    levels: dict[str, list[str]] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    _called: dict[str, str] = field(default_factory=dict)
    _loads: dict[str, set[LoadLevel]] = field(default_factory=lambda: defaultdict(set))
    _metrics: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _cells: dict[Cell, int] = field(default_factory=lambda: defaultdict(int))
    _seen: dict[bytes, int] = field(default_factory=dict)
    _trials: int = 0
    _sources: int = 0

    def resume(
        self,
        plan: Plan,
        trials: Sequence[Trial],
        summaries: Mapping[int, Mapping[str, Measurement]],
        sources: Sequence[Source],
        source_of: Mapping[int, int],
    ) -> None:
        """Go on from what the store has of it; `source_of` is the number of each trial's source."""
        self.levels = {factor.key: list(factor.labels) for factor in plan.factors}
        self._called = {workload.parameters[_STATED]: workload.name for workload in plan.workloads}
        labelled: dict[int, set[tuple[tuple[str, str], ...]]] = defaultdict(set)
        for trial in trials:
            labelled[source_of[trial.order]].add(tuple((key, str(level)) for key, level in trial.settings.items()))
        for source in sources:
            self.hashes[source.sha256] = source.path
            self.labels[source.sha256] = _told(labelled[source.number])
            self._sources = max(self._sources, source.number)
        for trial in trials:
            labels = {key: str(value) for key, value in trial.settings.items()} or {trial.factor: trial.arm}
            figures = {name: one.mean for name, one in summaries.get(trial.order, {}).items()}
            cell = self._note(labels, trial.workload, trial.load, figures)
            self._cells[cell] = max(self._cells[cell], trial.round)
            self._seen.setdefault(_digest(cell, _alike(figures)), trial.order)
            self._trials = max(self._trials, trial.order)

    def put(self, taken: Taken) -> Addition:
        """A file's source and trials, numbered on."""
        self._sources += 1
        self.hashes[taken.sha256] = taken.named.path
        self.labels[taken.sha256] = _told({tuple(run.placed.labels.items()) for run in taken.runs})
        source = Source(
            number=self._sources,
            path=taken.named.path,
            sha256=taken.sha256,
            size_bytes=taken.size_bytes,
            format=taken.format,
            runs=len(taken.runs),
            not_understood=taken.not_understood,
            remarks=taken.remarks,
        )
        return Addition(source, taken.content, [self._trial(run) for run in taken.runs])

    def _trial(self, run: TakenRun) -> AddedTrial:
        labels = dict(run.placed.labels) or {NO_FACTOR: AS_IT_IS}
        load = _load_of(run.placed.load)
        workload = self._name_of(run.placed.workload)
        cell = self._note(labels, workload, load, run.figures)
        alike = _alike(run.figures)
        digest = _digest(cell, alike)
        twin = self._seen.get(digest) if len(alike) > 1 else None
        self._trials += 1
        if twin is None:
            self._cells[cell] += 1
            self._seen[digest] = self._trials
        factor, arm = next(iter(labels.items()))
        said = N_("has the same figures as trial {trial}: one run listed twice, counted once")
        again = "" if twin is None else stored_message(said, trial=twin)
        nothing = "" if run.figures else stored_message("states no figure")
        unused = tuple(filter(None, [again, nothing]))
        trial = Trial(
            experiment=self.experiment,
            order=self._trials,
            round=run.placed.repetition or max(1, self._cells[cell]),
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
        return AddedTrial(trial, run.lines, run.missing, run.said, run.rows)

    def _name_of(self, stated: str) -> str:
        """A workload's name: of what tells a whole configuration, the beginning, where no other begins so."""
        if stated not in self._called:
            short = stated.split(",", maxsplit=1)[0].strip() if len(stated) > _LONG else stated
            taken = self._called.values()
            self._called[stated] = short if short and short not in taken else stated
        return self._called[stated]

    def _note(self, labels: Mapping[str, str], workload: str, load: LoadLevel, figures: Mapping[str, float]) -> Cell:
        for factor, level in labels.items():
            known = self.levels.setdefault(factor, [])
            if level not in known:
                known.append(level)
                known.sort(key=lambda one: self._rank(factor, one))  # those of one rank stay in order
        self._loads[workload].add(load)
        self._metrics[workload] |= figures.keys()
        return tuple(sorted(labels.items())), workload, load

    def _rank(self, factor: str, level: str) -> int:
        wanted = list(self.order.get(factor, ()))
        return -1 if level == self.baseline else wanted.index(level) if level in wanted else len(wanted)

    def plan(self) -> Plan:
        """The plan that would have asked for this."""
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
            baseline={one.key: one.levels[0] for one in factors},
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
        stated_as = next((whole for whole, short in self._called.items() if short == name), name)
        judged = [metric for metric in _JUDGED if metric in metrics]
        response = judged[0] if judged else _JUDGED[0]
        stated = sorted(load.n for load in self._loads[name] if load.unit is not LoadUnit.NOT_STATED)
        return Workload(
            name=name,
            kind=NO_FACTOR,
            parameters={_STATED: stated_as},
            load_levels=tuple(stated),
            response=response,
            data="keep",
            cache="warm",
            also=tuple(metric for metric in _ALSO if metric in metrics and metric != response),
        )

    def _text(self) -> str:
        """What the set holds, in the words of a plan."""
        lines = ["# What others measured, in the words of a plan that would have asked for it", "", "[factors]"]
        for factor, levels in self.levels.items():
            lines.append(f"{json.dumps(factor)} = {json.dumps(levels, ensure_ascii=False)}")
        for name, loads in self._loads.items():
            threads = sorted(load.n for load in loads if load.unit is not LoadUnit.NOT_STATED)
            lines += ["", "[[workload]]", f"name    = {json.dumps(name, ensure_ascii=False)}", f"threads = {threads}"]
        return "\n".join(lines) + "\n"


def _told(labels: Iterable[tuple[tuple[str, str], ...]]) -> str:
    """What a source's runs are of, in words; empty where that is several things."""
    every = list(labels)
    return sys.intern(", ".join(f"{factor} = {level}" for factor, level in every[0])) if len(every) == 1 else ""


def _load_of(stated: int | None) -> LoadLevel:
    """A load level; of a number that nobody can have run with, none."""
    if stated is None or not 0 <= stated <= _MOST_THREADS:
        return LoadLevel(0, LoadUnit.NOT_STATED)
    return LoadLevel(stated)


def margin_of(response: str) -> float:
    """What is too small to matter, as a ratio; of what is no response of ours, that of throughput."""
    known = RESPONSES.get(response)
    return known.margin if known else _MARGIN


def _digest(cell: Cell, alike: tuple[tuple[str, float], ...]) -> bytes:
    """Both in a few bytes, since there is one for each run."""
    return hashlib.blake2b(repr((cell, alike)).encode("utf-8", "replace"), digest_size=16).digest()


def _alike(figures: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    """What two runs of one cell cannot have in common by chance."""
    return tuple((name, figures[name]) for name in _ALIKE if name in figures)
