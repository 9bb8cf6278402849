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
    Scaling,
)
from paribus.findings.estimate import Estimate
from paribus.findings.io_matrix import Bound, Ceiling, Knee, Matrix, MatrixPoint, MatrixSeries
from paribus.findings.violation import Breach

__all__ = [
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
    "Held",
    "Knee",
    "Law",
    "Limit",
    "Matrix",
    "MatrixPoint",
    "MatrixSeries",
    "Moved",
    "Preconditioned",
    "Scaling",
]
