"""Experiments whose disks fail under load, each in a sandbox of its own: what is reported, and what is left."""

import json
import os
import signal
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from command import Running, run_paribus
from lab_sandbox import LabSandbox
from layout_sessions import assert_clean
from served import done_count

PLAN = """
name = "failures {process}"
[target]
host = "{address}"
path = "/var/tmp"
devices = {disks}
may_destroy = {disks}
{rest}
[protocol]
trial = "{trial}"
settle = "1s"
rounds = 2
margin = "10%"
"""
FILEIO = """
[[workload]]
kind = "fileio"
mode = "{mode}"
block_size = "16KiB"
files = 1
total_size = "32MiB"
direct = true
verify = {verify}
threads = [8]
"""
SLOW = [f"/dev/disk/by-id/virtio-slow-{number}" for number in (1, 2, 3)]
MIRROR = '{ name = "RAID 1", md = { level = 1 }, ext4 = {} }'
MIRRORS = (MIRROR, '{ name = "noatime", md = { level = 1 }, ext4 = {}, mount = ["noatime"] }')
FAILURE = '[[event]]\nat = "8s"\ndo = "fail-member"\ndisk = "slow-2"\n'


class FailingPlan:
    """A plan on throttled disks of a sandbox, ended after some trials."""

    def __init__(self, folder: Path, size: str = "192MiB", *packages: str) -> None:
        """Make the sandbox, with disks of this size."""
        self.sandbox = LabSandbox(f"failing{os.getpid()}", [f"slow:{size}:count=3,iops=300"], packages)
        self._path = folder / "plan.toml"

    def results(self, layouts: Sequence[str], rest: str, trial: str, disks: Sequence[str] = SLOW) -> dict[str, Any]:
        """Return the report on these layouts after four trials."""
        return self.report(f"[factors]\nlayout = [{', '.join(layouts)}]\n{rest}", trial, disks)

    def report(self, rest: str, trial: str, disks: Sequence[str], recovery: str = "") -> dict[str, Any]:
        """Return the report on the factors of `rest` after four trials, each with this kind of recovery at its end."""
        names = json.dumps(list(disks))
        text = PLAN.format(process=os.getpid(), address=self.sandbox.address, disks=names, rest=rest, trial=trial)
        text += f'recovery = "{recovery}"\n' if recovery else ""
        self._path.write_text(text, encoding="utf-8")
        running = Running("run", str(self._path))
        while running.goes_on() and done_count() < 4:
            time.sleep(2)
        running.signal(signal.SIGINT)
        done = running.end(180)
        assert "everything was restored" in done.err, done.err
        return run_paribus("report", "last", "--format", "json").json


@pytest.fixture
def failing(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[FailingPlan]:
    plan = FailingPlan(tmp_path, *getattr(request, "param", ()))
    yield plan
    try:
        assert_clean(plan.sandbox)
    finally:
        plan.sandbox.remove()


def test_mirror_without_its_second_disk_reads_half(failing: FailingPlan) -> None:
    """Each disk does 300 reads a second: the step is planted, of known size and time."""
    rest = f"{FILEIO.format(mode='rndrd', verify='false')}{FAILURE}"
    arms = failing.results(MIRRORS, rest, "16s", SLOW[:2])["event_phases"]
    assert len(arms) == 2
    for arm in arms:
        degraded = next(phase for phase in arm["phases"] if phase["phase"] == "degraded")
        assert degraded["share"]["value"] == pytest.approx(0.5, rel=0.03)
        [change] = arm["changes"]
        assert change["seen"] == change["trials"]
        assert abs(change["delay_s"]) <= 1.0
        assert change["ratio"]["value"] == pytest.approx(0.5, rel=0.03)


def test_md_and_lvm_lose_a_disk_under_load_and_keep_their_data(failing: FailingPlan) -> None:
    arms = (
        '{ name = "md", md = { level = 5, bitmap = "internal" }, ext4 = {} }',
        '{ name = "LVM", lvm = { type = "raid5" }, ext4 = {} }',
    )
    events = FAILURE.replace('at = "8s"', 'after = { bytes = "4MiB" }') + '[[event]]\nat = "6s"\ndo = "add"\n'
    rest = f"{FILEIO.format(mode='rndrw', verify='true')}{events}"
    reported = failing.results(arms, rest, "40s")["event_phases"]
    assert len(reported) == 2
    for arm in reported:
        names = [phase["phase"] for phase in arm["phases"]]
        assert names[:3] == ["before", "degraded", "rebuilding"], arm
        assert arm["verified"] == len(arm["trials"]) > 0


@pytest.mark.parametrize("failing", [("768MiB", "mariadb-server")], indirect=True)
def test_database_goes_on_while_a_disk_of_its_mirror_fails_every_operation(failing: FailingPlan) -> None:
    rest = (
        '[database]\nkind = "mariadb"\n[database.settings]\ninnodb_buffer_pool_size = "32MiB"\n'
        '[[workload]]\nkind = "tpcc"\nwarehouses = 1\nthreads = [2]\nverify = true\n'
        '[[event]]\nat = "5s"\ndo = "error"\ndisk = "slow-2"\n'
    )
    reported = failing.results(MIRRORS, rest, "15s", SLOW[:2])
    assert {phase["phase"] for arm in reported["event_phases"] for phase in arm["phases"]} == {"before", "degraded"}
    states = reported["trials"]
    assert states["done"] >= 4, states


MARIADB = """
[factors]
"mysql.innodb_flush_log_at_trx_commit" = [1, 2]
[database]
kind = "mariadb"
settings = { innodb_log_file_buffering = "ON" }
"""
POSTGRES = """
[factors]
"postgres.fsync" = ["on", "off"]
[database]
kind = "postgres"
"""


@pytest.mark.parametrize(
    ("failing", "server", "file_system"),
    [
        (("768MiB", "mariadb-server"), MARIADB, "xfs"),
        (("768MiB", "mariadb-server"), MARIADB, "ext4"),
        (("768MiB", "postgresql"), POSTGRES, "xfs"),
    ],
    ids=["mariadb-xfs", "mariadb-ext4", "postgres-xfs"],
    indirect=["failing"],
)
def test_power_cut_takes_commits_that_only_the_system_had(failing: FailingPlan, server: str, file_system: str) -> None:
    load = '[[workload]]\nkind = "oltp_write_only"\ntables = 1\ntable_size = 5000\nthreads = [2]\n'
    rest = f"[hold]\nlayout = {{ md = {{ level = 1 }}, {file_system} = {{}} }}\n{server}{load}"
    safe, fast = failing.report(rest, "3s", SLOW[:2], recovery="power-cut")["recoveries"]
    assert safe["lost"] == 0, safe
    assert min(safe["acknowledged"], safe["restart_s"]["value"]) > 0
    assert fast["lost"] > 0, "kept by the system alone"
