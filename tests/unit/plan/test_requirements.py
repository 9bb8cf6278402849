"""Requirements of a plan's arms for acting, and the notes on them."""

import dataclasses

from plan_samples import FILEIO, OFFERS, checked, facts, offer, simple

from paribus.databases.server import catalogue_rows
from paribus.databases.server.variable import ServerVariable, TakesEffect
from paribus.model import DatabaseFacts, Requirement

DIRECT = '[[workload]]\nkind = "fileio"\ntotal_size = "1MiB"\nthreads = [1, 4]\ndirect = true\n'
DIRTY = '"vm.dirty" = ["20%", "10%"]'
LARGE = FILEIO.replace("1MiB", "1GiB")
TWO = DIRECT + DIRECT.replace("direct = true", 'name = "other"\ncache = "cold"')


def _requirements(text: str, **changed: object) -> list[Requirement]:
    return list(checked(text, **changed).requirements)


def test_a_plan_says_which_setting_cannot_act_under_which_workload() -> None:
    plan = checked(simple('"block.read_ahead_kb" = [128, 0, 64]', TWO))
    (note,) = [note for note in plan.notes if "cannot act" in note]
    assert note == (
        "block.read_ahead_kb cannot act under fileio: it needs buffered reads, and fileio.direct = true; "
        "set fileio.direct = false, or remove block.read_ahead_kb"
    )
    excluded = {(need.workload, need.arm): need.obstacle.format(**need.values) for need in plan.requirements}
    assert excluded == {
        ("fileio", "0"): "fileio.direct = true",
        ("fileio", "64"): "fileio.direct = true",
        ("other", "0"): "",
        ("other", "64"): "",
    }


def test_a_mechanism_of_one_arm_is_enough() -> None:
    """A combination that turns direct I/O off as well is not excluded by the direct I/O of the baseline."""
    combination = (
        '[[combination]]\nname = "c"\n[combination.settings]\n"block.read_ahead_kb" = 0\n"fileio.direct" = false\n'
    )
    assert not _requirements(f'name = "n"\n{combination}\n{DIRECT}')  # what a workload parameter needs is unknown
    both = '[[combination]]\nname = "c"\n[combination.settings]\n"block.read_ahead_kb" = 0\n"vm.swappiness" = 1\n'
    found_knobs = {(need.knob, need.obstacle != "") for need in _requirements(f'name = "n"\n{both}\n{DIRECT}')}
    assert found_knobs == {("block.read_ahead_kb", True), ("vm.swappiness", False)}


def test_a_screened_factor_is_excluded_only_if_it_is_at_every_level_of_the_others() -> None:
    variables = {
        f"mysql.{name}": catalogue_rows.offer(
            "mysql", "mariadb 11", ServerVariable(name=name, value=value, default=value, kind=kind, takes_effect=effect)
        )
        for name, value, kind, effect in (
            ("log_bin", "OFF", "bool", TakesEffect.RESTART),
            ("sync_binlog", "0", "int", TakesEffect.LIVE),
        )
    }
    rows = tuple(each.knob for each in variables.values())
    server = DatabaseFacts(name="mariadb 11", rows=rows, in_force={"log_bin": "OFF", "sync_binlog": 0})
    text = '"mysql.log_bin" = ["OFF", "ON"]\n"mysql.sync_binlog" = [0, 1]'
    load = '[[workload]]\nkind = "oltp_insert"\nthreads = [1]\n[database]\nkind = "mariadb"\n'
    for design, excluded in (("screen", False), ("one-at-a-time", True)):
        plan = simple(text, load, f'[protocol]\ndesign = "{design}"')
        needs = _requirements(plan, offers=variables, database=server)
        (need,) = [need for need in needs if need.mechanism == "binary log writes"]
        assert bool(need.obstacle) is excluded


def test_limits_of_dirty_memory_have_a_threshold_and_a_caveat() -> None:
    needs = _requirements(simple(DIRTY, LARGE))
    (limit,) = [need for need in needs if need.mechanism == "dirty memory near the limit"]
    assert limit.threshold == 0.05
    assert round(limit.least_bytes) == round(0.05 * 2**33)
    (note,) = [note for note in checked(simple(DIRTY, LARGE)).notes if "must write" in note]
    need = "under fileio a trial must write at least 410 MiB to show an effect of vm.dirty"
    assert note == f"{need}; trials become that long if the budget holds them"
    for chosen in ('trial = "60s"', "rounds = 2"):
        plan = checked(simple(DIRTY, LARGE, f"[protocol]\n{chosen}"))
        assert need in plan.notes
    direct = checked(simple(DIRTY, LARGE + 'mode = "rndrd"\n'))
    assert not [note for note in direct.notes if "must write" in note]
    (small,) = [note for note in checked(simple(DIRTY)).notes if "vm.dirty" in note]
    assert small == (
        "vm.dirty can hardly act under fileio: it needs dirty memory near the limit, and fileio has data of 1 MiB; "
        "use data of more than 410 MiB, or remove vm.dirty"
    )


def test_a_machine_without_swap_is_known_before_the_first_trial() -> None:
    (note,) = [note for note in checked(simple('"vm.swappiness" = [60, 1]'), swap_bytes=0).notes if "swap" in note]
    assert "the machine has no swap space" in note
    unnamed = {**OFFERS, "vm.max_map_count": offer("vm.max_map_count", 65530)}
    assert not _requirements(simple('"vm.max_map_count" = [65530, 262144]'), offers=unnamed)
    assert dataclasses.replace(facts(), swap_bytes=0).swap_bytes == 0
