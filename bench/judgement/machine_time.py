"""Machine time and error rates compared with the field's practice, by simulation.

    python bench/judgement/machine_time.py [--times N] [--seed N] [--trial S]

The practice: 3,600 s at each of eight load levels with one setting, then the same with the other; a difference when the
means differ by more than 2 %. For twenty knobs one baseline serves all. Ours: trials of 60 s (--trial), each
with 33 s for a new client and for settling; or changed in flight, with 12 s after each change and 20 s at a block's
start.
"""

import argparse
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import screens
from experiments import BY_LEVEL, LEVELS, Laboratory

from paribus.model import Verdict
from paribus.stats.generator import Noise, draw
from paribus.stats.planner import pairs_for, usual_margin

RUN_S = 3600.0
CLIENT_S, SETTLE_S = 3.0, 30.0
PRACTICE_S = 2 * LEVELS * (CLIENT_S + RUN_S)
KNOBS = screens.FACTORS
PRACTICE_KNOBS_S = (KNOBS + 1) * LEVELS * (CLIENT_S + RUN_S)


@dataclass(frozen=True)
class Outcome:
    """Shares of correct outcomes and of false claims, and the mean time of an experiment."""

    right: float
    false: float
    seconds: float


def alone_s(trial_s: float) -> float:
    """Return the seconds of a trial with its own client."""
    return CLIENT_S + SETTLE_S + trial_s


def in_flight_s(trial_s: float) -> float:
    """Return the seconds of a trial in a pair that one client carries."""
    return (CLIENT_S + 20 + 12 + 2 * trial_s) / 2


def noise_of(sd: float, horizon: int, trial_s: float = 60.0) -> Noise:
    """Return the default noise; the drift spans the planned time."""
    return Noise(by_level=BY_LEVEL, between_sd=sd, horizon=horizon, trial_s=trial_s)


def practised(sd: float, effect: float, times: int, seed: int) -> Outcome:
    """Simulate sixteen long runs: noise within a run averages out; noise between runs and drift do not."""
    noise = replace(noise_of(sd, 2 * LEVELS), trial_s=RUN_S, outliers=0.0)
    outcomes = Counter[str]()
    for number in range(times):
        logs = draw(noise, np.random.default_rng([seed, number]), np.tile(np.arange(LEVELS), 2))
        ratio = float(np.exp(logs[LEVELS:] + effect).sum() / np.exp(logs[:LEVELS]).sum())
        outcome = "same" if abs(ratio - 1) <= 0.02 else "better" if ratio > 1 else "worse"
        outcomes[outcome] += 1
    truth = "same" if effect == 0 else "better"
    return Outcome(outcomes[truth] / times, 1 - outcomes[truth] / times, PRACTICE_S)


def ours(sd: float, effect: float, times: int, seed: int, trial_s: float, cost_s: float) -> Outcome:
    """Simulate experiments of the product: as many pairs as it plans for the noise, at its default margin.

    Trials measure `trial_s` and take `cost_s` in all.
    """
    pair_sd = 1.08 * noise_of(sd, 1, trial_s).pair_sd
    margin = usual_margin(pair_sd)
    looks = min(max(-(-pairs_for(margin, pair_sd) // 8), 4), 16)
    lab = Laboratory(noise=noise_of(sd, 16 * looks, trial_s), margin=margin, pairs=8 * looks)
    outcomes, pairs = Counter[str](), 0
    for number in range(times):
        finding = lab.experiment(np.random.default_rng([seed, number]), effect)[1]
        outcomes[str(finding.verdict)] += 1
        pairs += finding.looks[-1].units
    right = outcomes[Verdict.EQUIVALENT if effect == 0 else Verdict.BETTER] / times
    claims = [Verdict.WORSE, Verdict.DEPENDS_ON_LOAD, Verdict.BETTER if effect == 0 else Verdict.EQUIVALENT]
    return Outcome(right, sum(outcomes[verdict] for verdict in claims) / times, 2 * pairs / times * cost_s)


def screened(sd: float, times: int, seed: int, trial_s: float) -> Outcome:
    """Simulate screens of twenty knobs, four of them real: detected real ones, and screens with a false claim."""
    noise, effects = noise_of(sd, 1, trial_s), np.zeros(KNOBS)
    effects[: len(screens.REAL)] = screens.REAL
    right = false = pairs = 0
    for number in range(times):
        findings, pairs_used = screens.screen(np.random.default_rng([seed, number]), noise, effects)
        claims = {index for index, finding in enumerate(findings) if finding.verdict in screens.CLAIMS}
        true_claims = {
            index for index in claims if effects[index] and (findings[index].estimate > 0) == (effects[index] > 0)
        }
        right += len(true_claims)
        false += bool(claims - true_claims)
        pairs += pairs_used
    return Outcome(right / times / len(screens.REAL), false / times, 2 * pairs / times * alone_s(trial_s))


def practised_knobs(sd: float, times: int, seed: int) -> Outcome:
    """Simulate the same twenty knobs, one after the other against one baseline."""
    noise = replace(noise_of(sd, (KNOBS + 1) * LEVELS), trial_s=RUN_S, outliers=0.0)
    effects = np.zeros(KNOBS)
    effects[: len(screens.REAL)] = screens.REAL
    right = false = 0
    for number in range(times):
        logs = draw(noise, np.random.default_rng([seed, number]), np.tile(np.arange(LEVELS), KNOBS + 1))
        rates = np.exp(logs).reshape(KNOBS + 1, LEVELS).sum(axis=1)
        ratios = rates[1:] * np.exp(effects) / rates[0]
        claims = np.sign(ratios - 1) * (np.abs(ratios - 1) > 0.02)
        right += int(((effects != 0) & (claims == np.sign(effects))).sum())
        false += bool(((effects == 0) & (claims != 0)).any())
    return Outcome(right / times / len(screens.REAL), false / times, PRACTICE_KNOBS_S)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=20261122)
    parser.add_argument("--trial", type=float, default=60.0, help="seconds that a trial measures (60)")
    options = parser.parse_args()
    times, seed, trial_s = options.times, options.seed, options.trial
    head = ["noise", "truth", "way", "hours", "times less", "right", "false claims"]
    print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
    for sd in (0.01, 0.02, 0.03):
        for effect in (0.0, float(np.log(1.03))):
            _print(
                sd,
                "no effect" if effect == 0 else "+3 %",
                {
                    "practice": practised(sd, effect, times, seed),
                    "new clients": ours(sd, effect, times, seed, trial_s, alone_s(trial_s)),
                    "in flight": ours(sd, effect, times, seed, trial_s, in_flight_s(trial_s)),
                },
            )
        ways = {"practice": practised_knobs(sd, times, seed), "screen": screened(sd, times // 4, seed, trial_s)}
        _print(sd, "20 knobs, 4 real", ways)


def _print(sd: float, truth: str, ways: dict[str, Outcome]) -> None:
    usual = ways["practice"].seconds
    for way, result in ways.items():
        cells = [f"{sd:.0%}", truth, way, f"{result.seconds / 3600:.1f}", f"{usual / result.seconds:.1f}"]
        print("| " + " | ".join([*cells, f"{result.right:.1%}", f"{result.false:.1%}"]) + " |", flush=True)


if __name__ == "__main__":
    main()
