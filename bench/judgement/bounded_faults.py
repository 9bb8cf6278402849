"""Faults of bounded size: wrong claims that pass every check, and right claims that faults make suspect."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from experiments import BY_LEVEL, MARGIN, Observation, Share, count, share_of
from faulty_comparisons import USUAL, Equals, Situation, outcome

from paribus.model import Purpose
from paribus.stats.generator import Noise
from paribus.stats.huber import Array

_MOST_WRONG, _LEAST_USEFUL = 0.05, 0.90
_QUIET = Noise(between_sd=0.01, within_sd=0.02, outliers=0.0, by_level=BY_LEVEL)
_OF_ONE_ROUND = 16  # pairs at eight load levels
Situations = dict[str, Situation]


def _percent(effect: float) -> float:
    """Return a relative effect as a log ratio."""
    return float(np.log1p(effect))


def _falling(mean: float, pairs: int, *, at_once: bool = False, **faults: object) -> Situation:
    """Return an even fall to zero, so that the mean over twice the planned time is zero."""
    changes = replace(Situation(first=2 * _percent(mean), last=0.0), pairs=pairs, at_once=at_once)
    return replace(changes, **faults)  # type: ignore[arg-type]


def _constant(effect: float, **faults: object) -> Situation:
    return replace(Situation(first=effect, last=effect), **faults)  # type: ignore[arg-type]


def _floor(error: float) -> Equals:
    return Equals(_percent(error), _OF_ONE_ROUND, Purpose.NOISE_FLOOR)


def _changes() -> dict[str, Situations]:
    """Effects that fall evenly, by the way in which they are judged."""
    ways = {"80 pairs at once": (80, True), "80 pairs with looks": (80, False), "16 pairs": (16, True)}
    return {
        way: {
            f"{np.expm1(2 * _percent(mean)):+.0%} falls to 0 in {way}": _falling(mean, pairs, at_once=at_once)
            for mean in (0.03, 0.05, 0.1, 0.2, 0.3)
        }
        for way, (pairs, at_once) in ways.items()
    }


def _equals() -> dict[str, Situations]:
    """Systematic errors of all comparisons, by what sees them."""
    sizes = (0.01, 0.02, 0.03, 0.04, 0.06)
    placebos: Situations = {}
    for effect, truth in ((0.0, "no effect"), (MARGIN, "+2%")):
        for error in sizes:
            equals = Equals(_percent(error))
            placebos[f"{truth}, error {error:+.0%}, placebo of 80 pairs"] = _constant(effect, equals=equals)
    floors = {
        f"no effect, error {error:+.0%}, noise floor of 16 pairs": _constant(0.0, equals=_floor(error))
        for error in sizes
    }
    apart = {
        f"no effect, errors of ±{sd:.0%}, another one in the placebo of 80 pairs": _constant(
            0.0, equals=Equals(_percent(sd), independent=True)
        )
        for sd in (0.04, 0.08)
    }
    return {"placebo": placebos, "noise floor": floors, "placebo with another error": apart}


def _other_courses() -> dict[str, Situations]:
    """Effects that do not change evenly, in 80 pairs that are judged at once."""
    turning = {
        f"+35% turns to -26% after {time:.0%} of 80 pairs, {machine}": Situation(
            first=0.3, last=-0.3, course=_turn(time), at_once=True, noise=noise
        )
        for time in (0.8, 0.9)
        for machine, noise in (("usual machine", USUAL), ("quiet machine", _QUIET))
    }
    faster = {
        f"{np.expm1(first):+.0%} falls ever faster, mean of twice the time 0": Situation(
            first=first, last=first / 4, course=np.square, at_once=True
        )
        for first in (0.1, 0.2)
    }
    return {"other courses": {**turning, **faster}}


def _lasting() -> dict[str, Situations]:
    """Disturbances of the compared arm that last for ten pairs, and no effect or one at the margin."""
    return {
        "lasting disturbances": {
            f"{truth}, disturbances of {sd:.0%} last for ten of 80 pairs, {machine}": _constant(
                effect, lasting_sd=sd, at_once=True, noise=noise
            )
            for effect, truth in ((0.0, "no effect"), (MARGIN, "+2%"))
            for sd in (0.03, 0.1)
            for machine, noise in (("usual machine", USUAL), ("quiet machine", _QUIET))
        }
    }


def _turn(after: float) -> Callable[[Array], Array]:
    return lambda time: (time > after).astype(float)


def _several() -> dict[str, Situations]:
    """Effects that fall within trials, and several faults at once."""
    within = {
        f"{np.expm1(2 * _percent(mean)):+.0%} falls to 0 within trials": _constant(
            _percent(mean), within=-2 * _percent(mean)
        )
        for mean in (0.02, 0.03, 0.05, 0.1)
    }
    placebo = Equals(_percent(0.04))
    together = {
        "+21% falls to 0 in 80 pairs at once, error +4% in the placebo": _falling(
            0.1, 80, at_once=True, equals=placebo
        ),
        "+44% falls to 0 in 16 pairs, error +4% in the placebo": _falling(0.2, 16, equals=placebo),
        "+21% falls to 0 within trials, error +4% in the placebo": _constant(
            _percent(0.1), within=-2 * _percent(0.1), equals=placebo
        ),
    }
    return {"within trials": within, "several": together}


def _useful(effect: float) -> Situations:
    """A large effect without faults, and with small ones."""
    logs, placebo = _percent(effect), Equals(_percent(0.04))

    def falling(change: float, pairs: int, noise: Noise = USUAL, **faults: object) -> Situation:
        situation = Situation(first=logs + change / 2, last=logs - change / 2, pairs=pairs, at_once=True, noise=noise)
        return replace(situation, **faults)  # type: ignore[arg-type]

    return {
        "no fault": _constant(logs),
        "error +2% in the placebo": _constant(logs, equals=Equals(_percent(0.02))),
        "error +4% in the placebo": _constant(logs, equals=placebo),
        "error +4% in the noise floor": _constant(logs, equals=_floor(0.04)),
        "falls by 5 % within trials": _constant(logs, within=-0.05),
        "falls by 4 % in 80 pairs": falling(0.04, 80),
        "falls by 8 % in 80 pairs": falling(0.08, 80),
        "falls by 8 % in 16 pairs": falling(0.08, 16),
        "falls by 4 % in 80 pairs, quiet machine": falling(0.04, 80, _QUIET),
        "falls by 8 % in 80 pairs, quiet machine": falling(0.08, 80, _QUIET),
        "falls by 8 % in 16 pairs, quiet machine": falling(0.08, 16, _QUIET),
        "falls by 4 % in 80 pairs and by 3 % within trials, error +4%": falling(0.04, 80, within=-0.03, equals=placebo),
    }


def _outcome_of(situation: Situation) -> Callable[[np.random.Generator], str | None]:
    return lambda rng: outcome(rng, situation)


def bounded_faults(n: int, seed: int) -> Iterator[Observation]:
    """Observe wrong claims that pass every check, those of which a fault was seen, and right claims that pass."""
    groups = {**_changes(), **_equals(), **_several(), **_other_courses(), **_lasting()}
    for which, (way, situations) in enumerate(groups.items()):
        seen = 0
        for number, (name, situation) in enumerate(situations.items()):
            outcomes = count(n, (seed, 38, which, number), _outcome_of(situation))
            wrong = [f"passes, wrong, {fault}" for fault in ("seen", "unseen")]
            yield Observation(f"{name}: a wrong claim passes", share_of(outcomes, wrong, n))  # mostly unseen
            in_spite = share_of(outcomes, ["passes, wrong, seen", "passes, wrong later, seen"], n)
            seen += in_spite.count
        share = Share(n * len(situations), seen)
        yield Observation(
            f"{way}, all: a fault is seen, and a claim passes that is wrong then", share, high=_MOST_WRONG
        )
    for which, effect in enumerate((0.5, 2.0)):
        for number, (name, situation) in enumerate(_useful(effect).items()):
            seeds = (seed, 38, 100 + which, number)
            outcomes = count(n, seeds, _outcome_of(situation))
            passing = [each for each in outcomes if each.startswith("passes, right")]
            yield Observation(f"{effect:+.0%}, {name}: passes", share_of(outcomes, passing, n), _LEAST_USEFUL)
