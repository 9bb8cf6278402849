"""Context of one experiment on its target: the machine, the plan, the trials and their folders."""

import dataclasses
import functools
from collections.abc import Callable, Collection, Mapping, Sequence

from paribus.model import LAYOUT, Change, Measurement, Plan, Trial, Workload
from paribus.trial.target_session import Site, data_folder

Record = Callable[[Trial, Sequence[Change], Sequence[Measurement], Mapping[str, str]], None]
ComparisonKey = tuple[str, str]
"""Names of a factor and a workload."""


@dataclasses.dataclass(frozen=True)
class ComparisonModes:
    """Treatment of trials by their comparison."""

    tested: Mapping[ComparisonKey, Sequence[str]]
    """Settings that a comparison varies."""
    in_flight: Collection[ComparisonKey]
    """Comparisons whose load continues while settings change."""
    washed: Collection[ComparisonKey]
    """Comparisons whose block first runs one trial longer after a load with other settings."""
    toggled: Collection[ComparisonKey]
    """Comparisons whose trials are segments."""


@dataclasses.dataclass(frozen=True)
class ExperimentSession:
    """An experiment between the opening and the closing of its target; `record` stores a trial."""

    site: Site
    plan: Plan
    trials: Sequence[Trial]
    record: Record
    stopped: Callable[[], bool]

    @property
    def experiment(self) -> str:
        """The name of the experiment."""
        return self.trials[0].experiment

    @functools.cached_property
    def has_layouts(self) -> bool:
        """Whether trials build storage layouts."""
        return any(LAYOUT in trial.settings for trial in self.trials)

    @property
    def data_folder(self) -> str:
        """The experiment's folder on the target."""
        return data_folder(self.plan.target.path, self.experiment)

    @property
    def files_folder(self) -> str:
        """The folder of the workloads' files: the mount point of layouts, or the data folder."""
        return f"{self.data_folder}/{LAYOUT}" if self.has_layouts else self.data_folder

    @functools.cached_property
    def workloads(self) -> dict[str, Workload]:
        """The workloads by name."""
        return {workload.name: workload for workload in self.plan.workloads}
