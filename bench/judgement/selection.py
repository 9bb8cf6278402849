"""Selection of the best of eight settings, through the product's schedule, looks and elimination."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from experiments import MARGIN, Observation, Share
from machine_cost import plan_of

from paribus.experiment.simulation import simulate_once
from paribus.model import TrialState, Verdict
from paribus.plan.schedule.comparisons import comparisons
from paribus.stats.generator import Noise
from paribus.stats.planner import pairs_planned

_SETTINGS, _LOAD_LEVELS = 8, 2
_THREE_BEST = {"2": 0.05, "3": 0.05, "4": 0.05, "5": 0.02, "6": -0.03, "7": -0.05}
_ONE_BEST = {"2": 0.08, "3": 0.05, "4": 0.05, "5": 0.02, "6": -0.03, "7": -0.05}
_JUST_BEHIND = {"2": 0.05, "3": 0.05 - MARGIN}
_ALL_BETTER = {str(number): 0.05 for number in range(1, _SETTINGS)}


@dataclass(frozen=True, slots=True)
class _Outcomes:
    """Counts over experiments: a best setting called worse, another one called equivalent to it, and all best found.

    `trials` are those of an experiment, in the mean.
    """

    best_lost: int
    false_equivalent: int
    plateau_found: int
    trials: float


def _observed(n: int, seed: tuple[int, ...], effects: Mapping[str, float]) -> _Outcomes:
    noise = replace(Noise(), drift="none")
    plan = plan_of(1, _LOAD_LEVELS, 60.0, MARGIN, in_flight=True, segment_s=None, settings=_SETTINGS)
    plan = replace(plan, protocol=replace(plan.protocol, washed_out=()))
    (comparison,) = comparisons(plan)
    rounds = -(-pairs_planned(MARGIN, noise.pair_sd) // comparison.blocks_per_round)
    all_effects = {str(number): effects.get(str(number), 0.0) for number in range(_SETTINGS)}
    highest = max(all_effects.values())
    best = {arm for arm, effect in all_effects.items() if effect == highest}
    beyond = {arm for arm, effect in all_effects.items() if effect <= highest - MARGIN}
    lost = false = found = made = 0
    for number in range(n):
        key = int(np.random.SeedSequence([*seed, number]).generate_state(1)[0] >> 1)
        trials, judgement = simulate_once(plan, rounds, noise, all_effects, (key, number))
        (selection,) = judgement.selections
        worse = {level.arm for level in selection.levels if level.verdict is Verdict.WORSE}
        lost += bool(best & worse)
        false += bool(beyond.intersection(selection.plateau))
        found += best <= set(selection.plateau)
        made += sum(trial.state is TrialState.DONE for trial in trials)
    return _Outcomes(lost, false, found, made / n)


def selection(n: int, seed: int) -> Iterator[Observation]:
    """Observe wrong eliminations, wrong plateaus, and plateaus found, among eight settings."""
    cases = {
        "three best": _THREE_BEST,
        "one best": _ONE_BEST,
        "seven equally better than the baseline": _ALL_BETTER,
        "no effect": {},
        "one a margin behind": _JUST_BEHIND,
    }
    for which, (name, effects) in enumerate(cases.items()):
        outcomes = _observed(n, (seed, 32, which), effects)
        yield Observation(f"{name}: a best setting called worse", Share(n, outcomes.best_lost), high=0.09)
        yield Observation(f"{name}: a setting behind it called as good", Share(n, outcomes.false_equivalent), high=0.09)
        if name in ("three best", "one best"):
            yield Observation(f"{name}: all that are best found", Share(n, outcomes.plateau_found), 0.75)
