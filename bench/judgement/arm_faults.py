"""Faults that an arm itself causes: stalled trials, a tail of slow ones, and an effect that changes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from experiments import BY_LEVEL, CLAIMS, Laboratory, Observation, count, schedule, share_of
from numpy.typing import NDArray

from paribus.analysis.paired.checks.effect_change import EffectChange, effect_change
from paribus.analysis.paired.checks.stalls import stalls_of
from paribus.analysis.paired.decision import next_look
from paribus.analysis.paired.finding import Pairs
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
    """Addition of the compared arm to the log throughput of its trials, and the mean of that."""

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
    """Observe verdicts where an arm makes its own slow trials unusable, and where chance makes those of both so."""
    for which, share in enumerate((0.02, 0.05, 0.08, 0.1, 0.2)):
        seen = count(n, (seed, 33, which), _selected(_slowest(share)))
        claims = share_of(seen, [f"{verdict}, {mark}" for verdict in CLAIMS for mark in _MARKS], n)
        yield Observation(f"B's slowest {share:.0%} of trials are unusable: any claim", claims, high=0.075)
    for which, (name, share) in enumerate((("nine of ten", 0.9), ("half", 0.5))):
        seen = count(n, (seed, 33, 10 + which), _selected(_stalled(0.1, share)))
        equal = share_of(seen, [f"{Verdict.EQUIVALENT}, {mark}" for mark in _MARKS], n)
        yield Observation(f"a tenth of B's trials lose 30 %, {name} of these unusable: equivalent", equal)
        unmarked = share_of(seen, [f"{Verdict.EQUIVALENT}, unmarked"], n)
        yield Observation(f"the same, {name} of these unusable: not marked suspect", unmarked, high=0.08)
    for which, (name, effect, verdict) in enumerate(
        (("A/A", 0.0, Verdict.EQUIVALENT), ("+3 %", float(np.log(1.03)), Verdict.BETTER))
    ):
        seen = count(n, (seed, 33, 20 + which), _selected(_by_chance(0.05), effect))
        found = share_of(seen, [f"{verdict}, {mark}" for mark in _MARKS], n)
        yield Observation(f"{name}, a twentieth of all trials is unusable by chance: {verdict}", found, 0.7)


_MARKS = ("unmarked", "suspect")
_OF_B = np.array([False, True])
Unusable = Callable[[np.random.Generator, Array], tuple[Array, NDArray[np.bool_]]]
"""Attempts at pairs of trials (baseline, compared), shape (n, attempts, 2), changed; and which trials are unusable."""


def _slowest(share: float) -> Unusable:
    """B's slowest trials are unusable."""

    def slowest(_: np.random.Generator, attempts: Array) -> tuple[Array, NDArray[np.bool_]]:
        is_slow = attempts < np.quantile(attempts[..., 1], share)
        return attempts, is_slow & _OF_B

    return slowest


def _stalled(share: float, unusable: float) -> Unusable:
    """B stalls in a share of its trials, of which some are unusable."""

    def stalled(rng: np.random.Generator, attempts: Array) -> tuple[Array, NDArray[np.bool_]]:
        is_stalled = (rng.random(attempts.shape) < share) & _OF_B
        return attempts + is_stalled * _LOSS, is_stalled & (rng.random(attempts.shape) < unusable)

    return stalled


def _by_chance(share: float) -> Unusable:
    """Trials of both arms are unusable whatever they measured."""
    return lambda rng, attempts: (attempts, rng.random(attempts.shape) < share)


def _selected(unusable: Unusable, effect: float = 0.0) -> Callable[[np.random.Generator], str | None]:
    """Simulate experiments in which blocks with an unusable trial are made again, at most twice."""
    lab = Laboratory()

    def simulate(rng: np.random.Generator) -> str | None:
        order, level = schedule(int(rng.integers(2**31)), lab.pairs, lab.levels)
        drawn = draw(lab.noise, rng, np.repeat(level, 2 * (1 + MOST_RERUNS))).reshape(len(level), -1, 2)
        attempts, is_unusable = unusable(rng, drawn + np.array([0.0, effect]))
        is_failed = np.any(is_unusable, axis=2)
        is_done = ~np.all(is_failed, axis=1)
        taken = np.argmax(~is_failed, axis=1)
        baseline, compared = attempts[np.arange(len(level)), taken].T
        was_made = np.arange(is_failed.shape[1]) < np.where(is_done, taken, is_failed.shape[1])[:, None]
        lost = (is_unusable & ~is_unusable[..., ::-1] & was_made[..., None]).sum(axis=1)
        starts = np.concatenate(([0], np.flatnonzero(is_done)[:-1] + 1))
        lost = np.add.reduceat(lost, starts, axis=0)
        pairs = Pairs((compared - baseline)[is_done], order[is_done], level[is_done], lost=lost)
        finding = replace(lab, pairs=int(is_done.sum())).judge(pairs)[1]
        only = lost[: finding.looks[-1].units].sum(axis=0).tolist()
        return f"{finding.verdict}, {'suspect' if equal_counts_p(*only) < _SUSPICIOUS else 'unmarked'}"

    return simulate
