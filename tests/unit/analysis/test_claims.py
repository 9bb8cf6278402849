"""Standing of claims by the numbers that they name."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
import trial_samples as samples

from paribus import model
from paribus.analysis.imported.claims import ImportedSet, judge_claims
from paribus.analysis.imported.magnitudes import claimed_ratio
from paribus.model import (
    Claim,
    Factor,
    Plan,
    Protocol,
    Standing,
    Target,
    Workload,
)

LOADS = (1, 2, 4, 8, 16, 32, 64)
CLAIM = Claim(id="1", factor="scheduler", claim="better", statement="s", better_level="noop", tables=("T1",))


def numbers(
    ratios: Sequence[float], *, arms: tuple[str, str] = ("deadline", "noop"), file: str = "T1.csv", runs: int = 1
) -> ImportedSet:
    """A table of two levels, so many runs of each, whose ratio at each load level is given."""
    trials, summaries = [], {}
    cells = [(load, ratio, run) for load, ratio in zip(LOADS, ratios, strict=False) for run in range(runs)]
    for load, ratio, run in cells:
        for arm, rate in ((arms[0], 100.0), (arms[1], 100.0 * ratio)):
            order = len(trials) + 1
            settings = {"scheduler": arm}
            trials.append(
                samples.trial(order, arm, load, factor="scheduler", baseline=arm == arms[0], settings=settings)
            )
            summaries[order] = {"throughput_per_s": samples.measured(rate * 1.002**run)}
    plan = Plan(
        name="n",
        question="",
        target=Target(address="imported", path="", device=None),
        hold={},
        baseline={},
        factors=(Factor(key="scheduler", levels=arms, labels=arms, scope=("w",)),),
        combinations=(),
        workloads=(
            Workload(
                name="w",
                kind="imported",
                parameters={},
                load_levels=LOADS,
                response="throughput_per_s",
                data="keep",
                cache="warm",
            ),
        ),
        protocol=Protocol(trial_s=0, settle_s=0, budget_s=0, confidence=0.95, seed=0, margins={}, rounds=None),
        digest="",
        text="",
    )
    return ImportedSet(plan, trials, summaries, {trial.order: file for trial in trials})


def outcome(claim: Claim, *sets: ImportedSet) -> model.Tested:
    return judge_claims([claim], sets)[0]


@pytest.mark.parametrize(
    ("ratios", "standing"),
    [
        ((1.4, 1.5, 1.4, 1.5), Standing.SUPPORTED),
        ((1.33, 1.36, 1.41, 1.38, 1.45, 1.56, 4.0), Standing.SUPPORTED),
        ((1.06, 1.07, 1.06, 1.07), Standing.CONSISTENT),
        ((1.0, 1.01, 0.99, 1.0), Standing.NO_EFFECT),
        ((1.4, 0.9, 2.5, 0.8), Standing.MIXED),
        ((0.98, 0.97, 0.98, 0.97), Standing.NO_EFFECT),
        ((0.9, 0.91, 0.9, 0.91), Standing.NO_EFFECT),
        ((0.5, 0.5, 0.5, 0.51), Standing.CONTRADICTED),
    ],
)
def test_better_depends_on_direction_and_size(ratios: tuple[float, ...], standing: Standing) -> None:
    assert outcome(CLAIM, numbers(ratios)).standing is standing
    turned = numbers([1 / ratio for ratio in ratios], arms=("noop", "deadline"))
    assert outcome(CLAIM, turned).standing is standing


@pytest.mark.parametrize(
    ("ratios", "standing"),
    [
        ((1.0, 1.01, 0.99, 1.0), Standing.NO_EFFECT),
        ((1.08, 1.07, 1.08, 1.07), Standing.CONSISTENT),
        ((1.4, 1.5, 1.4, 1.5), Standing.CONTRADICTED),
    ],
)
def test_no_difference_is_contradicted_by_a_difference(ratios: tuple[float, ...], standing: Standing) -> None:
    claim = replace(CLAIM, claim="no_difference", better_level="", levels=("deadline", "noop"))
    assert outcome(claim, numbers(ratios)).standing is standing


def test_equal_numbers_have_equal_standings_under_all_claims() -> None:
    recommended = replace(CLAIM, claim="recommend", better_level="", recommended_value="deadline")
    equal = replace(CLAIM, claim="no_difference", better_level="", levels=("deadline", "noop"))
    for claim in (recommended, replace(recommended, keep=True), equal):
        assert outcome(claim, numbers((1.0, 1.01, 1.0, 1.01))).standing is Standing.NO_EFFECT
        assert outcome(claim, numbers((1.2, 1.21, 1.2, 1.21))).standing is Standing.CONTRADICTED


def test_equality_is_shown_by_repeated_runs_that_differ_little() -> None:
    equal = replace(CLAIM, claim="no_difference", better_level="", levels=("deadline", "noop"))
    keep = replace(CLAIM, claim="recommend", better_level="", recommended_value="deadline", keep=True)
    for claim in (equal, keep):
        tested = outcome(claim, numbers((1.0, 1.002, 0.999, 1.001), runs=5))
        assert (tested.standing, tested.evidence[0].variation_source) == (Standing.SUPPORTED, "repetitions")
    assert outcome(CLAIM, numbers((1.03, 1.03, 1.03, 1.03), runs=3)).standing is Standing.SUPPORTED


def test_tables_that_agree_count_together_and_those_that_do_not_are_mixed() -> None:
    either = replace(CLAIM, tables=("T1", "T2"))
    first, second = numbers((1.13, 1.14, 1.13, 1.14)), numbers((1.13, 1.14, 1.13, 1.14), file="T2.csv")
    assert outcome(either, first).standing is Standing.CONSISTENT
    tested = outcome(either, first, second)
    assert (tested.standing, len(tested.evidence)) == (Standing.SUPPORTED, 2)
    assert "2 workloads together: +13.5 %" in tested.reason
    assert outcome(either, first, numbers((0.5, 0.5, 0.5, 0.5), file="T2.csv")).standing is Standing.MIXED


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"tables": ("T2",)}, "the numbers behind the claim are missing: T2"),
        ({"better_level": ""}, "the claim does not say which of two levels is better"),
        ({"better_level": "cfq"}, "the tables of the claim have no level cfq"),
        ({"claim": "nicer"}, "nicer cannot be tested with numbers"),
        ({"factor": "scheduler (stability)"}, "these figures do not show stability"),
        ({"claim": "ratio", "magnitude": "much"}, "the claim states no ratio that numbers could show"),
    ],
)
def test_untestable_claims_have_a_reason(change: dict[str, str], reason: str) -> None:
    tested = outcome(replace(CLAIM, **change), numbers((1.4, 1.4, 1.4, 1.4)))  # type: ignore[arg-type]
    assert tested.standing is Standing.UNTESTABLE
    assert tested.reason == reason


def test_a_claim_without_a_table_is_about_the_set_unless_others_name_theirs() -> None:
    without = replace(CLAIM, id="2", tables=())
    assert outcome(without, numbers((1.4, 1.5, 1.4, 1.5))).standing is Standing.SUPPORTED
    tested = judge_claims([CLAIM, without], [numbers((1.4, 1.5, 1.4, 1.5))])
    assert tested[1].reason == "no table supports the claim"


def test_missing_tables_are_reported() -> None:
    tested = outcome(replace(CLAIM, tables=("T1", "T9")), numbers((1.4, 1.5, 1.4, 1.5)))
    assert tested.standing is Standing.SUPPORTED
    assert tested.reason.endswith("; T9 not examined")


def test_levels_are_matched_by_alias_by_word_and_without_brackets() -> None:
    sets = numbers((1.4, 1.5, 1.4, 1.5), arms=("combo 1: deadline, RAID 0", "combo 10: noop (default), RAID 1"))
    assert outcome(CLAIM, sets).standing is Standing.SUPPORTED
    assert outcome(replace(CLAIM, better_level="combo 1"), sets).standing is Standing.CONTRADICTED
    assert outcome(replace(CLAIM, better_level="RAID"), sets).standing is Standing.UNTESTABLE
    assert outcome(replace(CLAIM, better_level="x", aliases={"x": "combo 10"}), sets).standing is Standing.SUPPORTED


def test_a_limit_on_threads_selects_trials() -> None:
    sets = numbers((1.5, 1.5, 0.7, 0.7))
    assert outcome(CLAIM, sets).standing is not Standing.SUPPORTED
    assert outcome(replace(CLAIM, workload="w, threads < 4"), sets).standing is Standing.SUPPORTED


def test_doubtful_figures_and_limits_support_nothing() -> None:
    sets = numbers((1.4, 1.5, 1.4, 1.5))
    doubtful = outcome(CLAIM, replace(sets, doubtful=frozenset({1})))
    assert doubtful.standing is Standing.SUPPORTED
    assert doubtful.reason.endswith("; without 1 inconsistent figures")
    mostly = outcome(CLAIM, replace(sets, doubtful=frozenset({1, 3, 5})))
    assert mostly.standing is Standing.CONSISTENT
    assert "are inconsistent" in mostly.reason
    none = replace(CLAIM, claim="no_difference", better_level="", levels=("deadline", "noop"))
    limited = replace(numbers((1.0, 1.0, 1.0, 1.0), runs=3), limited=frozenset(range(1, 25)))
    assert outcome(none, limited).standing is Standing.NO_EFFECT


@pytest.mark.parametrize(
    ("magnitude", "ratio", "standing"),
    [
        ("75%", 4 / 3, Standing.SUPPORTED),
        ("about 97%", 4 / 3, Standing.CONTRADICTED),
        ("at most about 9%", 1.05, Standing.CONSISTENT),
        ("at most about 9%", 1.3, Standing.CONTRADICTED),
        ("at most about 9%", 0.9, Standing.SUPPORTED),
        ("6-13x", 9.0, Standing.SUPPORTED),
        ("6-13x", 5.0, Standing.CONTRADICTED),
        ("6-13x, mean 9x", 9.5, Standing.SUPPORTED),
        ("at most 2.7 times", 2.6, Standing.CONSISTENT),
        ("at most 2.7 times", 2.9, Standing.CONSISTENT),
        ("at most 2.7 times", 2.0, Standing.SUPPORTED),
        ("0.5x", 0.5, Standing.SUPPORTED),
        ("2x", 2.0, Standing.SUPPORTED),
        ("0x", 2.0, Standing.UNTESTABLE),
        ("at most 0 times", 2.0, Standing.UNTESTABLE),
    ],
)
def test_a_claimed_ratio_is_compared_with_the_table(magnitude: str, ratio: float, standing: Standing) -> None:
    claim = replace(CLAIM, claim="ratio", magnitude=magnitude)
    assert outcome(claim, numbers([ratio] * 4)).standing is standing


def test_a_stated_gain_in_the_other_direction_is_no_effect() -> None:
    claim = replace(CLAIM, magnitude="10%")
    assert outcome(claim, numbers([0.95] * 4)).standing is Standing.NO_EFFECT
    assert outcome(claim, numbers([1.4, 0.7, 1.4, 0.7])).standing is Standing.MIXED


def test_figures_that_are_left_out_decide_nothing() -> None:
    sets = numbers([1.0] * 6 + [50.0], runs=3)
    far = frozenset(trial.order for trial in sets.trials if trial.load.n == LOADS[-1])
    tested = outcome(CLAIM, replace(sets, doubtful=far))
    assert tested.standing is Standing.NO_EFFECT
    assert "without 1 inconsistent figures" in tested.reason


def test_one_repeated_load_level_does_not_stand_for_six_single_ones() -> None:
    single = numbers([1.1] + [0.5] * 6)
    again = numbers([1.1], runs=2)
    more = [replace(trial, order=trial.order + 100) for trial in again.trials]
    summaries = {**single.summaries, **{order + 100: value for order, value in again.summaries.items()}}
    trials = [*single.trials, *more]
    both = replace(single, trials=trials, summaries=summaries, paths={trial.order: "T1.csv" for trial in trials})
    assert outcome(CLAIM, both).standing in (Standing.MIXED, Standing.CONTRADICTED)


def test_text_without_a_number_states_no_ratio() -> None:
    assert claimed_ratio("very large (no number)") is None
    assert claimed_ratio("0%") is None
    ratio = claimed_ratio("75%")
    assert ratio is not None
    assert math.isclose(ratio.high, 4 / 3)
    assert ratio.show(4 / 3) == "75%"
