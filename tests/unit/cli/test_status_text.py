"""The list of experiments of `paribus status`: narrow enough for a terminal of 80 columns."""

import io

from rich.console import Console

from paribus.cli.texts.status import show
from paribus.lab.status import ExperimentStatus, StatusDocument

RUNNING = ExperimentStatus(
    id="20261130-205308-3e77",
    name="mysql.innodb_buffer_pool_size",
    state="running",
    cut_off=False,
    started=0.0,
    done=8,
    planned=40,
    spared=0,
    invalid=3,
    trial="2GiB at 4 threads",
)


def _text(*experiments: ExperimentStatus) -> str:
    document = StatusDocument(
        store="s.db",
        journals="/j",
        other_journals="",
        journals_elsewhere=[],
        experiments=list(experiments),
        open_changes=[],
        problems=[],
    )
    printed = io.StringIO()
    show(document, Console(file=printed, width=80))
    return printed.getvalue()


def test_a_row_has_state_trials_and_plan_in_one_line() -> None:
    lines = [" ".join(line.split()) for line in _text(RUNNING).splitlines()]
    assert "20261130-205308-3e77 running 8/40, 3 unusable mysql.innodb_buffer_pool_size" in lines
    assert "now: 20261130-205308-3e77, 2GiB at 4 threads" in lines


def test_an_experiment_that_was_cut_off_has_its_next_command() -> None:
    text = _text(RUNNING.model_copy(update={"cut_off": True, "spared": 2, "invalid": 0}))
    assert "cut off" in text and "8/40, 2 spared" in text
    assert "paribus resume 20261130-205308-3e77" in text
    assert "now:" not in text
