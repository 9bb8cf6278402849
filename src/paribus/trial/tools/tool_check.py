"""Paths that the tools of a plan would write to, checked before anything is begun.

In: a checked plan, and the settings its tools will be started with. Out: the refusals that a start of a tool would
give. Called when a plan is checked.
"""

from collections.abc import Iterable

from paribus.errors import HostError, Unreachable
from paribus.model import Plan, Settings, Workload
from paribus.registry import parameters_of
from paribus.trial.devices import Devices, PinnedDevices
from paribus.trial.target_session import Site, data_folder
from paribus.trial.tools.confinement import Confinement
from paribus.workloads.tools import request_of, tool_of

_SOME_TIME_S = 1.0
_NO_EXPERIMENT = "check"


def refusals(site: Site, plan: Plan, starts: Iterable[tuple[Workload, Settings]]) -> dict[str, HostError]:
    """Return the reasons why tools would not be started, by the name of the workload. Raises Unreachable."""
    pinned = PinnedDevices({}, lambda _path, _identity: None)
    devices = Devices(site, plan.target.may_destroy, pinned, ())
    folder = data_folder(plan.target.path, _NO_EXPERIMENT)
    confinement = Confinement(site.host, site.engine, folder, plan.target.path, devices)
    tools = [(workload, settings) for workload, settings in starts if tool_of(workload)]
    distinct = {
        (workload.plan_name, repr(parameters_of(workload, settings))): (workload, settings)
        for workload, settings in tools
    }
    refused: dict[str, HostError] = {}
    for workload, settings in distinct.values():
        try:
            _check(confinement, workload, settings, f"{folder}/{workload.plan_name}/files")
        except Unreachable:
            raise
        except HostError as error:
            refused.setdefault(workload.plan_name, error)
    return refused


def _check(confinement: Confinement, workload: Workload, settings: Settings, directory: str) -> None:
    tool = tool_of(workload)
    assert tool is not None
    parameters = parameters_of(workload, settings)
    order = request_of(workload, directory, workload.levels[0], _SOME_TIME_S, _SOME_TIME_S)
    for argv in [tool.prepare_command(parameters, order), *(run.argv for run in tool.runs(parameters, order))]:
        confinement.check(workload, settings, order, argv)
