"""Findings next to the effects of an experiment: records made by the analysis, read by the report."""

from paribus.findings.comparison import Between, EffectBetween
from paribus.findings.diagnostics import (
    Bounded,
    Constancy,
    Contrast,
    Distribution,
    Drift,
    DriftPoint,
    Held,
    Law,
    Limit,
    Moved,
    Preconditioned,
    ResponseColumn,
    ResponseMap,
    Scaling,
)
from paribus.findings.estimate import Estimate
from paribus.findings.event_phases import ArmPhases, EventChange, PhaseFigures
from paribus.findings.fleet import FleetEffect, MachineEffect, OpenQuestion
from paribus.findings.health import HealthSpan, HealthTimeline
from paribus.findings.io_matrix import Bound, Ceiling, Knee, Matrix, MatrixPoint, MatrixSeries
from paribus.findings.layouts import LayoutUse
from paribus.findings.recovery import ArmFlushes, ArmRecovery
from paribus.findings.selection import SelectedLevel, Selection
from paribus.findings.tpcc import ArmTpcc, KindFigures
from paribus.findings.violation import Breach

__all__ = [
    "ArmFlushes",
    "ArmPhases",
    "ArmRecovery",
    "ArmTpcc",
    "Between",
    "Bound",
    "Bounded",
    "Breach",
    "Ceiling",
    "Constancy",
    "Contrast",
    "Distribution",
    "Drift",
    "DriftPoint",
    "EffectBetween",
    "Estimate",
    "EventChange",
    "FleetEffect",
    "HealthSpan",
    "HealthTimeline",
    "Held",
    "KindFigures",
    "Knee",
    "Law",
    "LayoutUse",
    "Limit",
    "MachineEffect",
    "Matrix",
    "MatrixPoint",
    "MatrixSeries",
    "Moved",
    "OpenQuestion",
    "PhaseFigures",
    "Preconditioned",
    "ResponseColumn",
    "ResponseMap",
    "Scaling",
    "SelectedLevel",
    "Selection",
]
