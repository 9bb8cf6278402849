"""What the judging must keep, each by simulation: name, bound, and what was seen.

The bounds are those of the procedure and hold three standard errors for the numbers of draws given here.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import screens
from experiments import BY_LEVEL, LOOK_PAIRS, MARGIN, Laboratory, Share, count

from paribus.analysis.paired.decision import decide, next_look
from paribus.analysis.paired.finding import Pairs, Question
from paribus.model import Verdict
from paribus.stats import diagnostics
from paribus.stats.generator import Noise, draw, warm_up
from paribus.stats.planner import pairs_for, smallest_effect

CLAIMS = (Verdict.BETTER, Verdict.WORSE, Verdict.DEPENDS_ON_LOAD)


@dataclass(frozen=True)
class Seen:
    """One observed share with the bounds it must keep."""

    what: str
    seen: Share
    low: float = 0.0
    high: float = 1.0

    @property
    def kept(self) -> bool:
        """Whether it lies within."""
        return self.low <= self.seen.value <= self.high

    @property
    def bound(self) -> str:
        """The bounds in words."""
        if self.low == 0:
            return f"at most {self.high * 100:g} %"
        return f"{self.low * 100:g} to {self.high * 100:g} %" if self.high < 1 else f"at least {self.low * 100:g} %"


@dataclass(frozen=True)
class Property:
    """A property by its number in the procedure, and what looks at it with so many draws."""

    number: int
    name: str
    draws: int
    observe: Callable[[int, int], Iterator[Seen]]


def _share(found: dict[str, Share], words: tuple[str, ...], n: int) -> Share:
    return Share(n, sum(found[word].count for word in words if word in found))


def _noisy(**changes: object) -> Laboratory:
    return Laboratory(noise=replace(Noise(by_level=BY_LEVEL), **changes))  # type: ignore[arg-type]


def _verdict(lab: Laboratory, effect: float) -> Callable[[np.random.Generator], str]:
    return lambda rng: str(lab.experiment(rng, effect)[1].verdict)


def false_positives(n: int, seed: int) -> Iterator[Seen]:
    """Of experiments without any effect."""
    total = 0
    drifts = (("none", 0.0), ("linear", 0.10), ("mixed", 0.10), ("periodic 2", 0.0), ("periodic 4", 0.0))
    for which, (drift, by) in enumerate(drifts):
        lab = _noisy(drift=drift, drift_by=by)
        claims = _share(count(n, (seed, 1, which), _verdict(lab, 0.0)), CLAIMS, n)
        total += claims.count
        yield Seen(f"A/A, drift {drift}: any claim", claims, high=0.075)
    yield Seen("A/A, all drifts: any claim", Share(5 * n, total), high=0.059)


def coverage_fixed(n: int, seed: int) -> Iterator[Seen]:
    """Of the interval where nobody looks before the end."""
    lab = _noisy()
    for which, effect in enumerate((0.0, 0.02, 0.05)):
        question = replace(lab.question(), method="fixed")

        def covers(rng: np.random.Generator, effect: float = effect, question: Question = question) -> str | None:
            found = next_look(lab.draw(rng, effect), question, over=True)
            return "covers" if found.interval.low <= effect <= found.interval.high else None

        seen = count(n, (seed, 2, which), covers)
        yield Seen(f"fixed, {effect:+.0%}: the 95 % interval holds it", _share(seen, ("covers",), n), 0.935, 0.965)


def coverage_at_stop(n: int, seed: int) -> Iterator[Seen]:
    """Of the interval at the look that decided."""
    lab = _noisy()
    for which, effect in enumerate((0.0, 0.01, 0.03)):

        def covers(rng: np.random.Generator, effect: float = effect) -> str | None:
            found = lab.experiment(rng, effect)[1]
            return "covers" if found.interval.low <= effect <= found.interval.high else None

        seen = count(n, (seed, 3, which), covers)
        yield Seen(f"at the stop, {effect:+.0%}: the interval holds it", _share(seen, ("covers",), n), 0.93)


def power(n: int, seed: int) -> Iterator[Seen]:
    """Of finding what is there, with the right sign."""
    lab = _noisy()
    for which, (ratio, least) in enumerate(((1.03, 0.96), (1.05, 0.99))):
        for sign, right, wrong in ((1, Verdict.BETTER, Verdict.WORSE), (-1, Verdict.WORSE, Verdict.BETTER)):
            seen = count(n, (seed, 4, which, sign + 1), _verdict(lab, sign * float(np.log(ratio))))
            yield Seen(f"{sign * (ratio - 1):+.0%}: found", _share(seen, (right,), n), least)
            yield Seen(f"{sign * (ratio - 1):+.0%}: wrong sign", _share(seen, (wrong,), n), high=0.001)


def false_equivalence(n: int, seed: int) -> Iterator[Seen]:
    """Of calling equal what differs by the margin, and by half as much more."""
    lab = _noisy()
    for which, (times, most) in enumerate(((1.0, 0.07), (-1.0, 0.07), (1.5, 0.01), (-1.5, 0.01))):
        seen = count(n, (seed, 5, which), _verdict(lab, times * MARGIN))
        equal = _share(seen, (Verdict.EQUIVALENT,), n)
        yield Seen(f"{times:+.1f} margins: called equivalent", equal, high=most)


def equivalence(n: int, seed: int) -> Iterator[Seen]:
    """Of nothing being there, and being shown."""
    for which, (sd, looks) in enumerate(((0.01, 8), (0.02, 11))):
        lab = replace(_noisy(between_sd=sd), pairs=looks * LOOK_PAIRS)
        seen = count(n, (seed, 6, which), _verdict(lab, 0.0))
        equal = _share(seen, (Verdict.EQUIVALENT,), n)
        yield Seen(f"A/A, sd {sd:.0%}, {looks} rounds: equivalent", equal, 0.80)


def gross_error(n: int, seed: int) -> Iterator[Seen]:
    """Of one trial measuring a tenth: how far it moves the estimate, and whether it is seen."""
    lab = replace(_noisy(outliers=0.0), pairs=32)

    def moves(rng: np.random.Generator) -> str:
        pairs = lab.draw(rng, 0.0)
        wrong = pairs.difference.copy()
        wrong[rng.integers(len(wrong))] += rng.choice([-1, 1]) * np.log(10)
        before, after = (
            next_look(replace(pairs, difference=d), lab.question(), over=True) for d in (pairs.difference, wrong)
        )
        moved = abs(after.estimate - before.estimate) < before.fitted.error
        return "little, seen" if moved and sum(after.slow) else "much or unseen"

    yield Seen(
        "one trial x 0.1: moves less than one error, and is flagged",
        _share(count(n, (seed, 16), moves), ("little, seen",), n),
        0.985,
    )


def settling(n: int, seed: int) -> Iterator[Seen]:
    """Of seeing that one arm had not settled, and of not seeing it where both had."""
    noise = Noise(by_level=())
    for which, (low, high, least, most) in enumerate(((20, 40, 0.93, 1.0), (5, 15, 0.0, 0.08))):

        def flagged(
            rng: np.random.Generator, low: float = low, high: float = high, same: bool = which == 1
        ) -> str | None:
            tau_a = rng.uniform(5, 15)
            tau_b = tau_a if same else rng.uniform(low, high)
            series = [warm_up(rng, noise, 30.0, np.full(40, tau)) for tau in (tau_b, tau_a)]
            ends = diagnostics.end_log_ratios(list(zip(*(np.exp(one) for one in series), strict=True)))
            found = diagnostics.trend_in_trials(*ends)
            return "flagged" if found is not None and found.p < 0.05 else None

        seen = _share(count(n, (seed, 17, which), flagged), ("flagged",), n)
        yield Seen(f"settling {'alike' if which else 'unlike'}: beginning and end of trials differ", seen, least, most)


def split_plot(n: int, seed: int) -> Iterator[Seen]:
    """Of applications differing by themselves, with the pair of applications as the unit."""
    noise = Noise(by_level=BY_LEVEL, application_sd=0.02)
    units, sub = 20, 4

    def verdict(rng: np.random.Generator) -> str:
        level = np.concatenate([np.tile(rng.permutation(8)[:sub], 2) for _ in range(units)])
        drawn = draw(noise, rng, level, np.repeat(np.arange(2 * units), sub)).reshape(units, 2, sub)
        order = rng.permutation(np.arange(units) % 2 * 2.0 - 1)
        d = np.where(order[:, None] > 0, drawn[:, 1] - drawn[:, 0], drawn[:, 0] - drawn[:, 1]).ravel()
        pairs = Pairs(
            d, np.repeat(order, sub), level.reshape(units, 2, sub)[:, 0].ravel(), np.repeat(np.arange(units), sub)
        )
        question = Question(margin=MARGIN, planned=units, unit="application")
        return str(decide(pairs, question, range(4 * sub, units * sub + 1, sub))[1].verdict)

    yield Seen(
        "A/A, applications differ by 2 %: any claim", _share(count(n, (seed, 18), verdict), CLAIMS, n), high=0.065
    )


def heterogeneity(n: int, seed: int) -> Iterator[Seen]:
    """Of an effect with one sign at half of the levels and the other at the rest."""
    lab, by = _noisy(), float(np.log(1.04))

    def said(rng: np.random.Generator) -> str:
        found = lab.experiment(rng, [by] * 4 + [-by] * 4)[1]
        return f"{found.verdict}, {'flagged' if found.p_levels < 0.05 else 'not flagged'}"

    seen = count(n, (seed, 19), said)
    equal = tuple(word for word in seen if word.startswith("equivalent"))
    flagged = tuple(word for word in seen if word.endswith(", flagged"))
    yield Seen("+4 % and -4 %: called equivalent", _share(seen, equal, n), high=0.04)
    yield Seen("+4 % and -4 %: flagged", _share(seen, flagged, n), 0.93)


def percentiles(n: int, seed: int) -> Iterator[Seen]:
    """Of a response that is read in steps of 1.82 %, and hardly varies."""
    step = float(np.log(1e8) / 1024)  # log bins from 1e-3 to 1e5 ms, 1024 of them
    for which, (ratio, wanted) in enumerate(((1.01, True), (1.06, False))):
        effect = float(np.log(ratio))

        def verdict(rng: np.random.Generator, effect: float = effect) -> str:
            place = rng.random() * step
            true = np.stack([np.zeros(40), np.full(40, effect)]) + rng.normal(0, 0.003, (2, 40))
            read = np.floor((true + place) / step) * step
            order = rng.permutation(np.arange(40) % 2 * 2.0 - 1)
            pairs = Pairs(read[1] - read[0], order, np.zeros(40, dtype=int), resolution=step, count=10_000)
            question = Question(margin=float(np.log(1.05)), planned=40, method="fixed", higher_is_better=False)
            found = next_look(pairs, question, over=True)
            held = found.interval.low <= effect <= found.interval.high and found.interval.high > found.interval.low
            return f"{'held' if held else 'missed'} {found.verdict}"

        seen = count(n, (seed, 22, which), verdict)
        held = tuple(word for word in seen if word.startswith("held"))
        equal = tuple(word for word in seen if word.endswith("equivalent"))
        yield Seen(f"percentile in steps, {ratio - 1:+.0%}: held, never of no width", _share(seen, held, n), 0.99)
        low, high = (0.95, 1.0) if wanted else (0.0, 0.0)
        yield Seen(f"percentile in steps, {ratio - 1:+.0%}: equivalent within 5 %", _share(seen, equal, n), low, high)


def planner(n: int, seed: int) -> Iterator[Seen]:
    """Of what the plan promises: power at the smallest effect, equivalence at none, and the time that takes."""
    for which, sd in enumerate((0.01, 0.02, 0.03)):
        noise = Noise(by_level=BY_LEVEL, between_sd=sd, drift="none")
        pair_sd = 1.08 * noise.pair_sd  # what 2 % of outliers add
        looks = min(max(-(-pairs_for(MARGIN, pair_sd) // LOOK_PAIRS), 4), 16)
        lab = Laboratory(noise=noise, pairs=looks * LOOK_PAIRS)
        seen = count(n, (seed, 24, which, 0), _verdict(replace(lab, margin=1e-9), smallest_effect(pair_sd, lab.pairs)))
        yield Seen(
            f"sd {sd:.0%}: the smallest effect promised is found", _share(seen, (Verdict.BETTER,), n), 0.74, 0.86
        )
        rounds = 0

        def null(rng: np.random.Generator, lab: Laboratory = lab) -> str:
            nonlocal rounds
            number, found = lab.experiment(rng, 0.0)
            rounds += number + 1
            return str(found.verdict)

        equal = _share(count(n, (seed, 24, which, 1), null), (Verdict.EQUIVALENT,), n)
        yield Seen(f"sd {sd:.0%}: equivalent where nothing is", equal, 0.86, 0.96)
        yield Seen(f"sd {sd:.0%}: share of the planned time used", Share(n * looks, rounds), 0.55, 0.75)


def screening(n: int, seed: int) -> Iterator[Seen]:
    """Of twenty factors at once: false claims where none has an effect or four have, and finding those."""
    for which, real in enumerate(((), screens.REAL)):
        effects = np.zeros(screens.FACTORS)
        effects[: len(real)] = real
        found = Counter[int]()
        false = 0
        for number in range(n):
            seen, _ = screens.screen(np.random.default_rng([seed, 20, which, number]), screens.quiet(), effects)
            claims = {place for place, one in enumerate(seen) if one.verdict in screens.CLAIMS}
            right = {p for p in claims if effects[p] and (seen[p].estimate > 0) == (effects[p] > 0)}
            found.update(right)
            false += bool(claims - right)
        yield Seen(f"screen of 20, {len(real)} real: any false claim", Share(n, false), high=0.088)
        for place, effect in enumerate(real[:3]):
            yield Seen(f"screen of 20: {np.expm1(effect):+.1%} found", Share(n, found[place]), 0.92)


def confirmation(n: int, seed: int) -> Iterator[Seen]:
    """Of claiming anything after screen and confirmation, where none of twenty has an effect."""
    none = np.zeros(screens.FACTORS)

    def campaign(rng: np.random.Generator) -> str | None:
        found, _ = screens.screen(rng, screens.quiet(), none)
        return "claim" if screens.confirm(rng, screens.quiet(), none, found) else None

    claims = _share(count(n, (seed, 21), campaign), ("claim",), n)
    yield Seen("screen of 20 and confirmation, none real: any claim", claims, high=0.05)


PROPERTIES = (
    Property(1, "false positives", 1000, false_positives),
    Property(2, "coverage, fixed", 2000, coverage_fixed),
    Property(3, "coverage at the stop", 1000, coverage_at_stop),
    Property(4, "power", 1000, power),
    Property(5, "false equivalence", 1000, false_equivalence),
    Property(6, "equivalence", 1000, equivalence),
    Property(16, "gross error", 1000, gross_error),
    Property(17, "settling", 500, settling),
    Property(18, "split-plot", 2000, split_plot),
    Property(19, "heterogeneity", 1000, heterogeneity),
    Property(20, "screen", 300, screening),
    Property(21, "confirmation", 300, confirmation),
    Property(22, "percentiles in steps", 500, percentiles),
    Property(24, "planner", 1000, planner),
)
