"""A variable that was better is set on a server that others use, stays, and is taken back."""

import json
from pathlib import Path

import scripted
from others import LIVE, VARIABLE, Others
from test_running_server import plan

from paribus.lab.machine.inspection import checked, site_of
from paribus.plan.form.parse import parse
from paribus.store.open import open_engine, store_url

assert plan
AUTO = "db/data/postgresql.auto.conf"


def _told(text: str) -> str:
    """An experiment on that server, as its plan is checked there, in which the second value was better."""
    parsed = parse("plan.toml", text, {})
    with site_of(parsed) as site:
        ready, facts = checked(site, parsed)
    store = open_engine(store_url(None), create=True)
    found = scripted.carry_out(store, ready, lambda trial: 0.0 if trial.baseline else 0.06, facts.fingerprint)
    store.dispose()
    return found.id


def test_a_variable_that_is_better_is_set_stays_and_is_taken_back(paribus, others: Others, plan) -> None:
    name, before, wanted = LIVE[others.kind]
    told = _told(Path(plan()).read_text())
    shown = paribus("apply", told, "--dry-run")
    assert shown.code == 0, shown.err
    assert f"{name}: now {before}, then {wanted}" in shown.out
    assert ("[mysqld]" if others.kind == "mariadb" else "ALTER SYSTEM SET work_mem") in shown.out
    assert others.is_as_before()

    done = paribus("apply", told, "--yes")
    assert done.code == 0, done.err
    assert others.value == str(wanted)
    assert f"{name} is {wanted}, was {before}" in done.out
    lasts = {"mariadb": "until the next start of the server", "postgres": "beyond the next start of the server"}
    assert lasts[others.kind] in done.out
    if others.kind == "postgres":
        assert f"work_mem = '{wanted}'" in (others.folder / AUTO).read_text()
    changes = paribus("status", "--json").json["open_changes"]
    assert {(one["experiment"], one["applied"]) for one in changes} == {(told, True)}
    assert others.password not in done.out + done.err + json.dumps(changes)
    assert f"is {wanted} already" in paribus("apply", told).out

    undone = paribus("undo")
    assert undone.code == 0, undone.err
    assert others.is_as_before()
    assert paribus("undo").out.startswith("no setting is changed")


def test_a_server_that_lets_nobody_in_is_left_as_it_is(paribus, others: Others, plan) -> None:
    told = _told(Path(plan()).read_text())
    refused = paribus("apply", told, "--yes", **{VARIABLE: "wrong"})
    assert refused.code != 0
    assert "this machine refuses settings" in refused.err
    assert "wrong" not in refused.err.replace("what was wrong", "")
    assert others.is_as_before()
    assert paribus("status", "--json").json["open_changes"] == []
