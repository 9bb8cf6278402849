"""Progress where the output is no terminal: a line per minute, or one for each trial."""

import dataclasses
import io
from datetime import datetime
from pathlib import Path

import pytest
from rich.console import Console

from paribus.cli import progress
from paribus.cli.progress import ProgressDisplay
from paribus.cli.progress_log import Log, discard, progress_log
from paribus.errors import UsageError
from paribus.model import Look, Purpose, Trial, TrialState, Verdict
from paribus.units import LoadLevel


def _trials(count: int) -> list[Trial]:
    planned = Trial(
        experiment="e", order=1, round=1, block=1, position=1, application=1, attempt=1, purpose=Purpose.COMPARE,
        factor="k", arm="a", baseline=True, settings={}, workload="w", load=LoadLevel(4),
    )  # fmt: skip
    return [dataclasses.replace(planned, order=order) for order in range(1, count + 1)]


def _printed(*, verbose: bool, quiet: bool = False, log: Log = discard) -> list[str]:
    out = io.StringIO()
    trials = _trials(4)
    with ProgressDisplay(Console(file=out, width=80, quiet=quiet), verbose=verbose, log=log) as display:
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


def test_the_log_has_every_trial_also_where_nothing_is_printed(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.write_text("of before\n")
    with progress_log(path) as log:
        assert _printed(verbose=False, quiet=True, log=log) == []
    before, *lines = path.read_text().splitlines()
    assert before == "of before"
    texts = [line.partition(" ")[2] for line in lines]
    assert texts[0] == "trial 1, w at 4 threads, k = a: done"
    assert texts[1] == "trial 2 (w at 4 threads, k = a) invalid: other processes took 1.2 of 2 cores"
    assert len([text for text in texts if text.startswith("trial")]) == 4
    assert all(datetime.fromisoformat(line.partition(" ")[0]).tzinfo for line in lines)


def test_a_log_that_cannot_be_written_is_refused_before_anything_begins(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot write the log"), progress_log(tmp_path / "none" / "run.log"):
        pytest.fail("it has begun")


def test_a_full_disk_under_the_log_stops_no_experiment() -> None:
    with progress_log(Path("/dev/full")) as log:
        log("a line")


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
    assert f"k = b under w: {verdict} after 16 pairs, throughput {effect}" in " ".join(out.getvalue().split())
