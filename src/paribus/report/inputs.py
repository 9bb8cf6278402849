"""Input of a report: the records of one experiment and the findings of its analysis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from paribus.findings import (
    Bounded,
    Breach,
    Constancy,
    Contrast,
    Distribution,
    Drift,
    Matrix,
    Preconditioned,
    Scaling,
)
from paribus.model import Cell, Effect, Experiment, Measurement, Origin, Source, Tested, Trial
from paribus.report.sections.uncontrolled import NOT_RECORDED
from paribus.report.view.view_models import Recipe

_Located = TypeVar("_Located", Trial, Effect, Cell, Drift, Contrast, Scaling, Bounded, Distribution)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportInput:
    """Everything a report is made from; whoever has less leaves fields at their defaults.

    `summaries`: measurements by trial order and metric. `time_series`: measurements with points, by metric and trial
    order. `refused`: the reason for a missing verdict, by factor, arm and workload. `question`: that of the plan.
    `recipes`: by `factor=arm`. `planned_s`: seconds of all planned trials, None if unknown. Imported sets alone have
    `sources`, `origins` (by trial order), `breaches` (their cells are trial orders) and `claims`.
    """

    experiment: Experiment
    trials: Sequence[Trial] = ()
    summaries: Mapping[int, Mapping[str, Measurement]] = field(default_factory=dict)
    effects: Sequence[Effect] = ()
    cells: Sequence[Cell] = ()
    matrices: Sequence[Matrix] = ()
    drifts: Sequence[Drift] = ()
    contrasts: Sequence[Contrast] = ()
    bounds: Sequence[Bounded] = ()
    scalings: Sequence[Scaling] = ()
    distributions: Sequence[Distribution] = ()
    time_series: Mapping[str, Mapping[int, Measurement]] = field(default_factory=dict)
    preconditioned: Sequence[Preconditioned] = ()
    constancy: Constancy = NOT_RECORDED
    refused: Mapping[tuple[str, str, str], str] = field(default_factory=dict)
    question: str = ""
    recipes: Mapping[str, Recipe] = field(default_factory=dict)
    planned_s: float | None = None
    sources: Sequence[Source] = ()
    origins: Mapping[int, Origin] = field(default_factory=dict)
    breaches: Sequence[Breach] = ()
    claims: Sequence[Tested] = ()

    def comparison(self, factor: str, workload: str) -> "ReportInput":
        """Return the same input with only the trials and findings of one factor under one workload."""
        pair = (factor, workload)
        return replace(
            self,
            trials=_of(self.trials, pair),
            effects=_of(self.effects, pair),
            cells=_of(self.cells, pair),
            drifts=_of(self.drifts, pair),
            contrasts=_of(self.contrasts, pair),
            bounds=_of(self.bounds, pair),
            scalings=_of(self.scalings, pair),
            distributions=_of(self.distributions, pair),
        )


def _of(records: Sequence[_Located], pair: tuple[str, str]) -> list[_Located]:
    return [record for record in records if (record.factor, record.workload) == pair]
