"""Conditions of a private server's processes: seen from outside while the experiment runs."""

import os
import time
from collections import Counter
from pathlib import Path

import pytest
from command import RUN_ENDED, Running
from served import nothing_is_left, plan_on, trials

from paribus.model import TrialState
from paribus.store import read
from paribus.store.open import open_engine, store_url

pytestmark = [pytest.mark.root, pytest.mark.usefixtures("as_root")]
GROUPS = Path("/sys/fs/cgroup")
CONDITIONS = """
"process.cpus" = ["default", "0"]
[hold]
"process.nofile" = 4096
"cgroup.memory_max" = "1GiB"
"cgroup.cpu_quota" = 1.5
"""


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # it has ended
        return ""


def _parents() -> dict[int, int]:
    """The parent of each process."""
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal() and (stat := _text(folder / "stat")):
            parents[int(folder.name)] = int(stat.rpartition(")")[2].split()[1])
    return parents


def _descendants(roots: set[int], parents: dict[int, int]) -> set[int]:
    """The processes and all that come from them."""
    members = set(roots)
    while more := {pid for pid, parent in parents.items() if parent in members} - members:
        members |= more
    return members


def _servers(place: Path) -> set[int]:
    """The processes of the server that has its data below a folder."""
    parents = _parents()
    programs = {pid: Path(_text(Path(f"/proc/{pid}/cmdline")).partition("\0")[0]).name for pid in parents}
    members = {
        pid
        for pid, program in programs.items()
        if program in ("postgres", "mariadbd") and str(place) in _text(Path(f"/proc/{pid}/cmdline"))
    }
    return _descendants(members, parents)


def _line(text: str, start: str) -> str:
    return next((line for line in text.splitlines() if line.startswith(start)), "")


@pytest.mark.parametrize("kind", ["postgres", "mariadb"])
def test_conditions_reach_every_process_of_a_private_server(place: Path, kind: str) -> None:
    workload = 'kind = "oltp_read_only"\ntable_size = 2000\nthreads = [2]'
    run = Running("run", plan_on(place, kind, CONDITIONS, workload, trial='"400ms"'))
    seen: set[tuple[str, str]] = set()
    outside: Counter[int] = Counter()
    engines: set[str] = set()
    run.wait_for("trial 1")
    while run.goes_on():
        for pid in _servers(place):
            folder = Path(f"/proc/{pid}")
            status, limits, groups = (_text(folder / name) for name in ("status", "limits", "cgroup"))
            if "State:\tZ" not in status and status and limits and groups:
                files = _line(limits, "Max open files").split()[3]
                seen.add((_line(status, "Cpus_allowed_list").split()[1], files))
                # One that ends has no memory any more when it leaves its groups.
                outside[pid] += "/paribus-server" not in groups and "VmSize:" in _text(folder / "status")
        for pid in _descendants({run.pid}, _parents()):
            if _text(Path(f"/proc/{pid}/cmdline")).replace("\0", " ").rstrip().endswith("paribus-engine run"):
                engines.add(_line(_text(Path(f"/proc/{pid}/status")), "Cpus_allowed_list").partition("\t")[2])
        time.sleep(0.02)
    done = run.end()
    assert done.code in RUN_ENDED, done.err
    every = f"0-{len(os.sched_getaffinity(0)) - 1}"
    assert seen == {("0", "4096"), (every, "4096")}
    assert max(outside.values()) <= 2, "a process leaves its groups only in the moment of its end"
    assert engines - {""} == {every}, "the load keeps its processors"
    assert nothing_is_left(place)
    assert not list(GROUPS.glob("**/paribus-server"))
    store = open_engine(store_url(None), create=False)
    last = read.find(store, "last").id
    changes = [change for _, change in read.changes(store, last)]
    store.dispose()
    finished = {trial.order for trial in trials() if trial.state is TrialState.DONE}
    read_back = [change for change in changes if change.address.startswith("/proc/")]
    assert {change.knob for change in read_back} == {
        "process.server.cpus",
        "process.server.nofile",
        "cgroup.server.memory_max",
        "cgroup.server.cpu_quota",
    }
    assert finished
    assert all(change.state == "verified" for change in read_back)


def test_a_condition_that_the_server_cannot_have_is_a_finding(paribus, place: Path) -> None:
    workload = 'kind = "oltp_read_only"\ntable_size = 2000\nthreads = [2]'
    done = paribus("run", plan_on(place, "postgres", '"process.server.cpus" = ["0", "0-63"]', workload), "--json")
    assert done.code == 0
    assert any("the machine refuses process.server.cpus = 0-63" in note for note in done.json["notes"])
    assert nothing_is_left(place)
