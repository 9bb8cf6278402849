"""The records: frozen, numbers stay numbers, units stand in the names.

Everything that crosses from one part of the program to another is one of these. Nothing here does any work.
Effects are natural-log ratios to the baseline; times are UTC seconds since the epoch.
"""

from ceteris.model.experiment import Calibration, Cell, Effect, Experiment, Look, Measurement, Trial
from ceteris.model.machine import Action, BlockDevice, Change, Condition, Facts, Knob, Offer, Reading, WriteFile
from ceteris.model.plan import Combination, Factor, Limits, OpenLoop, Plan, Precondition, Protocol, Target, Workload
from ceteris.model.words import (
    RESPONSES,
    ChangeState,
    ExperimentState,
    FailureClass,
    Fitness,
    NotTaken,
    Purpose,
    Response,
    Settings,
    Tag,
    TrialState,
    Value,
    Verdict,
)

__all__ = [
    "RESPONSES",
    "Action",
    "BlockDevice",
    "Calibration",
    "Cell",
    "Change",
    "ChangeState",
    "Combination",
    "Condition",
    "Effect",
    "Experiment",
    "ExperimentState",
    "Factor",
    "Facts",
    "FailureClass",
    "Fitness",
    "Knob",
    "Limits",
    "Look",
    "Measurement",
    "NotTaken",
    "Offer",
    "OpenLoop",
    "Plan",
    "Precondition",
    "Protocol",
    "Purpose",
    "Reading",
    "Response",
    "Settings",
    "Tag",
    "Target",
    "Trial",
    "TrialState",
    "Value",
    "Verdict",
    "Workload",
    "WriteFile",
]
