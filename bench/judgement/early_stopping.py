"""Exaggeration of an effect where the experiment stops at its verdict; prints a table.

python bench/judgement/early_stopping.py [--times N] [--seed N]
"""

import argparse

import numpy as np
from experiments import BY_LEVEL
from first_pairs import ReplannedLaboratory
from toggling import ToggledLaboratory

from paribus.stats.generator import Noise
from paribus.stats.planner import MOST_PAIRS

_EFFECTS = (0.0, 0.02, 0.03, 0.05, 0.10)


def main() -> None:
    """Print a row for each way and effect."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=20261122)
    options = parser.parse_args()
    ways = {
        "trials of 60 s": ReplannedLaboratory(noise=Noise(by_level=BY_LEVEL, horizon=2 * MOST_PAIRS)),
        "toggled": ToggledLaboratory(),
    }
    print("| way | true effect | estimated, mean | points too large | interval holds the truth |\n|" + " --- |" * 5)
    for way, lab in ways.items():
        for effect in _EFFECTS:
            true = float(np.log1p(effect))
            draws = [lab.experiment(np.random.default_rng([options.seed, n]), true)[1] for n in range(options.times)]
            percent = 100 * np.expm1([finding.estimate for finding in draws])
            error = percent.std() / np.sqrt(len(percent))
            held = np.mean([finding.interval.holds(true) for finding in draws])
            excess = f"{percent.mean() - 100 * effect:+.2f} ± {error:.2f}"
            print(f"| {way} | {effect:+.0%} | {percent.mean():+.2f} % | {excess} | {held:.1%} |", flush=True)


if __name__ == "__main__":
    main()
