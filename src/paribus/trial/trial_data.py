"""The data that trials use: made where it is missing, and made again when a workload wants it new.

In: the trials of a block, or one on a layout that was just built. Out: their data, in files, on a server or by a tool.
Called by the bench.
"""

from collections.abc import Callable, Sequence

from paribus.model import LAYOUT, Settings, Trial, Workload
from paribus.registry import data_of
from paribus.trial.data_jobs import DataJobs
from paribus.trial.databases.database_session import DatabaseSession
from paribus.trial.databases.workload_data import WorkloadData
from paribus.trial.experiment_session import ExperimentSession
from paribus.trial.open_target import OpenTarget
from paribus.workloads import jobs
from paribus.workloads.tools import tool_of

Progress = Callable[[int, int], None]


def _data_key(workload: Workload, trial: Trial) -> object:
    """Return the part of an experiment that the data is made for: all trials, a round, or an application."""
    return {"keep": "kept", "round": trial.round, "application": (trial.block, trial.attempt)}[workload.data]


class TrialData:
    """The data of one experiment, as far as it exists."""

    def __init__(
        self, session: ExperimentSession, target: OpenTarget, data_jobs: DataJobs, workload_data: WorkloadData
    ) -> None:
        """Begin without data."""
        self._host = session.site.host
        self._folder = session.files_folder
        self._trials = session.trials
        self._workloads = session.workloads
        self._jobs = data_jobs
        self._workload_data = workload_data
        self._devices = target.devices
        self._tools = target.tools
        self._servers = target.servers
        self._made_for: dict[str, object] = {}  # by location
        self._server_data_made = False

    def make_on_layout(self, trial: Trial) -> None:
        """Make the data of a trial on a layout that was just built, and has none. Raises as `make`."""
        self._made_for.clear()
        self._server_data_made = False
        self.make([trial], lambda _done, _total: None)

    def make(self, block: Sequence[Trial], progress: Progress, *, cached: bool = True) -> None:
        """Make what is missing of the data of a block; unless `cached`, the kernel forgets it then, as far as it can.

        Raises EngineError, HostError and Interrupted.
        """
        if self._make(block, progress) and not cached:
            self._host.run(["sync", "--file-system", self._folder])
            dropping = ["dd", "if={}", "iflag=nocache", "count=0", "status=none"]
            self._host.run(["find", self._folder, "-type", "f", "-exec", *dropping, ";"], timeout_s=None)

    def _make(self, block: Sequence[Trial], progress: Progress) -> bool:
        """Make what is missing of the data of a block, and return whether anything was."""
        is_new = False
        for trial in block:
            workload = self._workloads[trial.workload]
            if self._servers is not None and workload.database:
                is_new |= self._make_server_data(trial, workload, self._servers, progress)
                continue
            if tool := tool_of(workload):
                location, age = self._tools.directory(workload, trial.settings), _data_key(workload, trial)
                if self._made_for.get(location) != age:
                    self._tools.make(tool, workload, trial.settings)
                    self._made_for[location] = age
                    is_new = True
                continue
            prepare = jobs.job(workload, trial.settings, self._folder, "prepare")
            data = prepare.workload.data
            if data.device and not self._is_overwritten(data.device, workload, trial):
                continue
            location = self._host.resolve(data.place())
            age = _data_key(workload, trial)
            if self._made_for.get(location) == (data, age):
                continue
            if workload.data != "keep" and not data.device:
                self._jobs.run(jobs.job(workload, trial.settings, self._folder, "cleanup"), progress)
            self._jobs.run(prepare, progress)
            self._made_for[location] = (data, age)
            is_new = True
        return is_new

    def _make_server_data(self, trial: Trial, workload: Workload, servers: DatabaseSession, progress: Progress) -> bool:
        """Make all data of all servers before the first trial on one; later restore it when due."""
        is_new = not self._server_data_made
        if is_new:
            layout = trial.settings.get(LAYOUT)
            trials = [other for other in self._trials if other.settings.get(LAYOUT) == layout]
            servers.make_data(trials, self._workloads, self._workload_data, progress)
            self._server_data_made = True
        age = _data_key(workload, trial)
        if self._made_for.setdefault(f"{workload.name} on a server", age) != age:
            self._made_for[f"{workload.name} on a server"] = age
            for settings in {str(settings): settings for settings in self._settings_of_block(trial)}.values():
                servers.restore(workload, settings, self._workload_data)
            is_new = True
        return is_new

    def _settings_of_block(self, trial: Trial) -> list[Settings]:
        """The settings of all trials of the trial's block."""
        block = (trial.block, trial.workload)
        return [other.settings for other in self._trials if (other.block, other.workload) == block]

    def _is_overwritten(self, device: str, workload: Workload, trial: Trial) -> bool:
        """Whether a trial's load or its data overwrites the device. Raises HostError where that must not be.

        Checked before every block: since the plan was checked, the device or its name may have changed hands.
        """
        overwritten = data_of(workload, trial.settings).made or workload.data != "keep"
        self._devices.check(device, written=overwritten)
        return overwritten
