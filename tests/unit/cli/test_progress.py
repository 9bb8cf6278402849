"""Progress where the output is no terminal: a line per minute, or one for each trial."""

import dataclasses
import io

import pytest
from rich.console import Console

from paribus.cli import progress
from paribus.cli.progress import ProgressDisplay
from paribus.model import Look, Purpose, Trial, TrialState, Verdict
from paribus.units import LoadLevel


def _trials(count: int) -> list[Trial]:
    planned = Trial(
        experiment="e", order=1, round=1, block=1, position=1, application=1, attempt=1, purpose=Purpose.COMPARE,
        factor="k", arm="a", baseline=True, settings={}, workload="w", load=LoadLevel(4),
    )  # fmt: skip
    return [dataclasses.replace(planned, order=order) for order in range(1, count + 1)]


def _printed(*, verbose: bool) -> list[str]:
    out = io.StringIO()
    trials = _trials(4)
    with ProgressDisplay(Console(file=out, width=80), verbose=verbose) as display:
        display.on_trials(trials)
        for trial in trials:
            is_usable = trial.order % 2
            state = TrialState.DONE if is_usable else TrialState.INVALID
            because = () if is_usable else ("other processes took 1.2 of 2 cores",)
            display.on_trial_state(dataclasses.replace(trial, state=state, invalid_because=because))  # type: ignore[arg-type]
    return out.getvalue().splitlines()


def test_a_line_per_minute_says_how_far_it_is() -> None:
    line, end = _printed(verbose=False)
    assert line.startswith("1 of 4 trials")
    assert end == "2 unusable, for example: other processes took 1.2 of 2 cores"


def test_the_line_counts_unusable_trials_and_names_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_LINE_EVERY_S", 0.0)
    lines = _printed(verbose=False)
    assert len(lines) == 5
    assert lines[3].endswith("2 unusable, for example: other processes took 1.2 of 2 cores")


def test_verbose_has_a_line_for_each_trial() -> None:
    lines = _printed(verbose=True)
    assert [line.split(" ", 2)[1].rstrip(",") for line in lines] == ["1", "2", "3", "4"]
    assert "invalid: other processes" in lines[1]


@pytest.mark.parametrize(
    ("verdict", "effect"), [(Verdict.BETTER, "+10.5 % [+8.3 %, +12.7 %]"), (Verdict.EQUIVALENT, "+10.5 %")]
)
def test_a_decision_is_told_with_the_interval_that_decided_it(verdict: Verdict, effect: str) -> None:
    """The stored look has no interval of the tests of equivalence."""
    out = io.StringIO()
    look = Look(
        factor="k", arm="b", workload="w", response="throughput_per_s", number=1, pairs=16, alpha_spent=0.01,
        low=0.08, high=0.12, estimate=0.10, verdict=verdict,
    )  # fmt: skip
    with ProgressDisplay(Console(file=out, width=80)) as display:
        display.on_decisions([look])
    assert f"k = b under w: {verdict} after 16 pairs, throughput_per_s {effect}" in " ".join(out.getvalue().split())
