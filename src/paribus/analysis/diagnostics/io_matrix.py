"""I/O matrices of a device, from the baseline's trials: knee and peak of each series, the bound of each point.

A point is bound by the device if two things hold. Another step of small operations adds less than half of a
proportional increase. The device is within a tenth of a ceiling: its most operations per second with small ones alone,
or its most bytes per second with large ones. Both ceilings bound a point that is near neither, if its shares of them
add up to one.
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
"""Share of its ceiling by which a figure may be below it and counts as having reached it."""

K = TypeVar("K", bound=Hashable)
_Key = tuple[float, int]


def matrices(
    trials: Sequence[Trial],
    summaries: Summaries,
    workloads: Sequence[Workload],
    baseline: Settings,
    confidence: float,
) -> tuple[Matrix, ...]:
    """Return every matrix of an experiment in the plan's order; unmeasured points are left out.

    Args:
        trials: All trials of an experiment.
        summaries: Measurements by trial and metric.
        workloads: Workloads of the plan.
        baseline: Settings of the baseline, which may set parameters of the matrix.
        confidence: Coverage of all intervals.
    """
    baseline_trials = [trial for block in whole_blocks(trials).values() for trial in block if trial.baseline]
    workloads_of_matrix: dict[str, list[Workload]] = defaultdict(list)
    for workload in workloads:
        if workload.kind == "iomatrix":
            workloads_of_matrix[workload.plan_name].append(workload)
    return tuple(
        _Reading(name, members, baseline_trials, summaries, confidence).matrix(baseline)
        for name, members in workloads_of_matrix.items()
    )


class _Reading:
    """Reader of one matrix."""

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
        self.keys: dict[str, _Key] = {workload.name: _key(workload) for workload in workloads}
        self.workloads = {_key(workload): workload for workload in workloads}
        self.trials = [trial for trial in trials if trial.workload in self.keys]
        self.points: dict[tuple[_Key, int], list[Trial]] = defaultdict(list)
        for trial in self.trials:
            self.points[self.keys[trial.workload], trial.load.n].append(trial)
        self.measured = {point: self.means(trials) for point, trials in self.points.items()}

    def matrix(self, baseline: Settings) -> Matrix:
        """Return the matrix."""
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
            metric: Estimate(
                *mean_interval([metrics[metric].mean for metrics in measured if metric in metrics], self.confidence)
            )
            for metric in sorted(set().union(*measured))
        }

    def rounds(self, metric: str, position_of: Callable[[Trial], K | None]) -> list[dict[K, float]]:
        """The metric's mean at each position, one mapping per round; trials without a position are skipped."""
        values_by_round: dict[int, dict[K, list[float]]] = defaultdict(lambda: defaultdict(list))
        for trial in self.trials:
            position, value = position_of(trial), self.summaries.get(trial.order, {}).get(metric)
            if position is not None and value is not None:
                values_by_round[trial.round][position].append(value.mean)
        return [
            {position: sum(values) / len(values) for position, values in values_by_round[number].items()}
            for number in sorted(values_by_round)
        ]

    def small_rounds(self, key: _Key) -> list[dict[int, float]]:
        """Small operations per second by small operations outstanding, in each round of a series."""
        return self.rounds(
            "small_per_s", lambda trial: (trial.load.n or None) if self.keys[trial.workload] == key else None
        )

    def ceiling(self, share: float) -> Ceiling:
        """The highest figures at a write share."""

        def with_large(trial: Trial) -> tuple[str, int] | None:
            trial_share, large = self.keys[trial.workload]
            return (trial.workload, trial.load.n) if trial_share == share and large > 0 else None

        return Ceiling(
            write_share=share,
            small_per_s=self.highest(self.small_rounds((share, 0))),
            bytes_per_s=self.highest(self.rounds("bytes_per_s", with_large)),
        )

    def highest(self, rounds: Sequence[Mapping[K, float]]) -> Estimate | None:
        """The peak of the rates, or None without a round."""
        with contextlib.suppress(CannotJudge):
            peak = scaling.peak(rounds, self.confidence)
            return Estimate(peak.rate, peak.low, peak.high)
        return None

    def series(self, key: _Key, ceiling: Ceiling) -> MatrixSeries:
        """The series of a write share and a number of large operations."""
        share, large = key
        rounds = self.small_rounds(key)
        loads = sorted(load for point_key, load in self.points if point_key == key)
        response_times = {n: mean for n in loads if n > 0 and (mean := self.mean(key, n, "small_response_mean_s"))}
        step = scaling.bend(list(response_times), list(response_times.values()))
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
            knee=self.knee(rounds, response_times),
            bend=None if step is None else (list(response_times)[step], list(response_times)[step + 1]),
        )

    def knee(self, rounds: Sequence[Mapping[int, float]], times: Mapping[int, float]) -> Knee | None:
        """The knee of a series, or None."""
        with contextlib.suppress(CannotJudge):
            estimate = scaling.knee(rounds, self.confidence)
            if estimate is not None:
                level = max(estimate.level, min(times))
                response_s = scaling.response_time_at(times, level)
                return Knee(
                    level=Estimate(estimate.level, estimate.low, estimate.high),
                    per_s=level / response_s,
                    response_s=response_s,
                )
        return None

    def mean(self, key: _Key, load: int, metric: str) -> float:
        """A mean, or 0 where nothing was measured."""
        estimate = self.measured[key, load].get(metric)
        return estimate.value if estimate else 0.0

    def bound(self, key: _Key, load: int, ceiling: Ceiling) -> Bound | None:
        """The bound of a point; None where nothing was measured that shows it."""
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
        """Levels and rates of the step to the next point, or of the last step for the last point; None for one point.

        Along the small operations; where there are none, along the large ones.
        """
        share, large = key
        if load > 0:
            rates = {n: self.mean(key, n, "small_per_s") for point_key, n in self.points if point_key == key and n > 0}
            current = load
        else:
            rates = {
                large_count: self.mean((point_key, large_count), 0, "large_bytes_per_s")
                for (point_key, large_count), n in self.points
                if point_key == share and n == 0
            }
            current = large
        levels = sorted(level for level, rate in rates.items() if rate > 0)
        if current not in levels or len(levels) < 2:
            return None
        index = min(levels.index(current), len(levels) - 2)
        lower, upper = levels[index], levels[index + 1]
        return (lower, upper), (rates[lower], rates[upper])


def _key(workload: Workload) -> _Key:
    """The series of a workload: its write share and its large operations outstanding."""
    return float(workload.parameters["write_share"]), int(workload.parameters["large"])
