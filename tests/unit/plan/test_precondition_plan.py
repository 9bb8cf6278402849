"""Preconditioning in a plan: what is planned, what it costs, what forbids it."""

import dataclasses

import pytest
from plan_samples import FILEIO, checked, simple

from paribus.errors import PlanError
from paribus.model import BlockDevice, Plan, Precondition, Purpose, Trial
from paribus.plan import precondition
from paribus.plan.data import creation_bytes
from paribus.plan.schedule.budget import extent
from paribus.plan.schedule.design import schedule
from paribus.registry import data_of
from paribus.units import LoadLevel

DIRECT = FILEIO + "direct = true\n"
SDB = {"/dev/sdb": BlockDevice(path="/dev/sdb", size_bytes=2**30, ids=("serial-b",))}
ALLOWED = '[target]\nmay_destroy = ["serial-b"]'


def _on_device(more: str) -> str:
    return f'[[workload]]\nkind = "fileio"\ndevice = "/dev/sdb"\ntotal_size = "1MiB"\n{more}\n'


def _plan(workload: str, factors: str = '"vm.swappiness" = [60, 1]', rest: str = "", **changed: object) -> Plan:
    return checked(simple(factors, workload, rest), **changed)


def _first(plan: Plan) -> list[Trial]:
    return [trial for trial in schedule(plan, "e", 2) if trial.purpose is Purpose.PRECONDITION]


def test_an_empty_table_takes_snia_s_values() -> None:
    wanted = _plan(DIRECT + "precondition = {}").workloads[0].precondition
    assert wanted == Precondition(fills=2, round_s=60.0, most_rounds=25, window=5, most_spread=0.2, most_drift=0.1)
    assert _plan(DIRECT).workloads[0].precondition is None


def test_preconditioning_comes_first_and_only_renumbers_other_trials() -> None:
    plain, plan = _plan(DIRECT), _plan(DIRECT + "precondition = {}")
    trials = schedule(plan, "e", 2)
    assert [trial.order for trial in trials] == list(range(1, len(trials) + 1))
    first, *others = trials
    assert (first.purpose, first.block, first.round, first.load) == (Purpose.PRECONDITION, 0, 0, LoadLevel(4))
    assert first.settings == plan.baseline
    assert [dataclasses.replace(trial, order=trial.order - 1) for trial in others] == list(schedule(plain, "e", 2))
    assert extent(plan, {}) == extent(plain, {})


def test_each_data_set_gets_its_own_and_only_one() -> None:
    two = "precondition = {}\ndirect = true\n"
    sizes = _plan(FILEIO.replace('total_size = "1MiB"', "") + two, '"fileio.total_size" = ["1MiB", "2MiB"]')
    assert sorted((t.arm, t.settings) for t in _first(sizes)) == [
        ("", {"fileio.total_size": 2**20}),
        ("fileio.total_size = 2MiB", {"fileio.total_size": 2**21}),
    ]
    blocks = _plan(FILEIO + two, '"fileio.block_size" = ["4KiB", "8KiB"]\n"vm.swappiness" = [60, 1]')
    (only,) = _first(blocks)
    assert only.settings == {"fileio.block_size": 4096, "vm.swappiness": 60}


def test_arms_with_other_data_are_preconditioned_at_the_baseline_of_every_knob() -> None:
    combined = '[[combination]]\nname = "c"\nsettings = { "vm.swappiness" = 1, "fileio.compressible" = 0.5 }'
    first = _first(_plan(DIRECT + "precondition = {}", "", combined))
    assert [trial.settings["vm.swappiness"] for trial in first] == [60, 60]
    assert {trial.settings.get("fileio.compressible") for trial in first} == {None, 0.5}


def test_workloads_on_one_device_share_what_was_done_to_it() -> None:
    both = _on_device('name = "a"\nprecondition = {}\ndirect = true')
    both += _on_device('name = "b"\nmode = "rndrd"\nprecondition = {}\ndirect = true')
    plan = _plan(both, rest=ALLOWED, block_devices=SDB)
    assert [trial.workload for trial in _first(plan)] in (["a"], ["b"])


def test_the_series_of_a_matrix_share_one_data_set_that_all_of_them_keep() -> None:
    matrix = '[[workload]]\nkind = "iomatrix"\ntotal_size = "8MiB"\ndirect = true\nthreads = [0, 2]\nlarge = [0, 1]\n'
    plan = checked(f'name = "n"\n{matrix}write_share = ["0%", "50%"]\nprecondition = {{}}')
    (only,) = _first(plan)
    assert only.load == LoadLevel(2)
    assert {workload.data for workload in plan.workloads} == {"keep"}
    assert all(data_of(workload, plan.baseline).written for workload in plan.workloads)
    assert [cost.workload for cost in precondition.costs(plan, schedule(plan, "e", 2))] == ["iomatrix"]
    with pytest.raises(PlanError, match="1 problem") as caught:
        checked(f'name = "n"\n{matrix}data = "round"\nprecondition = {{}}')
    assert "which undoes precondition" in str(caught.value)


def test_an_open_loop_is_preconditioned_with_all_it_may_have_under_way() -> None:
    table = DIRECT.replace("threads = [1, 4]", "rate = [100]\nthreads = [7]")
    assert _first(_plan(table + "precondition = {}"))[0].load == LoadLevel(7)


def test_data_is_kept_and_what_would_undo_it_is_a_problem() -> None:
    assert _plan(DIRECT).workloads[0].data == "round"
    assert _plan(DIRECT + "precondition = {}").workloads[0].data == "keep"


@pytest.mark.parametrize(
    ("workload", "factors", "told"),
    [
        (DIRECT + 'precondition = {}\ndata = "round"', "", "fileio.data: with 'round' the data is restored"),
        (DIRECT + 'precondition = {}\ndata = "application"', "", "remove data: preconditioned data is kept"),
        (FILEIO + 'precondition = {}\nengine = "null"', "", "there is nothing to precondition"),
        (DIRECT + "precondition = {}", '"fileio.engine" = ["sync", "null"]', "there is nothing to precondition"),
        (FILEIO + 'precondition = {}\nmode = "seqwr"', "", "seqwr empties its files"),
        (DIRECT + "precondition = { fils = 2 }", "", "did you mean 'fills'?"),
        (DIRECT + "precondition = { window = 1 }", "", "greater than or equal to 2"),
        (DIRECT + "precondition = { window = 9, most_rounds = 8 }", "", "window (9) is more than most_rounds (8)"),
        (DIRECT + 'precondition = { spread = "20" }', "", "less than 1"),
        (DIRECT + "precondition = true", "", "should be a table; write for example precondition = {}"),
    ],
)
def test_obstacles_to_preconditioning_are_reported(workload: str, factors: str, told: str) -> None:
    with pytest.raises(PlanError) as caught:
        _plan(workload, factors or '"vm.swappiness" = [60, 1]')
    assert told.removeprefix("fileio.") in str(caught.value), str(caught.value)


def test_another_workload_that_makes_its_data_on_the_same_device_is_told() -> None:
    own = _on_device('name = "a"\nprecondition = {}\ndirect = true')
    for other in ('name = "b"', 'name = "b"\ndata = "keep"\ncompressible = 0.5'):
        with pytest.raises(PlanError, match="b makes its own data on the same device"):
            _plan(own + _on_device(other), rest=ALLOWED, block_devices=SDB)
    for other in ('name = "b"\nmode = "rndrd"', 'name = "b"\ndata = "keep"'):
        assert len(_plan(own + _on_device(other), rest=ALLOWED, block_devices=SDB).workloads) == 2


def test_a_reading_workload_destroys_a_device_that_it_preconditions() -> None:
    reading = _on_device('mode = "rndrd"\ndirect = true')
    plan = _plan(reading, block_devices=SDB)
    assert not data_of(plan.workloads[0], plan.baseline).made
    with pytest.raises(PlanError, match="may_destroy"):
        _plan(reading + "precondition = {}", block_devices=SDB)
    plan = _plan(reading + "precondition = {}", rest=ALLOWED, block_devices=SDB)
    assert data_of(plan.workloads[0], plan.baseline).written
    assert creation_bytes(plan, schedule(plan, "e", 2)) == {"/dev/sdb": 2**20}


def test_cost_has_the_least_bytes_and_the_longest_time() -> None:
    plan = _plan(DIRECT + 'precondition = { fills = 3, round = "2s", most_rounds = 10 }')
    (cost,) = precondition.costs(plan, schedule(plan, "e", 2))
    assert cost == precondition.Cost("fileio", "", fills=3, least_bytes=3 * 2**20, most_s=20.0)


def test_the_page_cache_between_is_noted() -> None:
    def noted(workload: str, factors: str = '"vm.swappiness" = [60, 1]') -> bool:
        return any("through the page cache" in note for note in _plan(workload + "precondition = {}", factors).notes)

    assert noted(FILEIO)
    assert noted(FILEIO, '"fileio.direct" = [false, true]')
    assert not noted(FILEIO, '"fileio.direct" = [true, false]')
    assert not noted(FILEIO + 'sync_writes = "dsync"\n')
    assert not any("through the page cache" in note for note in _plan(FILEIO).notes)
