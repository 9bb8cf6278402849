"""Data folders of experiments, created, listed and removed by the engine of their machine."""

import json
import os
import socket

from paribus.engine.protocol import DataFolder, DataFolderMade, DataFolders, Event
from paribus.engine.run import understand
from paribus.errors import EngineError
from paribus.files import user_name
from paribus.hosts.transport import Host

_LONG_S = 3600.0  # what is removed may be large


def controller() -> str:
    """The user and the machine that run experiments here, as manifests name them."""
    return f"{user_name(os.geteuid())}@{socket.gethostname()}"


def make(host: Host, binary: str, path: str, experiment: str, plan: str) -> None:
    """Create the folder of an experiment below `path`, or find its existing one.

    Its manifest names the plan and the controller. Raises EngineError if other users could replace it, or it belongs to
    another experiment.
    """
    about = {"plan": plan, "controller": controller()}
    events = _run_data_command(host, [binary, "data", "make", "--about", json.dumps(about), "--", path, experiment])
    if not any(isinstance(event, DataFolderMade) for event in events):
        raise EngineError(
            "no-data",
            f"the engine on {host.name} did not confirm its folder in {path}",
            "install the engine and Paribus from one release",
        )


def folders(host: Host, binary: str, path: str) -> tuple[DataFolder, ...]:
    """The folders of experiments below `path`. Raises EngineError."""
    for event in _run_data_command(host, [binary, "data", "list", "--", path]):
        if isinstance(event, DataFolders):
            return tuple(event.folders)
    raise EngineError(
        "no-data", f"the engine on {host.name} did not list {path}", "install the engine and Paribus from one release"
    )


def remove(host: Host, binary: str, path: str, experiment: str) -> None:
    """Remove the folder of an experiment with its contents.

    Raises EngineError if it is not the experiment's, or a program in it is still running.
    """
    _run_data_command(host, [binary, "data", "remove", "--", path, experiment])


def _run_data_command(host: Host, argv: list[str]) -> list[Event]:
    """Events of a data command of the engine. Raises EngineError."""
    result = host.run(argv, timeout_s=_LONG_S)
    events = [understand(line) for line in result.stdout.splitlines()]
    if result.exit_code != 0:
        raise EngineError("engine-died", f"{argv[0]} data ended with code {result.exit_code}: {result.stderr.strip()}")
    return events
