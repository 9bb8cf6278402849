"""Whether what each trial measured obeys the laws of arithmetic and physics.

In: trials and what they measured. Out: breaches by trial. Called by `judge`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from paribus.analysis.paired.effects import PairSeries, Summaries
from paribus.findings import Breach
from paribus.i18n import N_, gettext
from paribus.model import Check, Measurement, Trial, TrialState
from paribus.plausibility import Figure, Stated, of_cell
from paribus.units import LoadUnit

_SHORT_S = 5.0  # in so short a window an operation that outlasts it may leave a thread without any
_TOLD = 3
_FIGURES = (
    "throughput_per_s",
    "reads_per_s",
    "writes_per_s",
    "fsyncs_per_s",
    "queries_per_s",
    "bytes_per_s",
    "response_mean_s",
    "response_p50_s",
    "response_p95_s",
    "response_p99_s",
    "response_p999_s",
    "response_max_s",
)


@dataclass(frozen=True, slots=True)
class Lawful:
    """The trials that were looked at, and what is wrong with those where something is."""

    looked: frozenset[int]
    breaches: Mapping[int, Sequence[Breach]]

    @classmethod
    def of(cls, trials: Iterable[Trial], summaries: Summaries) -> "Lawful":
        """Of the trials that are done: what says one thing only can contradict nothing."""
        done = (trial for trial in trials if trial.state is TrialState.DONE and trial.order in summaries)
        cells = ((trial.order, stated(trial, summaries[trial.order])) for trial in done)
        found = {order: of_cell(cell) for order, cell in cells if len(cell.figures.keys() - {"duration_s"}) > 1}
        return cls(frozenset(found), {order: breaches for order, breaches in found.items() if breaches})

    def check(self, one: PairSeries) -> Check | None:
        """Whether the trials of a comparison obey them; None where nothing could be looked at."""
        orders = list(dict.fromkeys(order for pair in one.pairs for order in pair.trials if order in self.looked))
        if not orders:
            return None
        wrong = [order for order in orders if order in self.breaches]
        said = N_("the figures of {n} of {all} trials contradict each other")
        words = [gettext(said, n=len(wrong), all=len(orders))]
        words += [breach.words for order in wrong[:_TOLD] for breach in self.breaches[order]]
        return Check(gettext("the laws"), not wrong, gettext("; ").join(words))


def stated(trial: Trial, measured: Mapping[str, Measurement]) -> Stated:
    """What a trial measured, as the laws read it.

    The loop is closed where the engine kept a number of operations outstanding, all of them told by the load level.
    """
    figures = {name: Figure(measured[name].mean) for name in _FIGURES if name in measured}
    rate, response = measured.get("throughput_per_s"), measured.get("response_mean_s")
    ours = rate is not None and rate.source == "engine"
    duration_s = rate.total / rate.mean if rate is not None and ours and rate.mean > 0 else 0.0
    if duration_s > 0:
        figures["duration_s"] = Figure(duration_s)
        if response is not None:
            figures["operations"] = Figure(response.n)
            figures["response_min_s"] = Figure(response.low)
            figures["response_sum_s"] = Figure(response.total)
    kept = trial.load.unit is LoadUnit.OUTSTANDING and "offered_per_s" not in measured
    return Stated(
        figures=figures,
        source=gettext("trial {n}", n=trial.order),
        workload=trial.workload,
        levels={trial.factor: trial.arm} if trial.factor else {},
        load=trial.load.n,
        closed=ours and kept and "large_per_s" not in measured,
        think=duration_s < _SHORT_S,
    )
