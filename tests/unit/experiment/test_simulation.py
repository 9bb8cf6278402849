"""Experiments that are simulated go the way of real ones."""

import dataclasses
import math

import pytest
from plan_samples import FILEIO, checked, simple

from paribus.experiment.simulation import Simulation, simulate
from paribus.model import Plan, Verdict
from paribus.stats.generator import Noise

QUIET = Noise(between_sd=0.005, within_sd=0.01, outliers=0.0)


def _plan(factors: str = '"vm.swappiness" = [60, 1]', protocol: str = "") -> Plan:
    return checked(simple(factors, FILEIO, f"[protocol]\nrounds = 4\n{protocol}"))


def _shares(plan: Plan, effect: float, noise: Noise = QUIET, times: int = 30) -> dict[str, dict[Verdict, int]]:
    simulation = simulate(plan, 4, noise, effect, times, 1, lambda _made: None)
    return {outcome.arm: dict(outcome.verdicts) for outcome in simulation.outcomes}


def test_true_effects_are_detected_and_absent_ones_are_not() -> None:
    assert _shares(_plan(), math.log(1.05)) == {"1": {Verdict.BETTER: 30}}
    assert _shares(_plan(), math.log(0.95)) == {"1": {Verdict.WORSE: 30}}
    assert _shares(_plan(), 0.0)["1"][Verdict.EQUIVALENT] >= 24


def test_lower_is_better_of_a_response_time() -> None:
    plan = _plan(protocol='response = "response_p95_s"')
    assert _shares(plan, math.log(0.9)) == {"1": {Verdict.BETTER: 30}}


def test_a_large_effect_is_decided_early_and_with_one_look_never() -> None:
    plan = _plan()
    early = simulate(plan, 4, QUIET, math.log(1.1), 10, 1, lambda _made: None)
    assert early.duration_s < 0.6 * early.planned_s
    assert early.outcomes[0].pairs < early.outcomes[0].planned
    fixed = dataclasses.replace(plan, protocol=dataclasses.replace(plan.protocol, method="fixed"))
    whole = simulate(fixed, 4, QUIET, math.log(1.1), 10, 1, lambda _made: None)
    assert whole.duration_s == whole.planned_s


def test_each_arm_goes_on_until_it_is_decided_itself() -> None:
    simulation = simulate(
        _plan('"vm.swappiness" = [60, 1, 10, 30]'), 4, QUIET, math.log(1.04), 20, 1, lambda _made: None
    )
    assert {outcome.arm for outcome in simulation.outcomes} == {"1", "10", "30"}
    assert all(outcome.verdicts == {Verdict.BETTER: 20} for outcome in simulation.outcomes)


def test_the_same_seed_gives_the_same_experiments() -> None:
    noisy = Noise()
    first, again, other = (simulate(_plan(), 4, noisy, 0.0, 5, seed, lambda _made: None) for seed in (1, 1, 9))
    assert first == again
    assert first != other


def test_noise_by_level_is_of_the_plans_levels() -> None:
    with pytest.raises(ValueError, match="3 load levels, and there are 2"):
        simulate(_plan(), 4, Noise(by_level=(1.0, 1.0, 1.0)), 0.0, 1, 1, lambda _made: None)


FOUR = """
"vm.swappiness" = [60, 1]
"vm.dirty" = ["20%", "10%"]
"block.rq_affinity" = [1, 2]
"block.read_ahead_kb" = [128, 0]
"""


def _screen(effect: float, protocol: str = "") -> Simulation:
    plan = checked(simple(FOUR, FILEIO, f'[protocol]\nbudget = "24h"\n{protocol}'))
    return simulate(plan, 8, QUIET, effect, 5, 1, lambda _made: None)


def test_a_screen_finds_and_confirms_what_is_there() -> None:
    simulation = _screen(math.log(1.05))
    assert len(simulation.outcomes) == 4
    assert all(outcome.verdicts == {Verdict.BETTER: 5} for outcome in simulation.outcomes)
    assert all(outcome.pairs == 16 for outcome in simulation.outcomes)  # of what is confirmed, that counts


def test_a_screen_of_nothing_confirms_nothing_and_costs_less_than_one_at_a_time() -> None:
    simulation = _screen(0.0)
    assert all(outcome.verdicts.get(Verdict.EQUIVALENT, 0) >= 4 for outcome in simulation.outcomes)
    assert all(outcome.pairs == 64 for outcome in simulation.outcomes)
    alone = _screen(0.0, 'design = "one-at-a-time"')
    assert simulation.duration_s <= 0.8 * alone.duration_s, "each factor was tried alone too"
    assert simulation.planned_s < 0.4 * alone.planned_s


def test_a_screen_with_one_look_looks_once_at_its_end() -> None:
    simulation = _screen(math.log(1.05), 'method = "fixed"')
    assert all(outcome.verdicts == {Verdict.BETTER: 5} for outcome in simulation.outcomes)
    assert all(outcome.pairs == 32 for outcome in simulation.outcomes)


def test_trials_of_one_application_are_no_replicates() -> None:
    """Were each trial counted, half of these experiments would claim something."""
    plan = checked(simple('"vm.swappiness" = [60, 1]', FILEIO, "[protocol]\nsub_trials = 4\nin_flight = false"))
    noise = Noise(between_sd=0.002, within_sd=0.002, application_sd=0.03, outliers=0.0, drift="none")
    simulation = simulate(plan, 5, noise, 0.0, 60, 1, lambda _made: None)
    assert simulation.claims <= 8  # at 5 %: 3 on average, and more than 8 once in a thousand
    (outcome,) = simulation.outcomes
    assert outcome.planned == 20
    assert 4 <= outcome.pairs <= 20
    assert outcome.covered >= 52
    quiet = dataclasses.replace(noise, application_sd=0.002)
    assert simulate(plan, 5, quiet, math.log(1.05), 10, 1, lambda _made: None).outcomes[0].verdicts == {
        Verdict.BETTER: 10
    }


def test_a_placebo_goes_on_as_long_as_anything_else_and_claims_nothing() -> None:
    simulation = simulate(
        _plan('"vm.swappiness" = [60, 1, 10, 30, 20]'), 4, QUIET, math.log(0.9), 5, 1, lambda _made: None
    )
    assert {outcome.factor for outcome in simulation.outcomes} == {"vm.swappiness"}
    assert simulation.duration_s < 0.6 * simulation.planned_s
