"""The folders that hold the data of experiments, made, listed and removed by the engine of their machine."""

import getpass
import json
import socket

from paribus.engine.protocol import DataFolder, DataFolderMade, DataFolders, Event
from paribus.engine.run import understand
from paribus.errors import EngineError
from paribus.hosts.transport import Host

_LONG_S = 3600.0  # what is removed may be large


def controller() -> str:
    """The user and the machine that run experiments here, as manifests name them."""
    return f"{getpass.getuser()}@{socket.gethostname()}"


def make(host: Host, binary: str, path: str, experiment: str, plan: str) -> None:
    """Make the folder of an experiment below `path`, or find the one it has; its manifest names the plan and us.

    Raises EngineError where others could replace it, or it was made by somebody else.
    """
    about = {"plan": plan, "controller": controller()}
    told = _told(host, [binary, "data", "make", "--about", json.dumps(about), "--", path, experiment])
    if not any(isinstance(event, DataFolderMade) for event in told):
        raise EngineError("no-data", f"the engine on {host.name} did not say that it made a folder in {path}")


def folders(host: Host, binary: str, path: str) -> tuple[DataFolder, ...]:
    """The folders of experiments below `path`. Raises EngineError."""
    for event in _told(host, [binary, "data", "list", "--", path]):
        if isinstance(event, DataFolders):
            return tuple(event.folders)
    raise EngineError("no-data", f"the engine on {host.name} did not say what is in {path}")


def remove(host: Host, binary: str, path: str, experiment: str) -> None:
    """Remove the folder of an experiment and all that is in it.

    Raises EngineError where it is not the experiment's, or a program in it still runs.
    """
    _told(host, [binary, "data", "remove", "--", path, experiment])


def _told(host: Host, argv: list[str]) -> list[Event]:
    done = host.run(argv, timeout_s=_LONG_S)
    events = [understand(line) for line in done.stdout.splitlines()]
    if done.exit_code != 0:
        raise EngineError("engine-died", f"{argv[0]} data ended with code {done.exit_code}: {done.stderr.strip()}")
    return events
