"""Cost of intervals that hold however long one continues (`method = "open-ended"`), against looks that share an error.

    python bench/judgement/open_ended.py [--times N] [--seed N]

Both see the same pairs of the same simulated machine, 128 at most, at a margin of 2 %.
"""

import argparse
from collections import Counter

import numpy as np
from experiments import BY_LEVEL, Laboratory

from paribus.analysis.paired.alpha_spending import Method
from paribus.stats.generator import Noise

_METHODS: tuple[Method, ...] = ("adaptive", "open-ended")


def main() -> None:
    """Print a row for each truth and method: the mean number of pairs, and the share of each verdict."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=20261122)
    options = parser.parse_args()
    print("| truth | method | pairs | verdicts |\n|---|---|---:|---|")
    for effect in (0.0, 0.03, 0.05):
        for method in _METHODS:
            lab = Laboratory(pairs=128, noise=Noise(by_level=BY_LEVEL), method=method)
            pairs, verdicts = 0, Counter[str]()
            for number in range(options.times):
                _, finding = lab.experiment(np.random.default_rng([options.seed, number]), float(np.log1p(effect)))
                pairs += finding.looks[-1].units
                verdicts[str(finding.verdict)] += 1
            shares = ", ".join(f"{verdict} {n / options.times:.1%}" for verdict, n in verdicts.most_common())
            print(f"| {effect:+.0%} | {method} | {pairs / options.times:.1f} | {shares} |", flush=True)


if __name__ == "__main__":
    main()
