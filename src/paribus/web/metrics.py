"""Experiments in the text format of OpenMetrics 1.0, for Prometheus and others that collect numbers.

Input: records of a store. Output: the text. The archive calls it.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from paribus.model import Experiment, ExperimentState, Look, Purpose, TrialState
from paribus.web import pace

MEDIA_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"
MOST_EXPERIMENTS = 20
"""The newest experiments have numbers of their own, as do those that run: each is a time series for good."""

_Labels = tuple[tuple[str, str], ...]
_ESCAPED = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """An experiment as the store has it now.

    `active_s`: the last event, seconds since the epoch. `cut_off`: nothing works on it any more, though it says so.
    """

    experiment: Experiment
    tally: Counter[TrialState]
    active_s: float | None
    cut_off: bool
    looks: Sequence[Look]


def text(states: Mapping[ExperimentState, int], measured: Sequence[Measured]) -> str:
    """Return the whole answer; `states` counts all experiments of the store."""
    return "".join(
        (
            _family(
                "paribus_experiments",
                "gauge",
                "Experiments of the store by state.",
                [((("state", state),), states.get(state, 0)) for state in ExperimentState],
            ),
            _family(
                "paribus_experiment",
                "info",
                "The name and the state of an experiment.",
                [
                    ((*_key(each), ("name", each.experiment.name), ("state", each.experiment.state)), 1)
                    for each in measured
                ],
                "_info",
            ),
            _family(
                "paribus_experiment_trials",
                "gauge",
                "Trials of an experiment: usable, unusable, open, or spared since their comparison is decided.",
                [
                    ((*_key(each), ("result", result)), count)
                    for each in measured
                    for result, count in _results(each.tally).items()
                ],
            ),
            _family(
                "paribus_experiment_started_timestamp_seconds",
                "gauge",
                "When an experiment was started.",
                [(_key(each), each.experiment.started) for each in measured],
                unit="seconds",
            ),
            _family(
                "paribus_experiment_active_timestamp_seconds",
                "gauge",
                "The last event of an experiment that runs.",
                [(_key(each), each.active_s) for each in measured if each.active_s is not None],
                unit="seconds",
            ),
            _family(
                "paribus_experiment_cut_off",
                "gauge",
                "1 where nothing works on an experiment that runs by its state: paribus resume continues it.",
                [(_key(each), int(each.cut_off)) for each in measured if each.active_s is not None],
            ),
            _family(
                "paribus_effect_ratio",
                "gauge",
                "Response of a setting to that of the baseline, less 1, at the last look: estimate, low and high end.",
                [
                    ((*_key(each), *_comparison(look), ("bound", bound)), _change(value))
                    for each in measured
                    for look in _last(each.looks)
                    for bound, value in (("estimate", look.estimate), ("low", look.low), ("high", look.high))
                ],
                unit="ratio",
            ),
            _family(
                "paribus_effect",
                "info",
                "The verdict of the last look, or open.",
                [
                    ((*_key(each), *_comparison(look), ("verdict", look.verdict or "open")), 1)
                    for each in measured
                    for look in _last(each.looks)
                ],
                "_info",
            ),
            "# EOF\n",
        )
    )


def _key(measured: Measured) -> _Labels:
    return (("experiment", measured.experiment.id),)


def _comparison(look: Look) -> _Labels:
    return ("factor", look.factor), ("arm", look.arm), ("workload", look.workload), ("response", look.response)


def _change(log_ratio: float) -> float:
    try:
        return math.expm1(log_ratio)
    except OverflowError:
        return math.inf


def _results(tally: Counter[TrialState]) -> dict[str, int]:
    unusable = sum(tally[state] for state in pace.OVER) - tally[TrialState.DONE]
    spared = tally[TrialState.SPARED]
    todo = tally.total() - tally[TrialState.SUPERSEDED] - tally[TrialState.DONE] - unusable - spared
    return {"usable": tally[TrialState.DONE], "unusable": unusable, "open": todo, "spared": spared}


def _last(looks: Iterable[Look]) -> list[Look]:
    """The last look of each comparison with the baseline."""
    last = {
        _comparison(look): look
        for look in sorted(looks, key=lambda look: look.number)
        if look.purpose is Purpose.COMPARE and math.isfinite(look.estimate)
    }
    return list(last.values())


def _family(
    name: str,
    kind: str,
    meaning: str,
    samples: Iterable[tuple[_Labels, float]],
    suffix: str = "",
    *,
    unit: str = "",
) -> str:
    lines = [f"# TYPE {name} {kind}", *([f"# UNIT {name} {unit}"] if unit else []), f"# HELP {name} {meaning}"]
    for labels, value in samples:
        pairs = ",".join(f'{label}="{content.translate(_ESCAPED)}"' for label, content in labels)
        lines.append(f"{name}{suffix}{{{pairs}}} {_number(value)}")
    return "\n".join(lines) + "\n"


def _number(value: float) -> str:
    """A number in the spelling of OpenMetrics."""
    return repr(value) if math.isfinite(value) else {math.inf: "+Inf", -math.inf: "-Inf"}.get(value, "NaN")
