"""Plausibility of each trial's own figures, by the laws of arithmetic and physics."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from paribus.analysis.paired.checks.limits import plain_limit
from paribus.analysis.paired.effects import PairSeries, Summaries
from paribus.findings import Breach
from paribus.i18n import N_, gettext
from paribus.model import Check, Measurement, Trial, TrialState
from paribus.plausibility import StatedCell, StatedFigure, of_cell
from paribus.units import LoadUnit

_SHORT_S = 5.0  # in a shorter window, an operation may outlast it and leave a thread without any
_MOST_SHOWN = 3
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
class PlausibilityResults:
    """The trials that were examined, and the violations of those that have any."""

    examined: frozenset[int]
    breaches: Mapping[int, Sequence[Breach]]

    @classmethod
    def of(cls, trials: Iterable[Trial], summaries: Summaries) -> "PlausibilityResults":
        """Examine the trials that are done and measured more than one figure: a single figure contradicts nothing."""
        done_trials = (trial for trial in trials if trial.state is TrialState.DONE and trial.order in summaries)
        cells = ((trial.order, stated(trial, summaries[trial.order])) for trial in done_trials)
        breaches_by_trial = {
            order: of_cell(cell) for order, cell in cells if len(cell.figures.keys() - {"duration_s"}) > 1
        }
        return cls(
            frozenset(breaches_by_trial), {order: breaches for order, breaches in breaches_by_trial.items() if breaches}
        )

    def check(self, series: PairSeries) -> Check | None:
        """Return whether the trials of a comparison obey the laws; None where none was examined."""
        orders = list(dict.fromkeys(order for pair in series.pairs for order in pair.trials if order in self.examined))
        if not orders:
            return None
        violating = [order for order in orders if order in self.breaches]
        message = N_("the figures of {n} of {all} trials contradict each other")
        texts = [gettext(message, n=len(violating), all=len(orders))]
        texts += [breach.words for order in violating[:_MOST_SHOWN] for breach in self.breaches[order]]
        return Check(gettext("the laws"), not violating, gettext("; ").join(texts), plain_limit("0"))


def stated(trial: Trial, measured: Mapping[str, Measurement]) -> StatedCell:
    """Return the figures of a trial for the plausibility laws.

    The loop is closed where the engine kept a number of operations outstanding that the load level states completely.
    """
    figures = {name: StatedFigure(measured[name].mean) for name in _FIGURES if name in measured}
    rate, response = measured.get("throughput_per_s"), measured.get("response_mean_s")
    from_engine = rate is not None and rate.source == "engine"
    duration_s = rate.total / rate.mean if rate is not None and from_engine and rate.mean > 0 else 0.0
    if duration_s > 0:
        figures["duration_s"] = StatedFigure(duration_s)
        if response is not None:
            figures["operations"] = StatedFigure(response.n)
            figures["response_min_s"] = StatedFigure(response.low)
            figures["response_sum_s"] = StatedFigure(response.total)
    fixed_outstanding = trial.load.unit is LoadUnit.OUTSTANDING and "offered_per_s" not in measured
    return StatedCell(
        figures=figures,
        source=gettext("trial {n}", n=trial.order),
        workload=trial.workload,
        levels={trial.factor: trial.arm} if trial.factor else {},
        load=trial.load.n,
        closed=from_engine and fixed_outstanding and "large_per_s" not in measured,
        think=duration_s < _SHORT_S,
    )
