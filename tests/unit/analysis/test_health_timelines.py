"""States of health over the trials, and what a report says of them."""

import dataclasses

from trial_samples import measured, trial

from paribus.analysis.diagnostics.health import timelines
from paribus.findings import HealthSpan, HealthTimeline
from paribus.i18n import stored_message
from paribus.model import CommandLines, HealthCheck, TrialState
from paribus.report.sections.health import health
from paribus.report.view.blocks import ItemList, WordTable

COMMAND = CommandLines(get=("x",), set=(), pattern="(.)")
CHECKS = [
    HealthCheck(name="raid.battery", command=COMMAND, summary="", sound=("Optimal",)),
    HealthCheck(name="drive.temperature sda", command=COMMAND, summary="", unit="°C"),
    HealthCheck(name="raid.volume", command=COMMAND, summary=""),
]


def test_a_course_has_the_trials_of_each_state_and_those_it_voided() -> None:
    reason = stored_message(
        "{name} is {state}, and not {sound}", name="raid.battery", state="Failed", sound=["Optimal"]
    )
    void = dataclasses.replace(trial(3, "1"), state=TrialState.INVALID, invalid_because=(reason,))
    trials = [trial(1, "1"), trial(2, "0"), void, trial(4, "0")]
    states = ["Optimal", "Optimal", "Charging", "Optimal"]
    conditions = {order: {"raid.battery": state} for order, state in enumerate(states, 1)}
    name = "health drive.temperature sda"
    summaries = {1: {name: measured(40.0, name)}, 2: {name: measured(44.5, name)}}
    battery, temperature, volume = found = timelines(CHECKS, trials, summaries, conditions)
    assert battery.spans == (
        HealthSpan(state="Optimal", first=1, last=2),
        HealthSpan(state="Charging", first=3, last=3),
        HealthSpan(state="Optimal", first=4, last=4),
    )
    assert battery.voided == (3,)
    assert (temperature.lowest, temperature.highest, temperature.voided) == (40.0, 44.5, ())
    nothing = HealthTimeline(name="raid.volume", unit="", spans=(), lowest=None, highest=None, course=(), voided=())
    assert volume == nothing

    class Inputs:
        def of(self, kind: type) -> tuple[HealthTimeline, ...]:
            return found if kind is HealthTimeline else ()

    table, courses = health(Inputs())  # type: ignore[arg-type]
    assert isinstance(table, WordTable) and isinstance(courses, ItemList)
    assert [item.text for item in courses.items] == ["drive.temperature sda: 40 to 44.5 °C"]
    assert courses.items[0].sparkline is not None and courses.items[0].sparkline.values == (40.0, 44.5)
    assert table.rows == (
        ("raid.battery", "Optimal in trials 1 to 2, Charging in trial 3, Optimal in trial 4", "3"),
        ("drive.temperature sda", "40 to 44.5 °C", "–"),
        ("raid.volume", "not recorded", "–"),
    )
