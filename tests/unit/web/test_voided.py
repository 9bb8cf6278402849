"""The banner of a running experiment whose trials cannot be used."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import web_samples as samples
from sqlalchemy.engine import Engine as Store

from paribus.i18n import Language, stored_message
from paribus.model import FailureClass, Trial, TrialState
from paribus.trial.validity import load_errors
from paribus.web.voided import voided_trials

Page = Callable[..., str]


def foreign(cpu: float, who: str = "apt-get (812)") -> str:
    return stored_message("other processes took {cpu:.2f} of {cores} cores: {who}", cpu=cpu, cores=2, who=[who])


def ended(*reasons: str, failure: FailureClass | None = None) -> list[Trial]:
    """Trials that have ended one after the other, with these reasons; an empty one is usable."""
    trials = [samples._trial("e", order) for order in range(1, len(reasons) + 1)]
    return [
        replace(
            trial,
            state=TrialState.INVALID if reason else TrialState.DONE,
            started=float(trial.order),
            ended=trial.order + 0.5,
            invalid_because=(reason,) if reason and failure is None else (),
            failure=failure if reason else None,
            failure_message=reason if failure else "",
        )
        for trial, reason in zip(trials, reasons, strict=True)
    ]


def test_the_most_frequent_reason_is_named_with_its_newest_values_and_advice() -> None:
    bottleneck = stored_message("the processors were the bottleneck: {busy:.0%} of {cores} were busy", busy=1, cores=2)
    banner = voided_trials(ended("", bottleneck, foreign(0.8), "", foreign(1.2), "", "", "", "", ""))
    assert banner is None  # three of ten
    banner = voided_trials(
        ended(*[foreign(2)] * 9, "", bottleneck, foreign(0.8), "", foreign(1.2), "", *[foreign(1.5)] * 3)
    )
    assert banner is not None
    assert (
        banner.summary == "7 of the last 10 trials cannot be used: other processes took 1.50 of 2 cores: apt-get (812)"
    )
    assert banner.advice.startswith("Stop these processes")


@pytest.mark.parametrize("reasons", [[], [""], [foreign(1)], [foreign(1), "", ""], [foreign(1), *[""] * 5, foreign(1)]])
def test_few_unusable_trials_make_no_banner(reasons: list[str]) -> None:
    assert voided_trials(ended(*reasons)) is None


def test_trials_that_the_user_interrupted_are_not_voided() -> None:
    assert voided_trials(ended("killed", "killed", failure=FailureClass.INTERRUPTED)) is None


def test_trials_that_were_run_again_count() -> None:
    trials = [replace(trial, state=TrialState.SUPERSEDED) for trial in ended(foreign(1), "", foreign(1))]
    assert voided_trials(trials) is not None


@pytest.mark.parametrize(
    ("reason", "advice"),
    [
        (foreign(1), "Stop these processes"),
        (stored_message("on the load host {host}: {what}", host="l", what=foreign(1)), "Stop these processes"),
        (
            stored_message("the processors were the bottleneck: {busy:.0%} of {cores} were busy", busy=1, cores=2),
            "Use fewer",
        ),
        (load_errors({"deadlock": 3}), "Read the reasons"),
        ("No space left on device", "Read the reasons"),
    ],
)
def test_each_reason_has_its_advice(reason: str, advice: str) -> None:
    banner = voided_trials(ended(reason, reason))
    assert banner is not None
    assert banner.advice.startswith(advice)


def test_a_failure_without_a_message_is_named_by_its_class() -> None:
    failed = [replace(trial, failure_message="") for trial in ended("x", "x", failure=FailureClass.NO_DATA)]
    banner = voided_trials(failed)
    assert banner is not None
    assert banner.summary.endswith("cannot be used: no-data")


def test_the_banner_is_a_status_above_the_progress_and_goes_with_its_cause(store: Store, page: Page) -> None:
    experiment = samples.begin(store)
    assert 'class="voided" role="status"' in page()
    for number in range(4):
        samples.make(store, experiment, because=foreign(1.2) if number % 2 else "")
    text = page()
    assert "2 of the last 4 trials cannot be used: other processes took 1.20 of 2 cores" in text
    assert text.index("cannot be used") < text.index('id="progress-title"')
    for _ in range(8):
        samples.make(store, experiment)
    assert "cannot be used" not in page()


def test_a_finished_experiment_has_no_banner(store: Store, page: Page) -> None:
    experiment = samples.begin(store, 4)
    for _ in range(4):
        samples.make(store, experiment, because=foreign(1.2))
    samples.finish(store, experiment)
    assert "cannot be used" not in page()


def test_reasons_in_the_banner_are_escaped_and_translated(store: Store, page: Page) -> None:
    experiment = samples.begin(store)
    for _ in range(2):
        samples.make(store, experiment, because=foreign(1.2, '<img src=x onerror="alert(1)">'))
    assert "<img" not in page()
    assert "&lt;img src=x onerror=" in page()
    assert "最近 2 次试验中有 2 次不能使用" in page(language=Language.ZH)
