"""Plans of `paribus try`: levels, defaults, the text, and errors in words of the command line."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from paribus.databases.server.kind import DatabaseKind, Program, database_kinds
from paribus.errors import DatabaseError, PlanError, UsageError
from paribus.lab.machine.own_knobs import rows_for
from paribus.lab.plans.short_plan import ShortPlan, parsed_short_plan, printed

NO_OVERRIDES: Mapping[str, str] = {}


def _document(*settings: str, overrides: Mapping[str, str] = NO_OVERRIDES, **options: str) -> dict[str, Any]:
    return tomllib.loads(printed(parsed_short_plan(ShortPlan(settings=settings, **options), overrides)))


def _refusal(*settings: str, overrides: Mapping[str, str] = NO_OVERRIDES, **options: str) -> str:
    with pytest.raises(UsageError) as refused:
        _document(*settings, overrides=overrides, **options)
    return str(refused.value)


@pytest.mark.parametrize(
    ("written", "levels"),
    [
        ("200,2000", [200, 2000]),
        (" 10 , -1 ", [10, -1]),
        ("0.5,1e3", [0.5, 1000.0]),
        ("true,false", [True, False]),
        ("on,off", ["on", "off"]),
        ("none,mq-deadline,bfq", ["none", "mq-deadline", "bfq"]),
        ("20%,256MiB", ["20%", "256MiB"]),
        ("current,0-3", ["current", "0-3"]),
        ("007,1.2.3", ["007", "1.2.3"]),
        ("inf,nan", ["inf", "nan"]),
        ("2026-01-02,07:32:00", ["2026-01-02", "07:32:00"]),
        ("\"4\",'x'", ["4", "x"]),
        ("1 # a,#", ["1 # a", "#"]),
        ('a"b,a\\b', ['a"b', "a\\b"]),
        (f"{'9' * 5000},1", ["9" * 5000, 1]),
    ],
)
def test_levels_have_the_types_of_toml(written: str, levels: list[object]) -> None:
    factors = _document(f"own.knob={written}")["factors"]
    assert factors == {"own.knob": levels}
    assert [type(level) for level in factors["own.knob"]] == [type(level) for level in levels]


def test_the_text_is_a_plan_with_comments() -> None:
    options = ShortPlan(
        settings=["block.scheduler=none,bfq", "vm.dirty_ratio=20,5"],
        threads="4,16",
        path="/data",
        device="/dev/sdb",
        margin="3%",
        trial="2s",
        budget="20min",
    )
    assert printed(parsed_short_plan(options, {"limits.temperature": "80"})) == (
        "# Made by paribus try. Saved to a file and edited, it is run with: paribus run FILE\n"
        'name     = "block.scheduler+vm.dirty_ratio"\n'
        'question = "Which levels of block.scheduler and vm.dirty_ratio are best?"\n'
        "\n"
        "[target]\n"
        'path   = "/data"     # the folder under which data is made, in paribus-data/\n'
        'device = "/dev/sdb"  # the disk that block.* knobs address\n'
        "\n"
        "[factors]  # each setting with its levels; the first is the baseline\n"
        '"block.scheduler" = ["none", "bfq"]\n'
        '"vm.dirty_ratio"  = [20, 5]\n'
        "\n"
        "[[workload]]\n"
        'kind    = "fileio"\n'
        "threads = [4, 16]  # load levels: operations outstanding at once\n"
        "\n"
        "[protocol]  # every key has a default\n"
        'margin = "3%"     # what is too small to matter\n'
        'trial  = "2s"     # measured time of a trial\n'
        'budget = "20min"  # machine time for the experiment\n'
        "\n"
        "[limits]\n"
        "temperature = 80\n"
    )


def test_a_lone_setting_is_the_name_and_the_question() -> None:
    document = _document("vm.dirty_ratio=20,5")
    assert (document["name"], document["question"]) == ("vm.dirty_ratio", "Which vm.dirty_ratio is best?")


@pytest.mark.parametrize("keys", [["a" * 200], [f"knob.{'a' * 60}{number}" for number in range(3)]])
def test_a_long_name_is_cut(keys: list[str]) -> None:
    document = _document(*(f"{key}=1,2" for key in keys))
    assert len(document["name"]) <= 80
    assert list(document["factors"]) == keys


@pytest.mark.parametrize(
    ("settings", "options", "workload", "database"),
    [
        (["vm.dirty_ratio=20,5"], {}, "fileio", None),
        (["postgres.fsync=on,off"], {}, "oltp_read_write", "postgres"),
        (["vm.dirty_ratio=20,5", "sqlite.synchronous=full,off"], {}, "oltp_read_write", "sqlite"),
        (["mariadb.a=1,2", "mysql.b=1,2"], {}, "oltp_read_write", "mariadb"),
        (["percona.a=1,2"], {}, "oltp_read_write", "percona"),
        (["mysql.a=1,2"], {"database": "percona"}, "oltp_read_write", "percona"),
        (["postgres.fsync=on,off"], {"workload": "tpcc"}, "tpcc", "postgres"),
        (["tpcc.warehouses=1,2"], {"database": "sqlite"}, "tpcc", "sqlite"),
        (["fileio.direct=false,true"], {}, "fileio", None),
        (["vm.dirty_ratio=20,5"], {"database": "sqlite"}, "oltp_read_write", "sqlite"),
    ],
)
def test_settings_decide_the_load_and_the_server(
    settings: list[str], options: dict[str, str], workload: str, database: str | None
) -> None:
    document = _document(*settings, **options)
    assert document["workload"] == [{"kind": workload, "threads": [1]}]
    assert document.get("database", {}).get("kind") == database


@pytest.mark.parametrize(
    ("installed", "overrides", "kind"),
    [
        ("mysql", {}, "mysql"),
        ("percona", {}, "percona"),
        ("", {}, "mariadb"),
        ("mysql", {"target.host": "ssh://db1"}, "mariadb"),
    ],
)
def test_mysql_is_the_server_of_its_family_that_is_installed(
    installed: str, overrides: dict[str, str], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(server: DatabaseKind, *_: object) -> Program:
        if server.name != installed:
            raise DatabaseError("there is none")
        return Program("/usr/sbin/mysqld", "8.4.0")

    monkeypatch.setattr(type(database_kinds.get("mysql")), "find", find)
    assert _document("mysql.a=1,2", overrides=overrides)["database"]["kind"] == kind


def test_overrides_are_part_of_the_text() -> None:
    overrides = {"workload.0.total_size": "1MiB", "protocol.rounds": "2", "hold": "{'vm.swappiness' = 1}"}
    parsed = parsed_short_plan(ShortPlan(settings=["fileio.direct=false,true"]), overrides)
    document = tomllib.loads(parsed.text)
    assert document["workload"][0]["total_size"] == "1MiB"
    assert document["protocol"] == {"rounds": 2}
    assert document["hold"] == {"vm.swappiness": 1}
    assert parsed.overrides == {}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["vm.dirty_ratio"], "'vm.dirty_ratio' is no setting with levels\n  write for example vm.dirty_ratio=20,5"),
        (["=1,2"], "'=1,2' is no setting with levels"),
        (["a.toml"], "a.toml is no setting\n  if it is a plan, run it with: paribus run a.toml"),
        (["vm.dirty_ratio=20"], "vm.dirty_ratio has one level, '20', and needs two levels or more"),
        (["vm.dirty_ratio="], "vm.dirty_ratio has an empty level in ''"),
        (["vm.dirty_ratio=1,,2"], "vm.dirty_ratio has an empty level in '1,,2'"),
        (["layout=a,b"], "the levels of layout are tables"),
        (["a.b=[1,2],3"], "a.b has a level with a comma or a list in '[1,2],3'"),
        (["a.b='x=1,y=2',z"], "a.b has a level with a comma or a list in"),
        (["a.b=1,2", "a.b=3,4"], "a.b is there twice"),
        (["mysql.a=1,2", "postgres.b=1,2"], "mysql and postgres are different servers"),
        (["a.b=1,\x1b"], "'a.b=1,\\x1b' has characters that cannot be printed"),
        (["a.b=1,\udcff"], "has characters that cannot be printed"),
    ],
)
def test_a_wrong_setting_is_refused_with_its_name(settings: list[str], message: str) -> None:
    assert message in _refusal(*settings)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threads": "1,x"}, "  --threads: should be a valid integer (it is 'x')"),
        ({"threads": "1,"}, "--threads has an empty level in '1,'"),
        ({"margin": "wide"}, "  --margin: 'wide' is not a percentage"),
        ({"trial": "long"}, "  --trial: "),
        ({"budget": "long"}, "  --budget: "),
        ({"workload": "filio"}, "  --workload: 'filio' is not one of"),
        ({"database": "oracle"}, "  --database: 'oracle' is not one of"),
        ({"database": "oracle", "workload": "tpcc"}, "  --database: 'oracle' is not one of"),
        ({"workload": "tpcc"}, "tpcc works on a database, and none is named\n  add for example: --database sqlite"),
        ({"path": "\udcff"}, "'\\udcff' is not UTF-8 text"),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, str], message: str) -> None:
    refusal = _refusal("vm.dirty_ratio=20,5", **options)
    assert message in refusal
    assert "line" not in refusal


@pytest.mark.parametrize(
    "overrides",
    [{"target": "3"}, {"database": "3"}, {"workload": "[]"}, {"factors": "3"}, {"workload.0.kind": "3"}, {"a b": "1"}],
)
def test_a_wrong_override_is_a_problem_of_the_plan(overrides: dict[str, str]) -> None:
    assert _refusal("vm.dirty_ratio=20,5", overrides=overrides).startswith("try: 1 problem; nothing was touched\n")


def test_problems_of_form_wait_for_the_check_of_the_machine() -> None:
    parsed = parsed_short_plan(ShortPlan(settings=["vm.dirty_ratio=20,5"], margin="wide"), {})
    assert [str(problem) for problem in parsed.problems] == ["--margin: 'wide' is not a percentage such as '2%'"]
    assert parsed.problem(("factors", "vm.dirty_ratio", 1), "wrong").location == "vm.dirty_ratio"
    assert parsed.problem(("workload", 0, "mode"), "wrong").location == "workload[0].mode"
    with pytest.raises(PlanError):
        printed(parsed)


def test_knobs_of_your_own_are_those_of_this_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "knobs").mkdir()
    row = '["own.knob"]\nget = ["a"]\nset = ["a", "{value}"]\npattern = "(.*)"\nlevels = ["x", "y"]\nsummary = "any"\n'
    (tmp_path / "knobs" / "own.toml").write_text(row, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    parsed = parsed_short_plan(ShortPlan(settings=["own.knob=x,y"]), {})
    assert "own.knob" in [knob.name for knob in rows_for(parsed).knobs]
