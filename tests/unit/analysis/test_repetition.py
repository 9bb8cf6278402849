"""Counts of recreated conditions that the pairs of a comparison share."""

from dataclasses import replace

import pytest
import trial_samples as samples

from paribus.analysis.paired.effects import pair_series
from paribus.analysis.paired.repetition import repetition_of, repetition_text
from paribus.model import LAYOUT, SERVER_STARTED, Repetition, Workload

_WORKLOAD = Workload(
    name="w", kind="oltp", parameters={}, load_levels=(1,), response="throughput_per_s", data="keep", cache="warm"
)
_TRIALS = [
    samples.trial(n + 1, "ab"[n % 2], block=n // 2 + 1, round=n // 4 + 1, position=n % 2 + 1, application=n % 2 + 1)
    for n in range(8)
]
_STARTS = [10.0, 11.0, 10.0, 11.0, 500.0, 500.0, 900.0, 900.0]
_MEASURED = {
    trial.order: {
        "throughput_per_s": samples.measured(100.0),
        SERVER_STARTED: samples.measured(start, SERVER_STARTED),
    }
    for trial, start in zip(_TRIALS, _STARTS, strict=True)
}


@pytest.mark.parametrize(("data", "states"), [("keep", 1), ("round", 2), ("application", 8)])
def test_starts_states_and_boots_are_counted(data: str, states: int) -> None:
    boots = {trial.order: {"boot": "one" if trial.block < 3 else "other"} for trial in _TRIALS}
    (series,) = pair_series(_TRIALS, _MEASURED, {"w": "throughput_per_s"})
    spanned = repetition_of(series, _TRIALS, [replace(_WORKLOAD, data=data)], _MEASURED, boots)
    assert spanned == Repetition(server_starts=3, data_states=states, boots=2)


@pytest.mark.parametrize(("levels", "layouts"), [(("ext4", "xfs"), 8), (("ext4", "ext4"), 1)])
def test_a_layout_is_built_for_each_application_where_it_varies(levels: tuple[str, str], layouts: int) -> None:
    trials = [replace(trial, settings={LAYOUT: levels["ab".index(trial.arm)]}) for trial in _TRIALS]
    (series,) = pair_series(trials, _MEASURED, {"w": "throughput_per_s"})
    assert repetition_of(series, trials, [_WORKLOAD], {}, {}).layouts == layouts


def test_known_repetitions_are_reported() -> None:
    assert repetition_text(Repetition()) == ""
    assert repetition_text(Repetition(server_starts=4, data_states=1, boots=1)) == (
        "the pairs span 1 state of the data, 1 boot"
    )
    assert repetition_text(Repetition(data_states=20, layouts=20)) == (
        "the pairs span 20 states of the data, 20 layouts of the storage"
    )
