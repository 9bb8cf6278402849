"""Audits of real machines and servers: planted settings are found, measurements here count, and nothing is changed."""

import json
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import scripted
from command import Done, Filesystem
from others import LIVE, VARIABLE, Others

Paribus = Callable[..., Done]
PLANTED = {
    "mariadb": ("mysql.innodb_flush_log_at_trx_commit", "SET GLOBAL innodb_flush_log_at_trx_commit = 2"),
    "postgres": ("postgres.random_page_cost", "ALTER SYSTEM SET random_page_cost = 9"),
}
MANY = {  # statements by setting; the documentation of each server advises against the value
    "mariadb": {
        "mysql.innodb_flush_log_at_trx_commit": "SET GLOBAL innodb_flush_log_at_trx_commit = 0",
        "mysql.innodb_adaptive_hash_index": "SET GLOBAL innodb_adaptive_hash_index = ON",
        "mysql.innodb_change_buffering": "SET GLOBAL innodb_change_buffering = 'all'",
        "mysql.innodb_io_capacity_max": "SET GLOBAL innodb_io_capacity_max = 300",
    },
    "postgres": {
        "postgres.fsync": "ALTER SYSTEM SET fsync = off",
        "postgres.full_page_writes": "ALTER SYSTEM SET full_page_writes = off",
        "postgres.synchronous_commit": "ALTER SYSTEM SET synchronous_commit = off",
        "postgres.checkpoint_completion_target": "ALTER SYSTEM SET checkpoint_completion_target = 0.1",
        "postgres.autovacuum": "ALTER SYSTEM SET autovacuum = off",
        "postgres.track_counts": "ALTER SYSTEM SET track_counts = off",
    },
}
PASSWORDS = {"mariadb": "MYSQL_PWD", "postgres": "PGPASSWORD"}
RULES = """
[sources.handbook]
title = "Handbook"
author = "Our team"
url = "https://example.org/"
evidence = "advice"

[[rules]]
id = "handbook-iostats"
setting = "block.iostats"
when = "device_kind == 'loop'"
advised = [0]
reason = "A test wants it."
source = "handbook"

[[rules]]
id = "handbook-planted"
setting = "{planted}"
advised = [1]
reason = "A test wants it."
source = "handbook"

[[rules]]
id = "handbook-live"
setting = "{live}"
advised = [{value}]
reason = "A test wants it."
source = "handbook"
"""


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Write rules of a user."""

    def write(**names: str) -> None:
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
        folder = tmp_path / "config/paribus/audit"
        folder.mkdir(parents=True)
        (folder / "handbook.toml").write_text(RULES.format(**names))

    return write


def _items(document: dict[str, Any], setting: str) -> dict[str, dict[str, Any]]:
    """The advice about a setting, by rule."""
    (audited,) = [each for each in document["settings"] if each["advice"]["setting"] == setting]
    return {item["rule"]: item for item in audited["advice"]["items"]}


def _lines(document: dict[str, Any], setting: str, value: object) -> tuple[str, str]:
    """The lines that set an advised value and check it."""
    (audited,) = [each for each in document["settings"] if each["advice"]["setting"] == setting]
    (advised,) = [each for each in audited["values"] if each["value"] == value]
    return advised["set"], audited["check"]


def _audit(paribus: Paribus, others: Others, path: Path, *more: str) -> Done:
    done = paribus(
        "audit", "--path", str(path), "--database", others.dsn, *more, **{PASSWORDS[others.kind]: others.password}
    )
    assert done.code == 0, done.err
    return done


def _names(kind: str) -> dict[str, str]:
    """The settings of the user's rules: the planted one, and one with its value as it is."""
    family = "mysql" if kind == "mariadb" else "postgres"
    value = "200" if kind == "mariadb" else str(4 * 2**20)
    return {"planted": PLANTED[kind][0], "live": f"{family}.{LIVE[kind][0]}", "value": value}


@pytest.mark.gate
@pytest.mark.parametrize("others", ["mariadb"], indirect=True)
def test_planted_settings_of_disk_and_server_are_found_and_their_lines_set_them(
    paribus: Paribus, others: Others, filesystem: Filesystem, rules: Callable[..., None]
) -> None:
    rules(**_names(others.kind))
    point = filesystem("ext4")
    others.instance.query(PLANTED[others.kind][1])
    document = _audit(paribus, others, point, "--json").json

    iostats = _items(document, "block.iostats")["handbook-iostats"]
    assert (iostats["status"], iostats["value"]) == ("differs", 0)
    planted = _items(document, PLANTED[others.kind][0])
    assert planted["handbook-planted"]["status"] == "differs"
    assert _items(document, "mysql.innodb_io_capacity")["handbook-live"]["status"] == "agrees"
    assert others.password not in json.dumps(document)

    set_line, check_line = _lines(document, "block.iostats", 0)
    subprocess.run(["sh", "-c", set_line], check=True)
    assert subprocess.run(["sh", "-c", check_line], check=True, capture_output=True).stdout.strip() == b"0"
    others.instance.query(_lines(document, PLANTED[others.kind][0], 1)[0].rstrip(";"))
    document = _audit(paribus, others, point, "--json").json
    assert _items(document, "block.iostats")["handbook-iostats"]["status"] == "agrees"
    assert _items(document, PLANTED[others.kind][0])["handbook-planted"]["status"] == "agrees"


def _differing(document: dict[str, Any]) -> set[str]:
    return {each["advice"]["setting"] for each in document["settings"] if each["advice"]["status"] == "differs"}


def test_planted_settings_are_all_found_and_no_others(paribus: Paribus, others: Others, place: Path) -> None:
    before = _differing(_audit(paribus, others, place, "--json").json)
    for statement in MANY[others.kind].values():
        others.instance.query(statement)
    if others.kind == "postgres":
        others.instance.query("SELECT pg_reload_conf()")
    after = _differing(_audit(paribus, others, place, "--json").json)
    assert after - before == MANY[others.kind].keys()
    assert not before - after


def test_a_plan_of_what_differs_can_be_run(
    paribus: Paribus, others: Others, place: Path, tmp_path: Path, rules: Callable[..., None]
) -> None:
    rules(**_names(others.kind))
    others.instance.query(PLANTED[others.kind][1])
    if others.kind == "postgres":
        others.instance.query("SELECT pg_reload_conf()")
    text = _audit(paribus, others, place / "data", "--plan").out
    assert PLANTED[others.kind][0] in tomllib.loads(text)["factors"]
    assert tomllib.loads(text)["target"]["path"] == str(place / "data")
    plan = tmp_path / "plan.toml"
    plan.write_text(text)
    done = paribus("check", str(plan), "--no-trials")
    assert done.code == 0, done.err


def test_an_experiment_here_contradicts_advice(
    paribus: Paribus, others: Others, tmp_path: Path, rules: Callable[..., None]
) -> None:
    names = _names(others.kind)
    rules(**names)
    _, before, better = LIVE[others.kind]
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f'name = "live"\n[target]\npath = "{tmp_path}"\nallow_live = true\n[database]\nkind = "{others.kind}"\n'
        f'dsn = "{others.dsn}"\npassword_env = "{VARIABLE}"\n[factors]\n"{names["live"]}" = [{before!r}, {better!r}]\n'
        '[[workload]]\nkind = "oltp_update_index"\ntable_size = 2000\nthreads = [2]\n'
        '[protocol]\ntrial = "150ms"\nsettle = "50ms"\nrounds = 2\nplacebo = false\n'
    )
    experiment = scripted.experiment_here(plan.read_text())

    shown = _audit(paribus, others, tmp_path)
    assert "contradicted by a measurement here: 1" in shown.out
    item = _items(_audit(paribus, others, tmp_path, "--json").json, names["live"])["handbook-live"]
    assert item["status"] == "contradicted by a measurement here"
    assert experiment in item["measured"][0] and "better" in item["measured"][0]


def test_an_audit_is_a_page_a_table_and_a_text_in_two_languages(
    paribus: Paribus, place: Path, tmp_path: Path, rules: Callable[..., None]
) -> None:
    path, page = str(place), tmp_path / "audit.html"
    swappiness = int(Path("/proc/sys/vm/swappiness").read_text())
    rules(planted="vm.overcommit_memory", live="vm.swappiness", value=str(swappiness + 1))
    assert paribus("audit", "--path", path, "-o", str(page)).code == 0
    html = page.read_text()
    assert "<h1>Audit of " in html and "<script" not in html and "vm.swappiness" in html
    table = paribus("audit", "--path", path, "--format", "markdown").out.splitlines()
    assert table[0] == "| setting | now | advised | by | to set | to check |"
    assert any(line.startswith(f"| vm.swappiness | {swappiness} | {swappiness + 1} |") for line in table)
    assert paribus("audit", "--path", path, "--fail-on", "differs").code == 1
    chinese = paribus("audit", "--path", path, "--lang", "zh").out
    assert "没有更改任何内容" in chinese and "differs" not in chinese


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--database", "postgres://postgres@localhost/?socket=/nowhere"], "cannot connect"),
        (["--database", "mysql://root:secret@localhost/"], "must not hold a password"),
        (["--path", "/nowhere/at/all"], "/nowhere/at/all"),
        (["--plan", "--json"], "--plan prints a plan"),
        (["--fail-on", "worse"], "--fail-on 'worse' is no condition"),
        (["--config", "/etc/my.cnf"], "--config needs --server"),
    ],
)
def test_wrong_arguments_are_refused_with_the_cause(paribus: Paribus, arguments: list[str], message: str) -> None:
    done = paribus("audit", *arguments)
    assert done.code != 0
    assert message in done.err
    assert "Traceback" not in done.err
