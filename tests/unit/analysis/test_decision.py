"""Invariants of a decision for any data; its error rates are in tests/property."""

import math
import random
from dataclasses import replace

import numpy as np
import pytest
from experiments import BY_LEVEL, LEVELS, Laboratory, schedule
from hypothesis import given
from hypothesis import strategies as st

from paribus.analysis.paired.alpha_spending import SpendingLook
from paribus.analysis.paired.decision import decide, next_look, probabilities
from paribus.analysis.paired.finding import Pairs, Question
from paribus.analysis.screening.screen_look import next_look_at_screen
from paribus.model import Verdict
from paribus.stats.foldover import replicate
from paribus.stats.generator import Noise
from paribus.stats.huber import least_squares
from paribus.stats.levels import design
from paribus.stats.pairs import CannotJudge, log_ratios

LAB = Laboratory()
AT = range(16, 81, 8)
MIRROR = {Verdict.BETTER: Verdict.WORSE, Verdict.WORSE: Verdict.BETTER}
seeds = st.integers(0, 2**31)
effects = st.sampled_from([0.0, 0.01, 0.02, 0.03, -0.05])


def _drawn(seed: int, effect: float = 0.0) -> Pairs:
    return LAB.draw(np.random.default_rng(seed), effect)


@given(seeds, effects, st.lists(st.floats(1e-6, 1e6), min_size=LEVELS, max_size=LEVELS))
def test_other_units_at_each_level_change_nothing(seed: int, effect: float, units: list[float]) -> None:
    pairs = _drawn(seed, effect)
    factor = np.asarray(units)[pairs.level]
    rescaled = np.array(log_ratios(np.exp(pairs.difference) * factor, factor))
    number, finding = decide(pairs, LAB.question(), AT)
    rescaled_number, rescaled_finding = decide(replace(pairs, difference=rescaled), LAB.question(), AT)
    assert (number, finding.verdict) == (rescaled_number, rescaled_finding.verdict)
    assert rescaled_finding.estimate == pytest.approx(finding.estimate, abs=1e-9)
    assert rescaled_finding.interval.low == pytest.approx(finding.interval.low, abs=1e-9)


@given(seeds, effects, st.booleans())
def test_swapped_arms_and_an_inverted_response_are_mirrored(seed: int, effect: float, inverted: bool) -> None:
    pairs = _drawn(seed, effect)
    swapped = replace(pairs, difference=-pairs.difference, order=pairs.order if inverted else -pairs.order)
    number, finding = decide(pairs, LAB.question(), AT)
    question = replace(LAB.question(), higher_is_better=not inverted)
    mirrored_number, mirrored = decide(swapped, question, AT)
    assert number == mirrored_number
    assert mirrored.verdict == (finding.verdict if inverted else MIRROR.get(finding.verdict, finding.verdict))
    assert mirrored.estimate == pytest.approx(-finding.estimate, abs=1e-9)
    assert mirrored.interval.low == pytest.approx(-finding.interval.high, abs=1e-9)


@given(seeds)
def test_an_even_slope_over_time_hardly_moves_the_estimate(seed: int) -> None:
    pairs = _drawn(seed)
    sloped = pairs.difference + 0.001 * pairs.order  # the second of a pair is one slot later
    x = design(pairs.order)
    unsloped_fit, sloped_fit = least_squares(pairs.difference, x), least_squares(sloped, x)
    assert sloped_fit.estimate == pytest.approx(unsloped_fit.estimate, abs=1e-9)
    robust = [next_look(replace(pairs, difference=d), LAB.question(), over=True) for d in (pairs.difference, sloped)]
    assert abs(robust[1].estimate - robust[0].estimate) < 0.1 * robust[0].fitted.error


@given(seeds, st.floats(1.01, 4))
def test_a_larger_margin_never_revokes_equivalence(seed: int, times: float) -> None:
    pairs = _drawn(seed)
    question = LAB.question()
    for count in AT:
        finding = next_look(pairs.first(count), question)
        wider = next_look(pairs.first(count), replace(question, margin=question.margin * times))
        assert finding.verdict is not Verdict.EQUIVALENT or wider.verdict is Verdict.EQUIVALENT


def test_more_pairs_make_narrower_intervals() -> None:
    widths = []
    for count in (16, 32, 80):
        findings = [
            next_look(_drawn(seed).first(count), Question(margin=0.02, planned=count), over=True) for seed in range(40)
        ]
        widths.append(np.mean([finding.interval.high - finding.interval.low for finding in findings]))
    assert widths == sorted(widths, reverse=True)


def test_the_spent_error_rises_to_the_declared_error() -> None:
    pairs = _drawn(1)
    question = replace(LAB.question(), margin=1e-9)
    _, finding = decide(pairs, question, AT)
    spent = [look.spent for look in finding.looks]
    assert spent == sorted(spent)
    assert spent[-1] == pytest.approx(0.05)
    with pytest.raises(ValueError, match="cannot follow"):
        next_look(pairs.first(24), question, finding.looks[:3])


def test_without_new_pairs_there_is_no_new_look() -> None:
    pairs = _drawn(3)
    finding = next_look(pairs.first(32), LAB.question(), [SpendingLook(16, 0.01)])
    repeated = next_look(pairs.first(32), LAB.question(), finding.looks, over=True)
    assert repeated.looks == finding.looks
    assert repeated.interval == finding.interval
    assert repeated.verdict is not None


def test_experiments_that_stop_early_spend_the_remaining_error() -> None:
    assert next_look(_drawn(1).first(40), LAB.question(), [SpendingLook(16, 0.01)], over=True).looks[
        -1
    ] == SpendingLook(40, 0.05)


@pytest.mark.parametrize("method", ["adaptive", "fixed", "open-ended"])
def test_every_method_detects_effects_and_equivalence(method: str) -> None:
    question = replace(LAB.question(), method=method)
    quiet = Laboratory(noise=Noise(between_sd=0.002, within_sd=0.005, outliers=0.0, drift="none"))
    findings = {
        effect: decide(quiet.draw(np.random.default_rng(1), effect), question, [80])[1] for effect in (0.0, 0.05, -0.05)
    }
    assert [finding.verdict for finding in findings.values()] == [Verdict.EQUIVALENT, Verdict.BETTER, Verdict.WORSE]
    assert findings[0.05].interval.beyond(LAB.margin)


def test_an_effect_with_two_signs_depends_on_load() -> None:
    quiet = Laboratory(noise=Noise(between_sd=0.005, within_sd=0.01, outliers=0.0))
    finding = quiet.experiment(np.random.default_rng(1), [0.05] * 4 + [-0.05] * 4)[1]
    assert finding.verdict is Verdict.DEPENDS_ON_LOAD
    assert {level.verdict for level in finding.levels} >= {Verdict.BETTER, Verdict.WORSE}


def test_one_effect_at_all_levels_does_not_depend_on_load() -> None:
    quiet = Laboratory(noise=Noise(between_sd=0.005, within_sd=0.01, outliers=0.0))
    assert quiet.experiment(np.random.default_rng(2), 0.021)[1].verdict is Verdict.BETTER


def test_levels_that_differ_within_the_margin_are_equivalent() -> None:
    quiet = Laboratory(noise=Noise(between_sd=0.001, within_sd=0.001, outliers=0.0, drift="none"))
    finding = quiet.experiment(np.random.default_rng(3), [0.004] * 4 + [-0.004] * 4)[1]
    assert finding.p_levels < 0.05
    assert finding.verdict is Verdict.EQUIVALENT


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"difference": np.full(16, np.nan)}, "no positive number"),
        ({"difference": np.full(16, np.inf)}, "no positive number"),
        ({"difference": np.zeros(16)}, "identical"),
        ({"difference": np.zeros(16), "resolution": 0.002, "count": 500}, "identical"),
        ({"resolution": 0.02}, "half the margin"),
    ],
)
def test_unusable_data_are_refused(changes: dict[str, object], message: str) -> None:
    pairs = replace(_drawn(1).first(16), **changes)
    with pytest.raises(CannotJudge, match=message):
        next_look(pairs, LAB.question(), over=True)


@pytest.mark.parametrize("count", [0, 1, 8, 15])
def test_too_few_pairs_give_no_verdict(count: int) -> None:
    with pytest.raises(CannotJudge, match="16 valid pairs"):
        next_look(_drawn(1).first(count), LAB.question(), over=True)


def test_constant_counts_are_known_to_one_operation() -> None:
    pairs = replace(_drawn(1).first(32), difference=np.zeros(32), resolution=1 / 5000, count=5000)
    finding = next_look(pairs, LAB.question(), over=True)
    assert finding.verdict is Verdict.EQUIVALENT
    assert finding.interval.high == -finding.interval.low == 1 / 5000


def test_trials_of_one_application_are_no_replicates() -> None:
    pairs = replace(_drawn(1), application=np.arange(80) // 4)
    with pytest.raises(ValueError, match="no replicates"):
        next_look(pairs, LAB.question(), over=True)
    finding = next_look(pairs, replace(LAB.question(), unit="application", planned=20), over=True)
    assert finding.fitted.freedom == 19
    with pytest.raises(ValueError, match="not said"):
        next_look(replace(pairs, application=None), replace(LAB.question(), unit="application"), over=True)


def test_claims_share_the_error_of_differences_and_not_that_of_equivalence() -> None:
    pairs = _drawn(5)
    alone, shared = (next_look(pairs, replace(LAB.question(), claims=claims), over=True) for claims in (1, 20))
    assert shared.interval.low < alone.interval.low
    assert shared.inner == alone.inner


@given(seeds, st.floats(0.5, 50))
def test_two_factor_interactions_leave_a_screen_unchanged(seed: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    python_rng = random.Random(seed)
    x = np.array(replicate(20, python_rng) + replicate(20, python_rng), dtype=float)
    first, second = rng.permutation(20)[:2]
    mirrored = -x
    noise = rng.normal(0, 0.02, (2, 64))
    interaction = [size * design_rows[:, first] * design_rows[:, second] for design_rows in (x, mirrored)]
    plain = noise[0] - noise[1]
    disturbed = (noise[0] + interaction[0]) - (noise[1] + interaction[1])
    assert least_squares(disturbed, x).coefficients == pytest.approx(least_squares(plain, x).coefficients, abs=1e-9)


def test_a_screen_of_too_few_pairs_is_refused() -> None:
    x = np.array(replicate(5, random.Random(1)), dtype=float)
    pairs = Pairs(np.zeros(32), np.ones(32), np.zeros(32, dtype=np.intp))
    with pytest.raises(CannotJudge, match="48 valid pairs"):
        next_look_at_screen(pairs, x, Question(margin=0.02, planned=64, claims=5))


def test_the_laboratory_has_the_schedule_of_the_procedure() -> None:
    order, level = schedule(1, 128, LEVELS)
    for start in (0, 64):
        for level_index in range(LEVELS):
            assert order[start : start + 64][level[start : start + 64] == level_index].sum() == 0
    assert len(BY_LEVEL) == LEVELS
    assert math.isclose(Noise().trial_sd, 0.02236, abs_tol=1e-5)


def _posterior(pairs: Pairs, question: Question) -> tuple[float, float]:
    finding = next_look(pairs, question, over=True)
    return probabilities(finding.estimate, finding.fitted.error, finding.fitted.freedom, question)


def test_the_posterior_agrees_with_the_verdict() -> None:
    question = LAB.question()
    better, within = _posterior(_drawn(1, 0.05), question)
    assert better > 0.99 and within < 0.05
    lower = replace(question, higher_is_better=False)
    assert _posterior(_drawn(1, 0.05), lower)[0] == pytest.approx(1 - better)
    pairs = replace(_drawn(1).first(16), difference=np.zeros(16), resolution=1 / 5000, count=5000)
    assert _posterior(pairs, question) == (0.5, 1.0)
