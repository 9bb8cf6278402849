"""A running server and the machine under test, which must be one where settings of the machine are tried."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command import Done
from network_server import NetworkServer, network_server
from ssh_target import HERE, SshTarget

pytestmark = [pytest.mark.root, pytest.mark.usefixtures("as_root")]

Paribus = Callable[..., Done]


@pytest.fixture(params=["mariadb"])
def server(request: pytest.FixtureRequest) -> Iterator[NetworkServer]:
    with network_server(request.param) as started:
        yield started


def _plan(folder: Path, server: NetworkServer, target: str, factor: str) -> str:
    secret = folder / "secret"
    secret.write_text(server.password)
    secret.chmod(0o600)
    path = folder / "plan.toml"
    path.write_text(
        f'name = "hosts"\n[target]\npath = "{folder}"\nhost = "{target}"\n[database]\nkind = "{server.kind}"\n'
        f'dsn = "{server.dsn(HERE)}"\npassword_file = "{secret}"\n[factors]\n{factor}\n'
        f'[[workload]]\nkind = "oltp_update_index"\ntable_size = 2000\nthreads = [2]\n'
        f'[protocol]\ntrial = "100ms"\nsettle = "50ms"\nrounds = 2\n'
    )
    return str(path)


def test_a_setting_of_the_machine_needs_the_server_to_run_there(
    paribus: Paribus, target: SshTarget, server: NetworkServer, tmp_path: Path
) -> None:
    """Over SSH the same address is that of another machine."""
    swappiness = Path("/proc/sys/vm/swappiness").read_text()
    machine = '"vm.swappiness" = [10, 60]'
    here = paribus("check", _plan(tmp_path, server, "local", machine))
    assert here.code == 0, here.err
    assert "runs on another machine" not in here.out
    there = paribus("run", _plan(tmp_path, server, target.address, machine))
    assert there.code == 2, there.err
    assert f"the server {server.dsn(HERE).replace('bench@', '').rstrip('/')} runs on another machine" in there.err
    assert "set target.host to the server's host, or remove the setting" in there.err
    assert Path("/proc/sys/vm/swappiness").read_text() == swappiness
    assert not server.databases
    load = paribus("check", _plan(tmp_path, server, target.address, '"process.load.cpus" = ["default", "0"]'))
    assert load.code == 0, load.err
    assert "runs on another machine than the target (ssh://target)" in " ".join(load.out.split())
