"""Charts of intervals that narrow: before the first look, at each look, and with a verdict."""

import asyncio
import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import web_samples as samples
from asked import Site
from sqlalchemy.engine import Engine as Store

from paribus.lab.results.preliminary import preliminary
from paribus.model import Look, Purpose, Trial, Verdict
from paribus.store import read
from paribus.web.funnel import WIDTH, Funnel, drawn_funnels, funnels, preliminary_funnels

Page = Callable[..., str]
DASHED = 'class="funnel preliminary"'


def look(number: int, low: float, high: float, verdict: Verdict | None = None, **changes: object) -> Look:
    made = Look(
        factor="f",
        arm="a",
        workload="w",
        response="throughput_per_s",
        number=number,
        pairs=number,
        alpha_spent=0.0,
        low=low,
        high=high,
        estimate=(low + high) / 2,
        verdict=verdict,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def begun(store: Store, pairs: int) -> list[Trial]:
    """Trials of an experiment of which so many pairs were made."""
    experiment = samples.begin(store)
    for _ in range(2 * pairs):
        samples.make(store, experiment)
    return read.trials(store, experiment)


def test_looks_follow_in_order_and_end_with_the_verdict() -> None:
    looks = [look(2, 0.01, 0.05), look(1, -0.1, 0.2), look(3, 0.02, 0.04, Verdict.BETTER)]
    (chart,) = funnels(looks, {"throughput_per_s": 0.02})
    assert [step.number for step in chart.steps] == [1, 2, 3]
    assert chart.decided == chart.verdict == "better"
    widths = [step.high - step.low for step in chart.steps]
    assert widths == sorted(widths, reverse=True)
    assert chart.margin_low < WIDTH / 2 < chart.margin_high


def test_an_interval_without_end_stays_in_the_picture_with_an_arrow() -> None:
    (chart,) = funnels([look(1, -math.inf, math.inf), look(2, -0.5, 0.2)], {"throughput_per_s": 0.02})
    assert chart.steps[0].beyond == (True, True)
    assert (chart.steps[0].low, chart.steps[0].high) == (0.0, WIDTH)
    assert all(0 <= place <= WIDTH for step in chart.steps for place in (step.low, step.high))


def test_the_newest_interval_always_fits() -> None:
    (chart,) = funnels([look(1, -9, 9), look(2, 2.0, 3.0)], {"throughput_per_s": 0.02})
    assert chart.steps[0].beyond[1]
    assert chart.last.beyond == (False, False)
    assert chart.last.high < WIDTH


def test_a_halving_is_as_far_from_no_change_as_a_doubling() -> None:
    (chart,) = funnels([look(1, -math.log(2), math.log(2))], {"throughput_per_s": 0.05})
    assert chart.steps[0].low + chart.steps[0].high == WIDTH
    assert chart.ends == ("−52 %", "+108 %")


def test_each_comparison_and_each_purpose_has_a_chart_of_its_own() -> None:
    screened = replace(look(1, 0.0, 0.1), purpose=Purpose.SCREEN)
    other = replace(look(1, 0.0, 0.1), response="response_p95_s")
    assert len(funnels([look(1, 0.0, 0.1), screened, other], {})) == 3


def test_many_looks_stay_small() -> None:
    (chart,) = funnels([look(number, -1 / number, 1 / number) for number in range(1, 31)], {})
    assert chart.height < 140


def test_twelve_charts_of_deciding_responses_are_drawn_and_undecided_ones_first() -> None:
    looks = [look(1, 0.1, 0.2, Verdict.BETTER if number < 4 else None, arm=f"{number}") for number in range(14)]
    looks += [look(1, 0.1, 0.2, arm="other", response="response_p95_s")]
    charts = funnels(looks, {}, {"w": "throughput_per_s"})
    assert len(charts) == 15
    assert [chart.title for chart in drawn_funnels(charts)] == [f"f = {number}" for number in (0, 1, *range(4, 14))]


def test_intervals_before_the_first_look_are_those_of_the_pairs(store: Store) -> None:
    trials = begun(store, 5)
    (comparison,) = preliminary(store, trials[0].experiment, samples.plan(), trials, [])
    assert (comparison.factor, comparison.arm, comparison.first_look) == (samples.FACTOR, samples.ARMS[1], 16)
    assert [each.units for each in comparison.intervals] == [2, 3, 4, 5]
    last = comparison.intervals[-1]
    assert last.low < last.estimate < last.high
    assert math.isclose(last.estimate, math.log(5400 / 5000), abs_tol=0.02)
    (chart,) = preliminary_funnels([comparison], {"throughput_per_s": 0.02})
    assert isinstance(chart, Funnel)
    assert [step.pairs for step in chart.steps] == [2, 3, 4, 5]
    assert chart.label.startswith("preliminary interval after 2 pairs")


def test_a_look_ends_the_preliminary_intervals(store: Store) -> None:
    trials = begun(store, 5)
    looked_at = look(1, 0.0, 0.1, factor=samples.FACTOR, arm=samples.ARMS[1], workload="mixed")
    for looks, count in (([looked_at], 0), ([replace(looked_at, purpose=Purpose.SCREEN)], 1)):
        assert len(preliminary(store, trials[0].experiment, samples.plan(), trials, looks)) == count


def test_a_fixed_sample_has_its_look_at_the_end(store: Store) -> None:
    trials = begun(store, 2)
    plan = samples.plan()
    fixed = replace(plan, protocol=replace(plan.protocol, method="fixed"))
    (comparison,) = preliminary(store, trials[0].experiment, fixed, trials, [])
    assert comparison.first_look == 20


def test_a_screen_has_no_preliminary_interval(store: Store) -> None:
    experiment = samples.begin(store, purpose=Purpose.SCREEN)
    for _ in range(6):
        samples.make(store, experiment)
    assert preliminary(store, experiment, samples.plan(), read.trials(store, experiment), []) == []


def test_pages_draw_pairs_then_looks_then_the_verdict(store: Store, page: Page) -> None:
    experiment = samples.begin(store)
    for _ in range(2):
        samples.make(store, experiment)
    waiting = page()
    assert DASHED not in waiting
    assert "1 comparison has fewer than two pairs, which an interval needs; the first look is after 16 pairs" in waiting
    for _ in range(4):
        samples.make(store, experiment)
    before = page()
    assert DASHED in before
    assert "preliminary: the first look is after 16 pairs" in before
    assert "after 3 pairs" in before
    assert before.count("<g") == 2
    samples.look(store, experiment, 1)
    samples.look(store, experiment, 2)
    after = page()
    assert DASHED not in after
    assert "preliminary: not decided yet" in after
    assert '<rect class="margin"' in after
    samples.look(store, experiment, 3, Verdict.BETTER)
    decided = page()
    assert "preliminary:" not in decided
    assert '<strong class="better">better</strong>' in decided


def test_pairs_that_no_look_could_judge_are_marked(store: Store, page: Page) -> None:
    begun(store, 16)
    assert "preliminary: the pairs so far allow no look" in page()


def test_an_undecided_look_of_a_finished_experiment_is_not_preliminary(store: Store, page: Page) -> None:
    experiment = samples.begin(store)
    samples.look(store, experiment, 1)
    assert "preliminary: not decided yet" in page()
    samples.finish(store, experiment)
    text = page()
    assert "preliminary:" not in text
    assert '<p class="why">undecided</p>' in text


def test_a_finished_experiment_shows_no_preliminary_interval(store: Store, page: Page) -> None:
    experiment = begun(store, 4)[0].experiment
    samples.finish(store, experiment)
    assert DASHED not in page()


def test_charts_follow_the_pairs_in_the_stream(store: Store, path: Path) -> None:
    experiment = begun(store, 2)[0].experiment

    async def watch() -> None:
        async with Site(path).stream("/experiments/last/stream") as stream:
            assert "after 2 pairs" in (await stream.parts())["looks"]
            samples.make(store, experiment)
            samples.make(store, experiment)
            assert DASHED in (await stream.until("looks", "after 3 pairs"))["looks"]

    asyncio.run(watch())


def test_comparisons_that_are_not_drawn_are_counted(store: Store, page: Page) -> None:
    experiment = samples.begin(store)
    for number in range(15):
        samples.look(store, experiment, 1, arm=f"level {number}")
    text = page()
    assert text.count("<article>") == 12
    assert "3 more comparisons are not drawn; the table has their looks." in text
    assert "level 14" in text


def test_charts_hold_names_of_the_store_escaped_and_no_inline_style(
    store: Store, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samples, "FACTOR", '"><svg onload=alert(1)>')
    begun(store, 3)
    text = page()
    assert DASHED in text
    assert "<svg onload" not in text
    assert "&lt;svg onload=alert(1)&gt; = none" in text
    assert not re.search(r"<[^>]+ (?:style|on\w+)=", text)  # the content security policy forbids both
