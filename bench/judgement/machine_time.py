"""Machine time and error rates compared with the field's practice, by simulation.

    python bench/judgement/machine_time.py [--times N] [--seed N] [--trial S]

The practice: 3,600 s at each of eight load levels with one setting, then the same with the other; a difference when the
means differ by more than 2 %. For twenty knobs one baseline serves all. Ours: what the product's planner makes of a
budget of 24 hours, with trials of 60 s (--trial). Each trial has a new client, or settings change in flight. Or they
are toggled in segments; the noise between trials is then slow noise of the same size. Wash-outs and the confirmation of
a screen are counted. The first experiment of a week also has settle runs. The second table has the practice's false
claims for each shape of drift.
"""

import argparse
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import screens
from experiments import BY_LEVEL, LEVELS, Laboratory
from first_pairs import ReplannedLaboratory
from machine_cost import CLIENT_S, Cost, cost
from toggling import SEGMENT_S, ToggledLaboratory

from paribus.model import Verdict
from paribus.stats.generator import Drift, Noise, draw
from paribus.stats.planner import MOST_PAIRS, usual_margin

RUN_S = 3600.0
PRACTICE_S = 2 * LEVELS * (CLIENT_S + RUN_S)
KNOBS = screens.FACTORS
PRACTICE_KNOBS_S = (KNOBS + 1) * LEVELS * (CLIENT_S + RUN_S)

_DRIFTS: tuple[Drift, ...] = ("none", "linear", "step", "sine", "saw", "walk", "settling", "mixed")


@dataclass(frozen=True)
class Outcome:
    """Shares of correct outcomes and of false claims, the mean time of an experiment, and what the first one adds."""

    right: float
    false: float
    seconds: float
    first_s: float = 0.0


def noise_of(sd: float, horizon: int, trial_s: float = 60.0) -> Noise:
    """Return the default noise; the drift spans the planned time."""
    return Noise(by_level=BY_LEVEL, between_sd=sd, horizon=horizon, trial_s=trial_s)


def practised(
    sd: float, effect: float, times: int, seed: int, drift: Drift = "mixed", drift_by: float = 0.1
) -> Outcome:
    """Simulate sixteen long runs: noise within a run averages out; noise between runs and drift do not."""
    noise = replace(noise_of(sd, 2 * LEVELS), trial_s=RUN_S, outliers=0.0, drift=drift, drift_by=drift_by)
    outcomes = Counter[str]()
    for number in range(times):
        logs = draw(noise, np.random.default_rng([seed, number]), np.tile(np.arange(LEVELS), 2))
        ratio = float(np.exp(logs[LEVELS:] + effect).sum() / np.exp(logs[:LEVELS]).sum())
        outcome = "same" if abs(ratio - 1) <= 0.02 else "better" if ratio > 1 else "worse"
        outcomes[outcome] += 1
    truth = "same" if effect == 0 else "better"
    return Outcome(outcomes[truth] / times, 1 - outcomes[truth] / times, PRACTICE_S)


def margin_of(sd: float, trial_s: float) -> float:
    """Return the usual margin at this noise."""
    return usual_margin(1.08 * noise_of(sd, 1, trial_s).pair_sd)


def ours(lab: Laboratory, plan: Cost, effect: float, times: int, seed: int) -> Outcome:
    """Simulate experiments of the product: the first pairs decide their number, at the default margin."""
    outcomes, pairs = Counter[str](), 0
    for number in range(times):
        finding = lab.experiment(np.random.default_rng([seed, number]), effect)[1]
        outcomes[str(finding.verdict)] += 1
        pairs += finding.looks[-1].units
    right = outcomes[Verdict.EQUIVALENT if effect == 0 else Verdict.BETTER] / times
    claims = [Verdict.WORSE, Verdict.DEPENDS_ON_LOAD, Verdict.BETTER if effect == 0 else Verdict.EQUIVALENT]
    false = sum(outcomes[verdict] for verdict in claims) / times
    return Outcome(right, false, pairs / times * plan.pair_s, plan.first_s)


def screened(
    lab: Laboratory, differences: screens.Differences, plan: Cost, times: int, seed: int
) -> tuple[Outcome, Outcome]:
    """Simulate screens of twenty knobs, four of them real, and the confirmation of what they claim.

    Returns the share of the real ones that is confirmed, and of the experiments with a false claim; then the same with
    the time to try alone what is equivalent.
    """
    effects = np.zeros(KNOBS)
    effects[: len(screens.REAL)] = screens.REAL
    right = false = false_alone = 0
    seconds = alone_s = 0.0
    for number in range(times):
        rng = np.random.default_rng([seed, number])
        findings, pairs = screens.screen(rng, differences, effects)
        confirmed, confirming_pairs = screens.confirm(rng, lab, effects, findings)
        true_claims = [k for k in confirmed if effects[k] and (findings[k].estimate > 0) == (effects[k] > 0)]
        right += len(true_claims)
        false += len(true_claims) < len(confirmed)
        seconds += pairs * plan.pair_s + plan.confirming_s(confirming_pairs)
        equal, is_false = screens.alone(rng, lab, effects, findings)
        alone_s += plan.alone_s[equal]
        false_alone += is_false or len(true_claims) < len(confirmed)
    outcome = Outcome(right / times / len(screens.REAL), false / times, seconds / times, plan.first_s)
    return outcome, replace(outcome, seconds=outcome.seconds + alone_s / times, false=false_alone / times)


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
    head = ["noise", "truth", "way", "hours", "times less", "hours, first", "times less", "right", "false claims"]
    print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
    for sd in (0.01, 0.02, 0.03):
        margin = margin_of(sd, trial_s)
        lab = ReplannedLaboratory(noise=noise_of(sd, 2 * MOST_PAIRS, trial_s), margin=margin)
        toggled = ToggledLaboratory(between_sd=sd, margin=margin)
        for effect in (0.0, float(np.log(1.03))):
            ways = {"practice": practised(sd, effect, times, seed)}
            for way, (laboratory, in_flight, segment_s) in _ways(lab, toggled).items():
                plan = cost(1, LEVELS, trial_s, margin, in_flight=in_flight, segment_s=segment_s)
                ways[way] = ours(laboratory, plan, effect, times, seed)
            _print(sd, "no effect" if effect == 0 else "+3 %", ways)
        ways = {"practice": practised_knobs(sd, times, seed)}
        plan = cost(KNOBS, LEVELS, trial_s, margin, in_flight=False)
        lab_of_screen = Laboratory(noise=noise_of(sd, 1, trial_s))
        differences = screens.differences_of(noise_of(sd, 1, trial_s))
        names = "screen and confirmation", "and equivalent ones alone"
        ways |= dict(zip(names, screened(lab_of_screen, differences, plan, times // 4, seed), strict=True))
        plan = cost(KNOBS, LEVELS, trial_s, margin, in_flight=True, segment_s=SEGMENT_S)
        toggled_outcomes = screened(toggled, toggled.differences, plan, times // 4, seed)
        ways |= dict(zip((f"{name}, toggled" for name in names), toggled_outcomes, strict=True))
        _print(sd, "20 knobs, 4 real", ways)
    _print_drifts(times, seed)


def _ways(lab: Laboratory, toggled: Laboratory) -> dict[str, tuple[Laboratory, bool, float | None]]:
    """Return how trials are made: the machine, whether the load continues, and the length of segments."""
    return {
        "new clients": (lab, False, None),
        "in flight": (lab, True, None),
        "toggled": (toggled, True, SEGMENT_S),
    }


def _print_drifts(times: int, seed: int) -> None:
    """Print the practice's false claims about equal settings."""
    print("\n| drift | up to | noise 1% | noise 2% | noise 3% |\n|" + " --- |" * 5)
    for drift in _DRIFTS:
        for drift_by in (0.05, 0.1) if drift != "none" else (0.0,):
            false = [practised(sd, 0.0, times, seed, drift, drift_by).false for sd in (0.01, 0.02, 0.03)]
            cells = [drift, f"{drift_by:.0%}", *(f"{share:.1%}" for share in false)]
            print("| " + " | ".join(cells) + " |", flush=True)


def _print(sd: float, truth: str, ways: dict[str, Outcome]) -> None:
    usual = ways["practice"].seconds
    for way, result in ways.items():
        cells = [f"{sd:.0%}", truth, way]
        for seconds in (result.seconds, result.seconds + result.first_s):
            cells += [f"{seconds / 3600:.1f}", f"{usual / seconds:.1f}"]
        print("| " + " | ".join([*cells, f"{result.right:.1%}", f"{result.false:.1%}"]) + " |", flush=True)


if __name__ == "__main__":
    main()
