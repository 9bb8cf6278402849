"""Input of a report: the records of one experiment and the findings of its analysis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from paribus.model import Cell, Effect, Experiment, Measurement, Trial
from paribus.report.view.view_models import Recipe

_Record = TypeVar("_Record")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportInput:
    """Everything a report is made from; whoever has less leaves fields at their defaults.

    `summaries`: measurements by trial order and metric. `findings`: records of any type; a section takes those that it
    shows by their type. `time_series`: measurements with points, by metric and trial order. `refused`: the reason for a
    missing verdict, by factor, arm and workload. `question`: that of the plan. `recipes`: by `factor=arm`. `planned_s`:
    seconds of all planned trials, None if unknown. `arms`: those of a comparison, the baseline first.
    """

    experiment: Experiment
    trials: Sequence[Trial] = ()
    summaries: Mapping[int, Mapping[str, Measurement]] = field(default_factory=dict)
    effects: Sequence[Effect] = ()
    cells: Sequence[Cell] = ()
    findings: Sequence[object] = ()
    time_series: Mapping[str, Mapping[int, Measurement]] = field(default_factory=dict)
    refused: Mapping[tuple[str, str, str], str] = field(default_factory=dict)
    question: str = ""
    recipes: Mapping[str, Recipe] = field(default_factory=dict)
    planned_s: float | None = None
    arms: Sequence[str] = ()

    def of(self, kind: type[_Record]) -> list[_Record]:
        """Return the findings of a type."""
        return [finding for finding in self.findings if isinstance(finding, kind)]

    @property
    def baselines(self) -> list[str]:
        """Return the arms that are compared against."""
        arms = [*(e.baseline for e in self.effects), *(t.arm for t in self.trials if t.baseline)]
        return list(dict.fromkeys(arms))

    def comparison(self, factor: str, workload: str) -> "ReportInput":
        """Return the same input with only the trials and findings of one factor under one workload."""

        def located(records: Sequence[_Record]) -> list[_Record]:
            return [
                record
                for record in records
                if (getattr(record, "factor", None), getattr(record, "workload", None)) == (factor, workload)
            ]

        part = replace(
            self,
            trials=located(self.trials),
            effects=located(self.effects),
            cells=located(self.cells),
            findings=located(self.findings),
        )
        arms = [*(t.arm for t in part.trials), *(e.arm for e in part.effects), *(c.arm for c in part.cells)]
        return replace(part, arms=tuple(dict.fromkeys([*part.baselines, *arms])))
