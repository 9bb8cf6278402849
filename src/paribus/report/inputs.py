"""Input of a report: the records of one experiment and the findings of its analysis."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from paribus.model import Cell, Effect, Experiment, Measurement, Trial
from paribus.report.view.view_models import Recipe

Pair = tuple[str, str]  # a factor and a workload
_Record = TypeVar("_Record")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportInput:
    """Everything a report is made from; whoever has less leaves fields at their defaults.

    `summaries`: measurements by trial order and metric. `findings`: records of any type; a section takes those that it
    shows by their type. `time_series`: measurements with points, by metric and trial order. `refused`: the reason for
    a missing verdict, by factor, arm and workload. `question`: that of the plan. `recipes`: by `factor=arm`.
    `planned_s`: seconds of all planned trials, None if unknown. `open_arms`: by factor, what more pairs can answer.
    `arms`: those of a comparison, the baseline first. `store`: its name where commands must name it. `needed_budget`:
    the one that an experiment resumes with; empty where its own is not used up.
    """

    experiment: Experiment
    trials: Sequence[Trial] = ()
    summaries: Mapping[int, Mapping[str, Measurement]] = field(default_factory=dict)
    effects: Sequence[Effect] = ()
    cells: Sequence[Cell] = ()
    findings: Sequence[object] = ()
    time_series: Mapping[str, Mapping[int, Measurement]] = field(default_factory=dict)
    refused: Mapping[tuple[str, str, str], str] = field(default_factory=dict)
    open_arms: Mapping[str, Collection[str]] = field(default_factory=dict)
    question: str = ""
    recipes: Mapping[str, Recipe] = field(default_factory=dict)
    planned_s: float | None = None
    arms: Sequence[str] = ()
    store: str = ""
    needed_budget: str = ""

    def of(self, kind: type[_Record]) -> list[_Record]:
        """Return the findings of a type."""
        return [finding for finding in self.findings if isinstance(finding, kind)]

    @property
    def baselines(self) -> list[str]:
        """Return the arms that are compared against."""
        arms = [*(e.baseline for e in self.effects), *(t.arm for t in self.trials if t.baseline)]
        return list(dict.fromkeys(arms))

    def comparisons(self, pairs: Iterable[Pair]) -> dict[Pair, "ReportInput"]:
        """Return for each (factor, workload) the same input with only its trials and findings, and with its arms."""
        trials, effects, cells = _by_pair(self.trials), _by_pair(self.effects), _by_pair(self.cells)
        findings = _by_pair(self.findings)
        inputs = {}
        for pair in pairs:
            part = replace(self, trials=trials[pair], effects=effects[pair], cells=cells[pair], findings=findings[pair])
            arms = [*(t.arm for t in part.trials), *(e.arm for e in part.effects), *(c.arm for c in part.cells)]
            inputs[pair] = replace(part, arms=tuple(dict.fromkeys([*part.baselines, *arms])))
        return inputs


def _by_pair(records: Iterable[_Record]) -> defaultdict[Pair, list[_Record]]:
    """Return the records of each factor under each workload; those of the whole experiment are left out."""
    located: defaultdict[Pair, list[_Record]] = defaultdict(list)
    for record in records:
        if isinstance(factor := getattr(record, "factor", None), str):
            located[factor, getattr(record, "workload", "")].append(record)
    return located
