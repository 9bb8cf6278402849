"""Information about the trials of a comparison that its checks need."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from paribus.analysis.diagnostics.noise import BaselineDifference
from paribus.analysis.diagnostics.plausibility import PlausibilityResults
from paribus.analysis.diagnostics.uncontrolled import Facts
from paribus.analysis.paired.effects import PairSeries, Summaries
from paribus.model import PLATFORM, Measurement, Settings, Trial

Courses = Mapping[int, Measurement]


@dataclass(frozen=True, slots=True)
class Timeline:
    """Start time, preceding trial and duration in seconds of each trial."""

    started: Mapping[int, float]
    before: Mapping[int, Trial]
    took_s: Mapping[int, float]

    @classmethod
    def of(cls, trials: Sequence[Trial]) -> "Timeline":
        """Return the timeline of trials in any order."""
        run_order = sorted(
            (trial for trial in trials if trial.started is not None), key=lambda trial: trial.started or 0.0
        )
        preceding = {later.order: earlier for earlier, later in pairwise(run_order)}
        return cls(
            {trial.order: trial.started or 0.0 for trial in run_order},
            preceding,
            {trial.order: trial.took_s for trial in run_order},
        )

    def span_s(self, series: PairSeries) -> float:
        """Return the seconds from the start of a comparison's first trial to the end of its last; 0 where unknown."""
        orders = [order for pair in series.pairs for order in pair.trials if order in self.started]
        ends = [self.started[order] + self.took_s[order] for order in orders]
        return max(ends) - min(self.started[order] for order in orders) if orders else 0.0

    def longest_s(self, series: PairSeries) -> float:
        """Return the seconds of a comparison's longest trial, with its settling; 0 where unknown."""
        return max((self.took_s.get(order, 0.0) for pair in series.pairs for order in pair.trials), default=0.0)

    def pair_s(self, series: PairSeries) -> float:
        """Return the mean seconds of a pair, or of a pair of applications; 0 where unknown."""
        return sum(self.took_s.get(order, 0.0) for pair in series.pairs for order in pair.trials) / max(series.units, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckContext:
    """Information about the trials of a comparison that the checks need.

    Attributes:
        timeline: Run order and times.
        summaries: Measurements by trial and metric.
        courses: Time series of the response within each trial.
        noise: Difference of the baseline from itself before the comparison.
        placebo: The same during the comparison.
        drives: Error counters of the drives at each reading.
        conditions: Machine conditions that each trial recorded.
        settings: The settings of each trial.
        plausibility: Trials whose figures violate a law of arithmetic or physics.
        washed_out: Factors whose comparisons of two arms wash out carry-over.
        wash_out_s: Seconds of load by which these are washed out.
        trial_s: Measured seconds of a trial.
    """

    timeline: Timeline
    summaries: Summaries
    courses: Courses
    noise: BaselineDifference | None
    placebo: BaselineDifference | None
    drives: Mapping[str, Sequence[int]]
    conditions: Facts
    settings: Mapping[int, Settings]
    plausibility: PlausibilityResults
    washed_out: Collection[str] = ()
    wash_out_s: float = 0.0
    trial_s: float = 0.0

    @property
    def is_washed_for_long(self) -> bool:
        """Whether the plan has carry-over washed out for several trials."""
        return self.wash_out_s >= 2 * self.trial_s

    def spans_platforms(self, series: PairSeries) -> bool:
        """Return whether the trials of a pair ran on two machines, which differ in any way."""
        return any(
            len({self.settings[order].get(PLATFORM) for order in pair.trials if order in self.settings}) > 1
            for pair in series.pairs
        )
