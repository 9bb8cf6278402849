"""Faults that an arm itself causes: stalled trials, a tail of slow ones, and an effect that changes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from experiments import BY_LEVEL, CLAIMS, Laboratory, Observation, count, schedule, share_of

from paribus.analysis.paired.decision import next_look
from paribus.analysis.paired.effect_change import EffectChange, effect_change
from paribus.analysis.paired.finding import Pairs
from paribus.analysis.paired.stalls import stalls_of
from paribus.model import Verdict
from paribus.stats.diagnostics import equal_counts_p
from paribus.stats.generator import Noise, draw
from paribus.stats.huber import Array
from paribus.trial.blocks import MOST_RERUNS

_LOSS = float(np.log(0.7))
_MACHINES = {
    "trials vary by 2 %": Noise(by_level=BY_LEVEL),
    "trials vary by 1 %": Noise(between_sd=0.01, by_level=BY_LEVEL),
    "a very quiet machine": Noise(between_sd=0.01, within_sd=0.02, outliers=0.0),
}
_TAIL = 0.05  # share of slow trials
_LEAST_LOSS, _MOST_LOSS = 0.05, 0.30  # of a slow trial, log ratios
_SUSPICIOUS = 0.05  # of the check of unusable trials


@dataclass(frozen=True)
class Arm:
    """What the compared arm adds to the log throughput of its trials, and the mean of that."""

    add: Callable[[np.random.Generator, int], np.ndarray]
    mean: float = 0.0

    def draw(self, lab: Laboratory, rng: np.random.Generator) -> Pairs:
        """Draw all pairs of an experiment with this arm and no other effect."""
        pairs = lab.draw(rng, 0.0)
        return replace(pairs, difference=pairs.difference + self.add(rng, lab.pairs))


def stalling(share: float) -> Arm:
    """Return an arm in which some trials lose 30 %."""
    return Arm(lambda rng, n: (rng.random(n) < share) * _LOSS, share * _LOSS)


def slow_tail(rng: np.random.Generator, n: int) -> np.ndarray:
    """Draw an arm that is slow now and then and faster otherwise, with a mean of zero."""
    lost = (rng.random(n) < _TAIL) * rng.uniform(_LEAST_LOSS, _MOST_LOSS, n)
    return _TAIL * (_LEAST_LOSS + _MOST_LOSS) / 2 - lost


def stalls(n: int, seed: int) -> Iterator[Observation]:
    """Observe verdicts and intervals where an arm stalls, and how often stalls are named."""
    outcomes = ("equivalent", "claim", "other")

    def outcome(lab: Laboratory, arm: Arm) -> Callable[[np.random.Generator], str]:
        def simulate(rng: np.random.Generator) -> str:
            finding = lab.judge(arm.draw(lab, rng))[1]
            kind = "equivalent" if finding.verdict is Verdict.EQUIVALENT else "other"
            kind = "claim" if finding.verdict in CLAIMS else kind
            return f"{kind}, {'held' if finding.interval.holds(arm.mean) else 'missed'}"

        return simulate

    held = tuple(f"{kind}, held" for kind in outcomes)
    for which, (machine, noise) in enumerate(_MACHINES.items()):
        seen = count(n, (seed, 26, which), outcome(Laboratory(noise=noise), stalling(0.1)))
        equal = share_of(seen, ("equivalent, held", "equivalent, missed"), n)
        yield Observation(f"a tenth of B's trials lose 30 %, {machine}: equivalent", equal, high=0.08)
        yield Observation(f"the same, {machine}: the interval holds the mean", share_of(seen, held, n), 0.90)
    seen = count(n, (seed, 26, 10), outcome(Laboratory(noise=_MACHINES["trials vary by 2 %"]), Arm(slow_tail)))
    claims = share_of(seen, ("claim, held", "claim, missed"), n)
    yield Observation("B has slow trials and the same mean: any claim", claims, high=0.08)
    yield Observation("B has slow trials and the same mean: the interval holds it", share_of(seen, held, n), 0.92)
    for which, (name, arm, pairs, low, high) in enumerate(
        (
            ("a fifth of B's trials stall, 16 pairs: named", stalling(0.2), 16, 0.15, 1.0),
            ("a third of B's trials stall, 16 pairs: named", stalling(1 / 3), 16, 0.25, 1.0),
            ("a tenth of B's trials stall, 80 pairs: named", stalling(0.1), 80, 0.65, 1.0),
            ("equal arms, 80 pairs: stalls named", Arm(lambda _rng, size: np.zeros(size)), 80, 0.0, 0.07),
        )
    ):
        lab = Laboratory(pairs=pairs)

        def named(rng: np.random.Generator, lab: Laboratory = lab, arm: Arm = arm) -> str | None:
            finding = next_look(arm.draw(lab, rng), lab.question(), over=True)
            return "named" if stalls_of(finding, lab.question()) else None

        yield Observation(name, share_of(count(n, (seed, 26, 20 + which), named), ("named",), n), low, high)


def changing(n: int, seed: int) -> Iterator[Observation]:
    """Observe how often an effect that changes is seen to change, where all pairs are judged at once."""
    lab = Laboratory()
    half = np.arange(lab.pairs) >= lab.pairs / 2
    line = np.linspace(-0.5, 0.5, lab.pairs)

    def change_in(pairs: Pairs) -> EffectChange:
        change = effect_change(next_look(pairs, lab.question(), over=True), lab.question())
        assert change is not None
        return change

    def seen(effect: Array) -> Callable[[np.random.Generator], str | None]:
        arm = Arm(lambda _rng, _n: effect)
        return lambda rng: None if change_in(arm.draw(lab, rng)).is_steady else "changes"

    def promised(rng: np.random.Generator) -> str | None:
        pairs = lab.draw(rng, 0.0)
        changed = replace(pairs, difference=pairs.difference + line * change_in(pairs).visible)
        return None if change_in(changed).is_steady else "changes"

    for which, (name, simulate, low, high) in enumerate(
        (
            ("-4 %, then +4 %", seen(np.where(half, np.log(1.04), np.log(0.96))), 0.95, 1.0),
            ("a steady rise by what the check says that it sees", promised, 0.70, 0.95),
            ("+3 % throughout", seen(np.full(lab.pairs, np.log(1.03))), 0.0, 0.03),
        )
    ):
        share = share_of(count(n, (seed, 28, which), simulate), ("changes",), n)
        yield Observation(f"{name}: the effect is seen to change", share, low, high)


def selecting(n: int, seed: int) -> Iterator[Observation]:
    """Observe claims where an arm makes its own slowest trials unusable, and those without the mark *suspect*."""
    for which, share in enumerate((0.02, 0.05, 0.1, 0.2)):
        seen = count(n, (seed, 33, which), _selected(Laboratory(), share))
        claims = share_of(seen, ("claim", "suspect claim"), n)
        yield Observation(f"B's slowest {share:.0%} of trials are unusable: any claim", claims)
        unmarked = share_of(seen, ("claim",), n)
        yield Observation(f"B's slowest {share:.0%} of trials are unusable: not marked suspect", unmarked, high=0.10)


def _selected(lab: Laboratory, share: float) -> Callable[[np.random.Generator], str | None]:
    """Simulate experiments of equal arms in which blocks with a slow trial of B are made again, at most twice."""

    def simulate(rng: np.random.Generator) -> str | None:
        order, level = schedule(int(rng.integers(2**31)), lab.pairs, lab.levels)
        attempts = draw(lab.noise, rng, np.repeat(level, 2 * (1 + MOST_RERUNS))).reshape(len(level), -1, 2)
        baseline, compared = attempts[..., 0], attempts[..., 1]
        slow = compared < np.quantile(compared, share)
        usable = ~slow.all(axis=1)
        first = np.argmax(~slow, axis=1)[:, None]
        difference = np.take_along_axis(compared - baseline, first, axis=1)[:, 0]
        finding = replace(lab, pairs=int(usable.sum())).judge(Pairs(difference[usable], order[usable], level[usable]))[
            1
        ]
        if finding.verdict not in CLAIMS:
            return None
        faults = int(slow[np.arange(len(slow)), 0].sum())
        return "suspect claim" if equal_counts_p(faults, 0) < _SUSPICIOUS else "claim"

    return simulate
