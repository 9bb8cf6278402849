"""A plan's database: what it needs, whose its settings are, and what they change."""

import dataclasses
import math

import pytest
from plan_samples import FILEIO, checked, facts, offer, parsed, simple

from paribus.errors import PlanError
from paribus.knobs.catalog import load
from paribus.model import Database, DatabaseFacts, Plan, Refusal
from paribus.plan.check import check
from paribus.plan.schedule.budget import block_s
from paribus.plan.schedule.comparisons import candidates
from paribus.registry import data_of
from paribus.workloads.jobs import job

SQLITE = '[database]\nkind = "sqlite"\n'
OLTP = '[[workload]]\nkind = "oltp_read_write"\ntable_size = 1000\nthreads = [1, 4]\n'
OFFERED = {
    f"sqlite.{name}": offer(f"sqlite.{name}", "default", allowed)
    for name, allowed in {
        "journal_mode": ("default", "delete", "wal", "off"),
        "page_size": ("default", 4096, 8192),
        "mmap_size": (),
        "secure_delete": (),
    }.items()
}


def _plan(factors: str, workloads: str = OLTP, database: str = SQLITE) -> Plan:
    return checked(simple(factors, workloads, database), offers=OFFERED)


def test_a_setting_of_the_database_becomes_a_pragma_of_the_job() -> None:
    plan = _plan('"sqlite.journal_mode" = ["delete", "wal"]\n"sqlite.mmap_size" = [0, "64MiB"]')
    (workload,) = plan.workloads
    made = [
        job(workload, arm.settings, "/d", "run").workload.database.pragmas  # type: ignore[union-attr]
        for one in candidates(plan)
        for arm in one.arms
    ]
    assert made == [
        {"journal_mode": "delete", "mmap_size": "0"},
        {"journal_mode": "wal", "mmap_size": "0"},
        {"journal_mode": "delete", "mmap_size": "0"},
        {"journal_mode": "delete", "mmap_size": "67108864"},
    ]


def test_default_level_sets_no_pragma() -> None:
    plan = _plan('"sqlite.journal_mode" = ["default", "wal"]')
    assert job(plan.workloads[0], plan.baseline, "/d", "run").workload.database.pragmas == {}  # type: ignore[union-attr]


def test_a_level_that_loses_something_in_a_crash_is_noted_and_a_safe_one_is_not() -> None:
    safe = _plan('"sqlite.journal_mode" = ["delete", "wal"]')
    assert not [note for note in safe.notes if "safety" in note]
    plan = _plan('"sqlite.journal_mode" = ["delete", "wal", "off"]')
    [note] = [str(note) for note in plan.notes if "safety" in note]
    assert note.startswith("sqlite.journal_mode = off trades safety for speed: a crash in the middle of a transaction")


def test_settings_in_the_databases_own_table_are_held() -> None:
    held = f"{SQLITE}[database.settings]\nsecure_delete = 1\n"
    plan = _plan('"sqlite.journal_mode" = ["delete", "wal"]', database=held)
    assert plan.hold == {"sqlite.secure_delete": 1}


def test_levels_fixed_in_the_data_get_separate_data() -> None:
    plan = _plan('"sqlite.page_size" = [4096, 8192]\n"sqlite.journal_mode" = ["delete", "wal"]')
    shapes = {
        one.factor: len({data_of(plan.workloads[0], arm.settings).shape for arm in one.arms})
        for one in candidates(plan)
    }
    assert shapes == {"sqlite.page_size": 2, "sqlite.journal_mode": 1}


def test_a_databases_setting_is_tried_under_workloads_on_it_alone() -> None:
    plan = _plan('"sqlite.journal_mode" = ["delete", "wal"]', FILEIO + OLTP)
    assert plan.factors[0].scope == ("oltp_read_write",)


def test_statements_of_a_transaction_are_compared_by_queries_at_the_declared_margin() -> None:
    protocol = '[protocol]\nmargin = "5%"\n'
    plan = _plan('"oltp_read_write.point_selects" = [10, 1]', database=SQLITE + protocol)
    assert plan.workloads[0].response == "queries_per_s"
    assert plan.protocol.margins["queries_per_s"] == pytest.approx(math.log(1.05))


@pytest.mark.parametrize(
    ("factors", "workloads", "database", "words"),
    [
        ('"oltp_read_write.skip_trx" = [false, true]', OLTP, "", "works on a database, and the plan has none"),
        ('"sqlite.journal_mode" = ["delete", "wal"]', FILEIO, "", "the plan has no sqlite database"),
        ('"sqlite.journal_mode" = ["delete", "wall"]', OLTP, SQLITE, "'wall'"),
        ('"sqlite.mmap_size" = [0, "much"]', OLTP, SQLITE, "much"),
        (
            '"sqlite.journal_mode" = ["delete", "wal"]',
            OLTP + "precondition = {}\n",
            SQLITE,
            "applies to files and devices only",
        ),
        (
            '"sqlite.journal_mode" = ["delete", "wal"]',
            OLTP,
            f'{SQLITE}[database.settings]\nmmap_size = "x"\n',
            "'x'",
        ),
    ],
)
def test_mismatch_of_plan_and_database_is_refused(factors: str, workloads: str, database: str, words: str) -> None:
    with pytest.raises(PlanError) as refused:
        _plan(factors, workloads, database)
    assert words in str(refused.value)


def test_a_factor_of_a_database_that_no_workload_uses_is_refused_with_the_workloads_there_are() -> None:
    tool = '[[workload]]\nkind = "sysbench"\ntest = "oltp_read_write"\n'
    for scope in ("", '[factor_scope]\n"sqlite.journal_mode" = ["sysbench"]\n'):
        with pytest.raises(PlanError) as caught:
            _plan('"sqlite.journal_mode" = ["delete", "wal"]', FILEIO + tool, SQLITE + scope)
        (problem,) = caught.value.problems
        assert problem.location == 'line 3, factors."sqlite.journal_mode"'
        assert problem.message == "no workload uses the plan's database; there are: fileio, sysbench"
        assert "kind is one of oltp_" in problem.hint
        assert "tpcc; a tool (sysbench) cannot use SQLite's file" in problem.hint


@pytest.mark.parametrize(
    ("tables", "location"),
    [
        (f'{SQLITE}[hold]\n"sqlite.mmap_size" = 0\n', 'hold."sqlite.mmap_size"'),
        (f"{SQLITE}[database.settings]\nmmap_size = 0\n", "database.settings.mmap_size"),
        (
            f'{SQLITE}[[combination]]\nname = "all"\nsettings = {{ "sqlite.mmap_size" = 0 }}\n',
            'combination[0].settings."sqlite.mmap_size"',
        ),
    ],
)
def test_a_held_setting_of_a_database_that_no_workload_uses_is_refused(tables: str, location: str) -> None:
    with pytest.raises(PlanError) as caught:
        _plan('"vm.swappiness" = [60, 1]', FILEIO, tables)
    (problem,) = caught.value.problems
    assert problem.location.endswith(location)
    assert problem.message == "no workload uses the plan's database; there are: fileio"
    assert problem.hint.startswith("remove the setting, or add a [[workload]] whose kind is one of oltp_")


def test_a_refused_server_is_reported_with_one_piece_of_advice() -> None:
    refused = DatabaseFacts(refusal=Refusal("local has no mysql server", "install it, or set database.program"))
    with pytest.raises(PlanError) as caught:
        checked(simple('"vm.swappiness" = [60, 1]', OLTP, '[database]\nkind = "mysql"\n'), database=refused)
    (problem,) = caught.value.problems
    assert (problem.message, problem.hint) == ("local has no mysql server", "install it, or set database.program")


POSTGRES = '[database]\nkind = "postgres"\n'
CONDITIONS = '"process.numa" = ["default", "interleave"]'


def _conditioned(factors: str, database: str, workloads: str = OLTP) -> Plan:
    subject = "server" if database == POSTGRES else "load"
    catalogue = load().with_subject(subject)
    return check(parsed(simple(factors, workloads, database)), catalogue, facts())


def test_a_condition_without_a_subject_is_for_the_server_where_there_is_one() -> None:
    of_server = _conditioned(CONDITIONS, POSTGRES, FILEIO + OLTP)
    assert (of_server.factors[0].key, of_server.factors[0].scope) == ("process.server.numa", ("oltp_read_write",))
    assert "process.numa means process.server.numa" in of_server.notes[0]
    of_load = _conditioned(CONDITIONS, SQLITE, FILEIO + OLTP)
    assert (of_load.factors[0].key, len(of_load.factors[0].scope)) == ("process.load.numa", 2)
    both = _conditioned(f'{CONDITIONS}\n"process.load.numa" = ["default", "local"]', POSTGRES)
    assert [factor.key for factor in both.factors] == ["process.server.numa", "process.load.numa"]


@pytest.mark.parametrize(
    ("database", "words"),
    [
        ("", "process.server.cpus is for a private server, and the plan has none"),
        (SQLITE, "process.server.cpus is for a private server, and the plan has none"),
        ('[database]\nkind = "mysql"\ndsn = "mysql://u@db1/"\n', "the server in use by others is not restarted"),
    ],
)
def test_a_condition_of_a_server_needs_one_that_is_started(database: str, words: str) -> None:
    with pytest.raises(PlanError, match=words) as refused:
        _conditioned('"process.server.cpus" = ["0", "1"]', database, OLTP if database else FILEIO)
    assert "write process.load.cpus" in str(refused.value)


def test_starts_of_a_private_server_are_planned_for() -> None:
    plan = _plan('"sqlite.journal_mode" = ["delete", "wal"]')
    (one,) = candidates(plan)
    costs = [
        block_s(one, dataclasses.replace(plan, database=Database(kind="mariadb", restart_every=every)))
        for every in (0, 4, 8)
    ]
    assert costs[1] > costs[0]
    assert costs[1] - costs[0] == pytest.approx(2 * (costs[2] - costs[0]))
    assert block_s(one, plan) == costs[0]
