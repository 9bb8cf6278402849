"""Stores and reports where other users can make files."""

import contextlib
import os
import sqlite3
import stat
from pathlib import Path

import pytest
from command import RUN_ENDED, Running

NOBODY = 65534


@pytest.mark.parametrize("suffix", ["", "-wal", "-journal"])
def test_a_store_that_another_user_prepared_is_not_opened(paribus, tmp_path: Path, as_root, suffix: str) -> None:
    secret, shared = tmp_path / "secret", tmp_path / "shared"
    secret.write_text("")
    shared.mkdir()  # only ours by now
    planted = shared / f"paribus.db{suffix}"
    planted.symlink_to(secret)
    os.lchown(planted, NOBODY, NOBODY)
    for verb in (("run", "examples/first.toml"), ("import", "tests"), ("status",)):
        done = paribus(*verb, "--store", str(shared / "paribus.db"))
        if verb == ("status",) and suffix:
            continue  # without a store there is nothing to open
        assert done.code == 3, done
        assert f"{planted} belongs to nobody" in done.err
    assert secret.read_text() == ""


def test_a_store_in_a_folder_that_all_users_can_write_is_not_made(paribus, plan, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    done = paribus("run", plan(), "--store", str(shared / "paribus.db"))
    assert (done.code, f"{shared} can be written by all users" in done.err) == (3, True), done
    assert not list(shared.iterdir())


def test_nobody_else_can_lock_a_store_and_who_locks_it_is_named(paribus, plan, tmp_path: Path) -> None:
    store = tmp_path / "paribus.db"
    assert paribus("run", plan(), "--store", str(store)).code in (0, 3)
    store.chmod(0o644)  # as an earlier release made it
    with contextlib.closing(sqlite3.connect(store, isolation_level=None)) as other:
        other.execute("SELECT count(*) FROM trial").fetchone()
        assert paribus("status", "--store", str(store)).code == 0
        assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.glob("paribus.db*")} == {0o600}
        other.execute("BEGIN IMMEDIATE")
        done = paribus("run", plan(), "--store", str(store))
        assert done.code == 3
        assert f"process {os.getpid()} (" in done.err


def test_a_report_does_not_go_where_the_link_of_another_user_leads(paribus, plan, tmp_path: Path, as_root) -> None:
    assert paribus("run", plan()).code in (0, 3)
    secret, report = tmp_path / "secret", tmp_path / "report.html"
    secret.write_text("secret")
    report.symlink_to(secret)
    os.lchown(report, NOBODY, NOBODY)
    done = paribus("report", "last", "-o", str(report))
    assert (done.code, "it is a link that nobody made" in done.err) == (3, True), done
    assert secret.read_text() == "secret"


def test_a_store_that_another_program_locks_for_a_while_is_waited_for(paribus, plan, tmp_path: Path) -> None:
    running = Running("run", plan())
    running.wait_for("trial ")
    with contextlib.closing(sqlite3.connect(tmp_path / "paribus.db", isolation_level=None)) as other:
        other.execute("PRAGMA busy_timeout = 30000")
        other.execute("BEGIN IMMEDIATE")
        assert f"process {os.getpid()} (" in running.wait_for("the store")
        other.execute("COMMIT")
    done = running.end()
    assert done.code in RUN_ENDED, done.err
    assert not (tmp_path / "paribus.db.spool").exists()
