"""A report in which something is to be chosen: load levels, trials, metrics."""

import math
from dataclasses import replace

from report_samples import RECIPES, Bench

from paribus.findings import Distribution
from paribus.model import Verdict
from paribus.report.experiment_view import ReportView
from paribus.units import LoadLevel


def chosen() -> ReportView:
    """One factor with all that is chosen from: the distribution at two load levels, two metrics of every trial."""
    bench = Bench().compare("block.scheduler", "mq-deadline", {"none": (0.059, 0.021, Verdict.BETTER)}, loads=(8, 32))
    shares = (0.0, 0.5, 0.9, 0.99, 0.999)
    found = [
        Distribution(
            factor="block.scheduler",
            workload="mixed",
            arm=arm,
            load=LoadLevel(load),
            count=100_000,
            quantiles=tuple((share, at * load * (1 + 4 * share**20)) for share in shares),
            trials=(1, 2),
        )
        for arm, at in (("mq-deadline", 0.0001), ("none", 0.00008))
        for load in (8, 32)
    ]
    series = {
        metric: {
            trial.order: replace(
                bench.summaries[trial.order]["throughput_per_s"],
                metric=metric,
                start_s=0.0,
                step_s=1.0,
                points=tuple(level * (1 + 0.1 * math.sin(trial.order * at)) for at in range(60)),
            )
            for trial in bench.trials
        }
        for metric, level in (("throughput_per_s", 9000.0), ("device_utilisation", 0.8))
    }
    return bench.view(RECIPES, distributions=found, time_series=series)
