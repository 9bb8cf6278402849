"""Results of an experiment as records."""

from dataclasses import dataclass

from sqlalchemy.engine import Engine as Store

from paribus.export.rows import summary_values
from paribus.lab.results.records import Records
from paribus.lab.results.reporting import report_document
from paribus.model import Experiment, Trial
from paribus.report.render.document import EffectDocument, ReportDocument
from paribus.store import read


@dataclass(frozen=True, slots=True)
class TrialMeasurement:
    """The summary of one metric of a trial, in the columns of the exported table `measurements`.

    `unit` is the unit of `mean`, `low`, `high` and `total`.
    """

    trial: int
    phase: str
    metric: str
    unit: str
    source: str
    n: int
    mean: float
    low: float
    high: float
    total: float


@dataclass(frozen=True, slots=True)
class TrialSeries:
    """A metric of a trial over time: points every `step_s` seconds from `start_s` on."""

    trial: int
    metric: str
    unit: str
    start_s: float | None
    step_s: float | None
    points: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ExperimentResult:
    """An experiment in its store, finished or not.

    Example:
        >>> result = Lab(store).experiment("last")
        >>> result.effects()[0].verdict.value
        'better'
        >>> {measurement.metric for measurement in result.measurements()}
        {'throughput_per_s'}
    """

    store: Store
    experiment: Experiment

    def effects(self) -> Records[EffectDocument]:
        """Return the effect of each arm on each response, with its interval and verdict."""
        return Records(EffectDocument, self.report().effects)

    def trials(self) -> Records[Trial]:
        """Return all trials in the order in which they run."""
        return Records(Trial, read.trials(self.store, self.experiment.id))

    def measurements(self) -> Records[TrialMeasurement]:
        """Return the summary of every metric of every trial."""
        measurements = read.each_measurement(self.store, self.experiment.id)
        return Records(
            TrialMeasurement, (TrialMeasurement(trial, *summary_values(each)) for trial, each in measurements)
        )

    def series(self, metric: str) -> Records[TrialSeries]:
        """Return a metric over time for each trial that has it, for example `throughput_per_s`."""
        orders = [trial.order for trial in read.trials(self.store, self.experiment.id)]
        series = read.series(self.store, self.experiment.id, metric, orders)
        return Records(
            TrialSeries,
            (
                TrialSeries(order, each.metric, each.unit, each.start_s, each.step_s, tuple(each.points))
                for order, each in series.items()
            ),
        )

    def report(self) -> ReportDocument:
        """Return the report as one document, as `paribus report --json` prints it."""
        return report_document(self.store, self.experiment)
