"""Properties of the judging procedure, each tested by simulation: name, bounds and observed share.

The bounds are the procedure's; they include three standard errors for the stated numbers of draws.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import screens
from arm_faults import changing, selecting, stalls
from background import BusyLaboratory, quiet, scenarios
from bounded_faults import bounded_faults
from carry_over import carry_over
from claims import claims
from coarse_steps import coarse_steps
from dependent_pairs import disturbances, other_starts, starts
from experiments import BY_LEVEL, CLAIMS, LOOK_PAIRS, MARGIN, Laboratory, Observation, Share, count, share_of
from first_pairs import first_pairs
from load_levels import single_level
from selection import selection
from toggling import toggling

from paribus.analysis.paired.decision import decide, next_look
from paribus.analysis.paired.finding import Pairs, Question
from paribus.model import Verdict
from paribus.stats import diagnostics
from paribus.stats.generator import Noise, draw, warm_up
from paribus.stats.planner import pairs_for, smallest_effect


@dataclass(frozen=True)
class Property:
    """A property: its number in the procedure, and the function that observes it with `draws` draws."""

    number: int
    name: str
    draws: int
    observe: Callable[[int, int], Iterator[Observation]]


def _noisy(**changes: object) -> Laboratory:
    return Laboratory(noise=replace(Noise(by_level=BY_LEVEL), **changes))  # type: ignore[arg-type]


def _verdict(lab: Laboratory, effect: float) -> Callable[[np.random.Generator], str]:
    return lambda rng: str(lab.experiment(rng, effect)[1].verdict)


def false_positives(n: int, seed: int) -> Iterator[Observation]:
    """Observe claims in experiments without an effect."""
    total = 0
    drifts = (("none", 0.0), ("linear", 0.10), ("mixed", 0.10), ("periodic 2", 0.02), ("periodic 4", 0.02))
    for which, (drift, by) in enumerate(drifts):
        lab = _noisy(drift=drift, drift_by=by)
        claims = share_of(count(n, (seed, 1, which), _verdict(lab, 0.0)), CLAIMS, n)
        total += claims.count
        yield Observation(f"A/A, drift {drift}: any claim", claims, high=0.075)
    yield Observation("A/A, all drifts: any claim", Share(5 * n, total), high=0.059)


def coverage_fixed(n: int, seed: int) -> Iterator[Observation]:
    """Observe the coverage of the interval with a single look at the end."""
    lab = _noisy()
    for which, effect in enumerate((0.0, 0.02, 0.05)):
        question = replace(lab.question(), method="fixed")

        def covers(rng: np.random.Generator, effect: float = effect, question: Question = question) -> str | None:
            finding = next_look(lab.draw(rng, effect), question, over=True)
            return "covers" if finding.interval.low <= effect <= finding.interval.high else None

        outcomes = count(n, (seed, 2, which), covers)
        yield Observation(
            f"fixed, {effect:+.0%}: the 95 % interval holds it", share_of(outcomes, ("covers",), n), 0.935, 0.965
        )


def coverage_at_stop(n: int, seed: int) -> Iterator[Observation]:
    """Observe the coverage of the interval at the deciding look."""
    lab = _noisy()
    for which, effect in enumerate((0.0, 0.01, 0.03)):

        def covers(rng: np.random.Generator, effect: float = effect) -> str | None:
            finding = lab.experiment(rng, effect)[1]
            return "covers" if finding.interval.low <= effect <= finding.interval.high else None

        outcomes = count(n, (seed, 3, which), covers)
        yield Observation(
            f"at the stop, {effect:+.0%}: the interval holds it", share_of(outcomes, ("covers",), n), 0.93
        )


def power(n: int, seed: int) -> Iterator[Observation]:
    """Observe detection of effects with the right sign."""
    lab = _noisy()
    for which, (ratio, least) in enumerate(((1.03, 0.96), (1.05, 0.99))):
        for sign, right, wrong in ((1, Verdict.BETTER, Verdict.WORSE), (-1, Verdict.WORSE, Verdict.BETTER)):
            outcomes = count(n, (seed, 4, which, sign + 1), _verdict(lab, sign * float(np.log(ratio))))
            yield Observation(f"{sign * (ratio - 1):+.0%}: found", share_of(outcomes, (right,), n), least)
            yield Observation(f"{sign * (ratio - 1):+.0%}: wrong sign", share_of(outcomes, (wrong,), n), high=0.001)


def false_equivalence(n: int, seed: int) -> Iterator[Observation]:
    """Observe equivalence claims at the margin, and at 1.5 margins."""
    lab = _noisy()
    for which, (times, most) in enumerate(((1.0, 0.07), (-1.0, 0.07), (1.5, 0.01), (-1.5, 0.01))):
        outcomes = count(n, (seed, 5, which), _verdict(lab, times * MARGIN))
        equal = share_of(outcomes, (Verdict.EQUIVALENT,), n)
        yield Observation(f"{times:+.1f} margins: called equivalent", equal, high=most)


def equivalence(n: int, seed: int) -> Iterator[Observation]:
    """Observe equivalence claims without an effect."""
    for which, (sd, looks) in enumerate(((0.01, 8), (0.02, 11))):
        lab = replace(_noisy(between_sd=sd), pairs=looks * LOOK_PAIRS)
        outcomes = count(n, (seed, 6, which), _verdict(lab, 0.0))
        equal = share_of(outcomes, (Verdict.EQUIVALENT,), n)
        yield Observation(f"A/A, sd {sd:.0%}, {looks} rounds: equivalent", equal, 0.80)


def gross_error(n: int, seed: int) -> Iterator[Observation]:
    """Observe how far one trial of a tenth of the throughput moves the estimate, and whether it is flagged."""
    lab = replace(_noisy(outliers=0.0), pairs=32)

    def moves(rng: np.random.Generator) -> str:
        pairs = lab.draw(rng, 0.0)
        disturbed = pairs.difference.copy()
        disturbed[rng.integers(len(disturbed))] += rng.choice([-1, 1]) * np.log(10)
        undisturbed_finding, disturbed_finding = (
            next_look(replace(pairs, difference=d), lab.question(), over=True) for d in (pairs.difference, disturbed)
        )
        moved = abs(disturbed_finding.estimate - undisturbed_finding.estimate) < undisturbed_finding.fitted.error
        return "little, seen" if moved and any(map(len, disturbed_finding.outliers)) else "much or unseen"

    yield Observation(
        "one trial x 0.1: moves less than one error, and is flagged",
        share_of(count(n, (seed, 16), moves), ("little, seen",), n),
        0.985,
    )


def settling(n: int, seed: int) -> Iterator[Observation]:
    """Observe whether unequal settling of the arms is flagged, and equal settling is not."""
    noise = Noise(by_level=())
    for which, (low, high, least, most) in enumerate(((20, 40, 0.93, 1.0), (5, 15, 0.0, 0.08))):

        def flagged(
            rng: np.random.Generator, low: float = low, high: float = high, same: bool = which == 1
        ) -> str | None:
            tau_a = rng.uniform(5, 15)
            tau_b = tau_a if same else rng.uniform(low, high)
            series = [warm_up(rng, noise, 30.0, np.full(40, tau)) for tau in (tau_b, tau_a)]
            end_ratios = diagnostics.end_log_ratios(list(zip(*(np.exp(logs) for logs in series), strict=True)))
            trend = diagnostics.trend_in_trials(*end_ratios)
            return "flagged" if trend is not None and trend.p < 0.05 else None

        flagged_share = share_of(count(n, (seed, 17, which), flagged), ("flagged",), n)
        yield Observation(
            f"settling {'alike' if which else 'unlike'}: beginning and end of trials differ", flagged_share, least, most
        )


def split_plot(n: int, seed: int) -> Iterator[Observation]:
    """Observe claims where applications differ, with the pair of applications as the unit."""
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

    yield Observation(
        "A/A, applications differ by 2 %: any claim", share_of(count(n, (seed, 18), verdict), CLAIMS, n), high=0.065
    )


def heterogeneity(n: int, seed: int) -> Iterator[Observation]:
    """Observe an effect with opposite signs at the two halves of the levels."""
    lab, by = _noisy(), float(np.log(1.04))

    def outcome(rng: np.random.Generator) -> str:
        finding = lab.experiment(rng, [by] * 4 + [-by] * 4)[1]
        return f"{finding.verdict}, {'flagged' if finding.p_levels < 0.05 else 'not flagged'}"

    outcomes = count(n, (seed, 19), outcome)
    equal = tuple(verdict for verdict in outcomes if verdict.startswith("equivalent"))
    flagged = tuple(verdict for verdict in outcomes if verdict.endswith(", flagged"))
    yield Observation("+4 % and -4 %: called equivalent", share_of(outcomes, equal, n), high=0.04)
    yield Observation("+4 % and -4 %: flagged", share_of(outcomes, flagged, n), 0.93)


def percentiles(n: int, seed: int) -> Iterator[Observation]:
    """Observe a response that is measured in steps of 1.82 % and hardly varies."""
    step = float(np.log(1e8) / 1024)  # log bins from 1e-3 to 1e5 ms, 1024 of them
    for which, (ratio, is_equivalent) in enumerate(((1.01, True), (1.06, False))):
        effect = float(np.log(ratio))

        def verdict(rng: np.random.Generator, effect: float = effect) -> str:
            offset = rng.random() * step
            true_logs = np.stack([np.zeros(40), np.full(40, effect)]) + rng.normal(0, 0.003, (2, 40))
            binned = np.floor((true_logs + offset) / step) * step
            order = rng.permutation(np.arange(40) % 2 * 2.0 - 1)
            pairs = Pairs(binned[1] - binned[0], order, np.zeros(40, dtype=int), resolution=step, count=10_000)
            question = Question(margin=float(np.log(1.05)), planned=40, method="fixed", higher_is_better=False)
            finding = next_look(pairs, question, over=True)
            covered = (
                finding.interval.low <= effect <= finding.interval.high and finding.interval.high > finding.interval.low
            )
            return f"{'held' if covered else 'missed'} {finding.verdict}"

        outcomes = count(n, (seed, 22, which), verdict)
        covered = tuple(outcome for outcome in outcomes if outcome.startswith("held"))
        equal = tuple(outcome for outcome in outcomes if outcome.endswith("equivalent"))
        yield Observation(
            f"percentile in steps, {ratio - 1:+.0%}: held, never of no width", share_of(outcomes, covered, n), 0.99
        )
        low, high = (0.95, 1.0) if is_equivalent else (0.0, 0.0)
        yield Observation(
            f"percentile in steps, {ratio - 1:+.0%}: equivalent within 5 %", share_of(outcomes, equal, n), low, high
        )


def planner(n: int, seed: int) -> Iterator[Observation]:
    """Observe the planner's promises: power at the smallest effect, equivalence without one, and the time used."""
    for which, sd in enumerate((0.01, 0.02, 0.03)):
        noise = Noise(by_level=BY_LEVEL, between_sd=sd, drift="none")
        pair_sd = 1.08 * noise.pair_sd  # what 2 % of outliers add
        looks = min(max(-(-pairs_for(MARGIN, pair_sd) // LOOK_PAIRS), 4), 16)
        lab = Laboratory(noise=noise, pairs=looks * LOOK_PAIRS)
        outcomes = count(
            n, (seed, 24, which, 0), _verdict(replace(lab, margin=1e-9), smallest_effect(pair_sd, lab.pairs))
        )
        yield Observation(
            f"sd {sd:.0%}: the smallest effect promised is found", share_of(outcomes, (Verdict.BETTER,), n), 0.74, 0.86
        )
        rounds = 0

        def null(rng: np.random.Generator, lab: Laboratory = lab) -> str:
            nonlocal rounds
            look_number, finding = lab.experiment(rng, 0.0)
            rounds += look_number + 1
            return str(finding.verdict)

        equal = share_of(count(n, (seed, 24, which, 1), null), (Verdict.EQUIVALENT,), n)
        yield Observation(f"sd {sd:.0%}: equivalent where nothing is", equal, 0.86, 0.96)
        yield Observation(f"sd {sd:.0%}: share of the planned time used", Share(n * looks, rounds), 0.55, 0.75)


def screening(n: int, seed: int) -> Iterator[Observation]:
    """Observe screens of twenty factors: false claims, and detection of the real ones."""
    for which, real in enumerate(((), screens.REAL)):
        effects = np.zeros(screens.FACTORS)
        effects[: len(real)] = real
        detections = Counter[int]()
        differences, false = screens.differences_of(screens.quiet()), 0
        for number in range(n):
            findings, _ = screens.screen(np.random.default_rng([seed, 20, which, number]), differences, effects)
            claims = {index for index, finding in enumerate(findings) if finding.verdict in screens.CLAIMS}
            true_claims = {
                index for index in claims if effects[index] and (findings[index].estimate > 0) == (effects[index] > 0)
            }
            detections.update(true_claims)
            false += bool(claims - true_claims)
        yield Observation(f"screen of 20, {len(real)} real: any false claim", Share(n, false), high=0.088)
        for index, effect in enumerate(real[:3]):
            yield Observation(f"screen of 20: {np.expm1(effect):+.1%} found", Share(n, detections[index]), 0.92)


def confirmation(n: int, seed: int) -> Iterator[Observation]:
    """Observe claims after screen and confirmation, without any effect."""
    none = np.zeros(screens.FACTORS)

    def campaign(rng: np.random.Generator) -> str | None:
        findings, _ = screens.screen(rng, screens.differences_of(screens.quiet()), none)
        return "claim" if screens.confirm(rng, Laboratory(noise=screens.quiet()), none, findings)[0] else None

    claims = share_of(count(n, (seed, 21), campaign), ("claim",), n)
    yield Observation("screen of 20 and confirmation, none real: any claim", claims, high=0.05)


def other_work(n: int, seed: int) -> Iterator[Observation]:
    """Observe claims, power and machine time beside other work, against a quiet machine."""
    lab = Laboratory(noise=replace(Noise(by_level=BY_LEVEL), drift="none"), margin=float(np.log(1.05)))
    ten_percent = float(np.log(1.10))
    still = BusyLaboratory(lab, quiet)
    usual_trials = np.mean(
        [still.experiment(np.random.default_rng([seed, 25, i]), ten_percent).trials for i in range(n)]
    )
    for which, (name, background) in enumerate(scenarios()):
        busy = BusyLaboratory(lab, background)
        trials = discarded = 0

        def judged(rng: np.random.Generator, effect: float, busy: BusyLaboratory = busy) -> str:
            nonlocal trials, discarded
            outcome = busy.experiment(rng, effect)
            trials, discarded = trials + outcome.trials, discarded + outcome.discarded
            return str(outcome.finding.verdict)

        claims = share_of(count(n, (seed, 25, which, 0), lambda rng: judged(rng, 0.0)), CLAIMS, n)
        yield Observation(f"A/A, {name}: any claim", claims, high=0.088)
        trials = discarded = 0
        found = share_of(count(n, (seed, 25, which, 1), lambda rng: judged(rng, ten_percent)), (Verdict.BETTER,), n)
        yield Observation(f"+10 %, {name}: found", found, 0.95)
        yield Observation(
            f"+10 %, {name}: trials against a quiet machine's", Share(round(n * usual_trials), trials), high=3
        )
        yield Observation(f"+10 %, {name}: trials discarded", Share(trials, discarded), high=0.35)


PROPERTIES = (
    Property(1, "false positives", 1000, false_positives),
    Property(2, "coverage, fixed", 2000, coverage_fixed),
    Property(3, "coverage at the stop", 1000, coverage_at_stop),
    Property(4, "power", 1000, power),
    Property(5, "false equivalence", 1000, false_equivalence),
    Property(6, "equivalence", 1000, equivalence),
    Property(16, "gross error", 1000, gross_error),
    Property(17, "settling", 1000, settling),
    Property(18, "split-plot", 2000, split_plot),
    Property(19, "heterogeneity", 1000, heterogeneity),
    Property(20, "screen", 1000, screening),
    Property(21, "confirmation", 1000, confirmation),
    Property(22, "percentiles in steps", 1000, percentiles),
    Property(24, "planner", 1000, planner),
    Property(25, "other work", 300, other_work),
    Property(26, "stalls of an arm", 1000, stalls),
    Property(27, "one load level", 1000, single_level),
    Property(28, "effect that changes", 1000, changing),
    Property(29, "carry-over", 1000, carry_over),
    Property(30, "rounds by the first pairs", 1000, first_pairs),
    Property(31, "toggling", 1000, toggling),
    Property(32, "best of eight", 45, selection),
    Property(33, "selection of trials", 1000, selecting),
    Property(34, "disturbances in step", 1000, disturbances),
    Property(35, "server starts", 1000, starts),
    Property(36, "other server starts", 1000, other_starts),
    Property(37, "claims of authors", 1000, claims),
    Property(38, "bounded faults", 1000, bounded_faults),
    Property(39, "coarse steps", 1000, coarse_steps),
)
