"""Every plan under examples/ can be checked and run, scaled down, as it stands."""

import shutil
import signal
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import RUN_ENDED, Running

# They need somebody's server, which test_running_server.py has, or disks that may be wiped, as in test_layouts.py and
# test_failing_plans.py. Others need a RAID controller, as in test_raid_example.py, or a guest, as in test_domain.py and
# test_platform_plan.py.
OF_GUESTS = {"kvm", "guest-or-host"}
ELSEWHERE = {
    "running-server",
    "layouts",
    "storage-combinations",
    "disk-failure",
    "power-cut",
    "cache",
    "raid-controller",
    *OF_GUESTS,
}
ALL = sorted((Path(__file__).parents[3] / "examples").glob("*.toml"))
EXAMPLES = [path for path in ALL if path.stem not in ELSEWHERE]
RUN = [pytest.param(path, marks=[pytest.mark.gate] * (path.stem == "sqlmix")) for path in EXAMPLES]
SCALE = {
    "protocol.trial": "20ms",
    "protocol.settle": "5ms",
    "protocol.rounds": "2",
    "protocol.margin": "50%",
    "protocol.method": "fixed",
}
# They have many trials, or a start of the server for each; a few show that it runs. test_server_tools.py carries those
# of tools out.
LONG = {
    "bound-instance",
    "commit-safety",
    "flush-method",
    "innodb-io",
    "pgbench-postgres",
    "server-crash",
    "sysbench-mariadb",
}
SMALL = {"table_size": "500", "total_size": "4MiB", "warehouses": "1"}


@pytest.fixture
def place() -> Iterator[str]:
    """A folder that a server's user can pass, too."""
    folder = tempfile.mkdtemp(prefix="paribus-examples-", dir="/var/tmp")
    Path(folder).chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def _scaled(example: Path) -> dict[str, str]:
    """Return the settings that make a plan one of seconds."""
    found = dict(SCALE)
    plan = tomllib.loads(example.read_text())
    if "database" in plan:
        found["protocol.trial"] = "100ms"  # a shorter one may hold no transaction while a disk is busy
    for number, table in enumerate(plan["workload"]):
        size = {key: value for key, value in SMALL.items() if key in table}
        for key, value in {"threads": "[2]", "data": "keep", **size}.items():
            found[f"workload.{number}.{key}"] = value
    for number, _ in enumerate(plan.get("event", ())):
        found[f"event.{number}.at"] = "50ms"
    return found


@pytest.mark.parametrize("example", RUN, ids=lambda path: path.stem)
def test_an_example_runs(paribus, example: Path, place: str, request: pytest.FixtureRequest) -> None:
    sets = _scaled(example) | {"target.path": place}
    if "block." in example.read_text():
        sets["target.device"] = request.getfixturevalue("loop")
    arguments = [part for key, value in sets.items() for part in ("--set", f"{key}={value}")]
    assert paribus("check", str(example), *arguments).code == 0
    if example.stem in LONG:
        running = Running("run", str(example), *arguments)
        running.wait_for("trial ")
        running.signal(signal.SIGINT)
        stopped = running.end()
        assert stopped.code == 130, stopped.err
        return
    done = paribus("run", str(example), *arguments)
    assert done.code in RUN_ENDED, done.err


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_fine_at_full_size(paribus, example: Path, request: pytest.FixtureRequest) -> None:
    arguments = []
    if "block." in example.read_text():
        arguments = ["--set", f"target.device={request.getfixturevalue('loop')}"]
    done = paribus("check", str(example), *arguments)
    assert done.code == 0, done.err
