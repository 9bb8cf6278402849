"""What an I/O matrix says of a device: per series knee and peak, per point what bounds it.

In: trials, what they measured, and the workloads that are series of a matrix. Out: `Matrix` records. Called by
`judge`. Only trials of the baseline count: the matrix is that of the device as it is.

A point is bound where another step of small operations brings less than half of its proportion, and the device
stands within a tenth of the highest figure it showed: of operations when it did small ones alone, or of bytes when
it did large ones too. Where neither is near, but the shares of both ceilings add up to one, both together bound it.
"""

import contextlib
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

from paribus.analysis.paired.effects import Summaries, whole_blocks
from paribus.findings import Bound, Ceiling, Estimate, Knee, Matrix, MatrixPoint, MatrixSeries
from paribus.model import Settings, Trial, Workload
from paribus.stats import scaling
from paribus.stats.pairs import CannotJudge, mean_interval

NEAR = 0.10
"""How far below its ceiling, as a share of it, a figure counts as having reached it."""

K = TypeVar("K", bound=Hashable)
_Key = tuple[float, int]


def matrices(
    trials: Sequence[Trial],
    summaries: Summaries,
    workloads: Sequence[Workload],
    baseline: Settings,
    confidence: float,
) -> tuple[Matrix, ...]:
    """Every matrix of an experiment, in the plan's order; points that were not measured yet are left out."""
    measured = [trial for block in whole_blocks(trials).values() for trial in block if trial.baseline]
    named: dict[str, list[Workload]] = defaultdict(list)
    for workload in workloads:
        if workload.kind == "iomatrix":
            named[workload.plan_name].append(workload)
    return tuple(
        _Reading(name, members, measured, summaries, confidence).matrix(baseline) for name, members in named.items()
    )


class _Reading:
    """One matrix being read."""

    def __init__(
        self,
        name: str,
        workloads: Sequence[Workload],
        trials: Sequence[Trial],
        summaries: Summaries,
        confidence: float,
    ) -> None:
        self.name = name
        self.confidence = confidence
        self.summaries = summaries
        self.keys: dict[str, _Key] = {w.name: _key(w) for w in workloads}
        self.workloads = {_key(w): w for w in workloads}
        self.trials = [trial for trial in trials if trial.workload in self.keys]
        self.points: dict[tuple[_Key, int], list[Trial]] = defaultdict(list)
        for trial in self.trials:
            self.points[self.keys[trial.workload], trial.load.n].append(trial)
        self.measured = {place: self.means(trials) for place, trials in self.points.items()}

    def matrix(self, baseline: Settings) -> Matrix:
        parameters = dict(next(iter(self.workloads.values())).parameters)
        for key, value in baseline.items():
            owner, _, parameter = key.partition(".")
            if owner in (self.name, "iomatrix"):
                parameters[parameter] = value
        ceilings = {share: self.ceiling(share) for share, _ in sorted(self.workloads)}
        return Matrix(
            name=self.name,
            small_block_bytes=int(parameters["small_block"]),
            large_block_bytes=int(parameters["large_block"]),
            rounds=len({trial.round for trial in self.trials}),
            confidence=self.confidence,
            ceilings=tuple(ceilings.values()),
            series=tuple(self.series(key, ceilings[key[0]]) for key in sorted(self.workloads)),
        )

    def means(self, trials: Sequence[Trial]) -> dict[str, Estimate]:
        """Each metric's mean over the trials of a point."""
        measured = [self.summaries.get(trial.order, {}) for trial in trials]
        return {
            metric: Estimate(*mean_interval([m[metric].mean for m in measured if metric in m], self.confidence))
            for metric in sorted(set().union(*measured))
        }

    def rounds(self, metric: str, place: Callable[[Trial], K | None]) -> list[dict[K, float]]:
        """The metric's mean at each place, one mapping for each round; trials without a place are passed over."""
        found: dict[int, dict[K, list[float]]] = defaultdict(lambda: defaultdict(list))
        for trial in self.trials:
            where, value = place(trial), self.summaries.get(trial.order, {}).get(metric)
            if where is not None and value is not None:
                found[trial.round][where].append(value.mean)
        return [
            {where: sum(values) / len(values) for where, values in found[number].items()} for number in sorted(found)
        ]

    def small_rounds(self, key: _Key) -> list[dict[int, float]]:
        """Small operations per second by small ones outstanding, in each round of a series."""
        return self.rounds("small_per_s", lambda t: (t.load.n or None) if self.keys[t.workload] == key else None)

    def ceiling(self, share: float) -> Ceiling:
        """The most the device showed at a write share."""

        def with_large(trial: Trial) -> tuple[str, int] | None:
            own_share, large = self.keys[trial.workload]
            return (trial.workload, trial.load.n) if own_share == share and large > 0 else None

        return Ceiling(
            write_share=share,
            small_per_s=self.highest(self.small_rounds((share, 0))),
            bytes_per_s=self.highest(self.rounds("bytes_per_s", with_large)),
        )

    def highest(self, rounds: Sequence[Mapping[K, float]]) -> Estimate | None:
        with contextlib.suppress(CannotJudge):
            found = scaling.peak(rounds, self.confidence)
            return Estimate(found.rate, found.low, found.high)
        return None

    def series(self, key: _Key, ceiling: Ceiling) -> MatrixSeries:
        share, large = key
        rounds = self.small_rounds(key)
        loads = sorted(load for own, load in self.points if own == key)
        small = {n: mean for n in loads if n > 0 and (mean := self.mean(key, n, "small_response_mean_s"))}
        step = scaling.bend(list(small), list(small.values()))
        return MatrixSeries(
            workload=self.workloads[key].name,
            write_share=share,
            large=large,
            points=tuple(
                MatrixPoint(
                    small=n,
                    large=large,
                    measured=self.measured[key, n],
                    trials=tuple(trial.order for trial in self.points[key, n]),
                    bound=self.bound(key, n, ceiling),
                )
                for n in loads
            ),
            peak_at=scaling.peak(rounds, self.confidence).position if rounds else 0,
            peak_per_s=self.highest(rounds),
            knee=self.knee(rounds, small),
            bend=None if step is None else (list(small)[step], list(small)[step + 1]),
        )

    def knee(self, rounds: Sequence[Mapping[int, float]], times: Mapping[int, float]) -> Knee | None:
        """The knee, where the series has one."""
        with contextlib.suppress(CannotJudge):
            found = scaling.knee(rounds, self.confidence)
            if found is not None:
                level = max(found.level, min(times))
                response_s = scaling.response_time_at(times, level)
                return Knee(
                    level=Estimate(found.level, found.low, found.high), per_s=level / response_s, response_s=response_s
                )
        return None

    def mean(self, key: _Key, load: int, metric: str) -> float:
        """A mean, or 0 where nothing was measured."""
        found = self.measured[key, load].get(metric)
        return found.value if found else 0.0

    def bound(self, key: _Key, load: int, ceiling: Ceiling) -> Bound | None:
        """What bounds the device at a point."""
        step = self.step(key, load)
        if step is None or (ceiling.small_per_s is None and ceiling.bytes_per_s is None):
            return None
        if not scaling.brings_less(*step):
            return Bound.NOTHING
        most_per_s = ceiling.small_per_s.value if ceiling.small_per_s else float("inf")
        most_bytes = ceiling.bytes_per_s.value if ceiling.bytes_per_s else float("inf")
        if self.mean(key, load, "bytes_per_s") >= (1 - NEAR) * most_bytes:
            return Bound.BANDWIDTH
        if self.mean(key, load, "throughput_per_s") >= (1 - NEAR) * most_per_s:
            return Bound.IOPS
        small, large = self.mean(key, load, "small_per_s"), self.mean(key, load, "large_bytes_per_s")
        return Bound.BOTH if small / most_per_s + large / most_bytes >= 1 - NEAR else Bound.NOTHING

    def step(self, key: _Key, load: int) -> tuple[tuple[float, float], tuple[float, float]] | None:
        """Levels and rates of the step to the next point, or of the one before the last; None for a lone point.

        Along the small operations; where there are none, along the large ones.
        """
        share, large = key
        if load > 0:
            line = {n: self.mean(key, n, "small_per_s") for own, n in self.points if own == key and n > 0}
            here = load
        else:
            line = {
                number: self.mean((own, number), 0, "large_bytes_per_s")
                for (own, number), n in self.points
                if own == share and n == 0
            }
            here = large
        levels = sorted(level for level, rate in line.items() if rate > 0)
        if here not in levels or len(levels) < 2:
            return None
        at = min(levels.index(here), len(levels) - 2)
        one, other = levels[at], levels[at + 1]
        return (one, other), (line[one], line[other])


def _key(workload: Workload) -> _Key:
    """Which series a workload is: its write share and its large operations outstanding."""
    return float(workload.parameters["write_share"]), int(workload.parameters["large"])
