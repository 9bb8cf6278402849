"""A mechanism that settings act through, and the case in which it is looked for."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paribus.i18n import StoredMessage, stored_message
from paribus.model import Facts, Knob, Measurement, Settings, Value, Workload
from paribus.registry import DataSet, data_of, parameters_of, workload_kinds

Occurred = bool | None
"""Whether counters show a mechanism; None where none of them was sampled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One arm of a comparison, seen from one of its knobs.

    Attributes:
        knob: The knob whose effect is in question.
        levels: Its values in both arms.
        workload: The workload of the comparison.
        settings: All settings of this arm.
        facts: The machine as found.
        disk_bytes: The size of the disks below the layout; 0 without one.
    """

    knob: Knob
    levels: tuple[Value, ...]
    workload: Workload
    settings: Settings
    facts: Facts
    disk_bytes: int = 0

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The workload's parameters in this arm."""
        return parameters_of(self.workload, self.settings).model_dump()

    @property
    def data(self) -> DataSet:
        """The workload's data in this arm."""
        return data_of(self.workload, self.settings)

    @property
    def is_tool(self) -> bool:
        """Whether a program of the user makes the load, about whose operations nothing is known."""
        return workload_kinds.get(self.workload.kind).tool is not None

    @property
    def on_files(self) -> bool:
        """Whether the engine makes a load on files or a device."""
        return not self.is_tool and not self.workload.database

    def variable(self, name: str) -> Value | None:
        """A variable of the workload's server in this arm; None where it is unknown."""
        in_force = self.facts.database.in_force.get(name) if self.facts.database else None
        return self.settings.get(f"{self.workload.database}.{name}", in_force)

    def parameter_text(self, name: str) -> str:
        """A parameter of the workload as a plan writes it: `fileio.direct = true`."""
        value = self.parameters[name]
        text = str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else str(value)
        return f"{self.workload.plan_name}.{name} = {text}"


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A fact that keeps a mechanism from occurring, and its remedy.

    `certain`: it excludes the mechanism. Otherwise the mechanism is unlikely, and counters decide.
    """

    fact: StoredMessage
    remedy: StoredMessage
    certain: bool = True


@dataclass(frozen=True, slots=True)
class Least:
    """Least for the mechanism to occur in a trial: `size_bytes` written, or `duration_s` passed; one is enough.

    0 where that amount does not help. `constant` is the setting behind them.
    """

    constant: str
    size_bytes: float = 0.0
    duration_s: float = 0.0


Measured = Mapping[str, Measurement]


def _never(_case: Case) -> None:
    """No answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanism:
    """A mechanism that settings act through, such as buffered reads.

    Attributes:
        name: Its name in the catalogue's field `needs`; not translated.
        explanation: Its meaning, and how it is recognised.
        counters: Sampled metrics that show it.
        obstacle: The fact of a case that keeps it from occurring; None without one.
        occurred: Whether the measurements of a trial show it; the second argument is the threshold.
        threshold: The value of its counter from which a setting acts; None where any value above 0 counts.
        least: What a trial must do for it to occur.
        written: The metric of those bytes per second; empty where `least` is not known.
        leaves_state: Whether it may leave something behind that later trials meet, such as dirty pages.
    """

    name: str
    explanation: str
    counters: tuple[str, ...] = ()
    obstacle: Callable[[Case], Obstacle | None] = _never
    occurred: Callable[[Measured, float | None], Occurred]
    threshold: Callable[[Case], float | None] = _never
    least: Callable[[Case], Least | None] = _never
    written: str = ""
    leaves_state: bool = True


def above_zero(metrics: Sequence[str]) -> Callable[[Measured, float | None], Occurred]:
    """Return a test whether any of the metrics was above zero in a trial."""
    return functools.partial(_any_above_zero, tuple(metrics))


def _any_above_zero(metrics: Sequence[str], measured: Measured, _threshold: float | None) -> Occurred:
    present = [measured[metric].high for metric in metrics if metric in measured]
    return any(value > 0 for value in present) if present else None


def unsampled(_measured: Measured, _threshold: float | None) -> Occurred:
    """Return None: no counter shows the mechanism."""
    return None


def interval_s(measurement: Measurement) -> float:
    """Return the seconds between two readings of a rate; 0 where it was never above zero."""
    return measurement.total / measurement.mean / measurement.n if measurement.mean > 0 and measurement.n else 0.0


def set_parameter(case: Case, name: str, value: str) -> StoredMessage:
    """Return the remedy of setting a workload parameter."""
    return stored_message("set {setting}", setting=f"{case.workload.plan_name}.{name} = {value}")
