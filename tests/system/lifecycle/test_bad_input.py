"""Errors before and around an experiment: reported clearly, with nothing lost and nothing touched."""

import os
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import RUN_ENDED


@pytest.fixture
def small_disk(tmp_path: Path, loop: str) -> Iterator[Path]:
    """A file system of 64 MiB."""
    folder = tmp_path / "mounted"
    folder.mkdir()
    subprocess.run(["mkfs.ext4", "-q", loop], check=True)
    subprocess.run(["mount", loop, str(folder)], check=True)
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def _set(path: Path) -> tuple[str, str]:
    return "--set", f"target.path={path}"


def test_a_read_only_file_system_is_told_before_starting(paribus, plan, small_disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    done = paribus("run", plan(), *_set(small_disk))
    assert done.code == 2
    assert "ead-only" in done.err
    assert not Path(os.environ["PARIBUS_STORE"]).exists()


def test_too_little_space_is_told_before_starting(paribus, plan, small_disk: Path) -> None:
    done = paribus("run", plan(), *_set(small_disk), "--set", "workload.0.total_size=10GiB")
    assert done.code == 2
    assert "the workloads need 10 GiB" in done.err
    assert list(small_disk.iterdir()) == [small_disk / "lost+found"]


def test_a_disk_that_fills_up_under_the_store_is_told_and_the_rest_is_kept(paribus, plan, small_disk: Path) -> None:
    store = small_disk / "paribus.db"
    assert paribus("run", plan(), "--store", str(store)).code in RUN_ENDED
    with (small_disk / "filler").open("wb") as file, pytest.raises(OSError, match="No space"):
        while True:
            file.write(b"\0" * 65536)
            file.flush()
    done = paribus("run", plan(), "--store", str(store))
    assert done.code == 3
    assert "cannot grow" in done.err or "failed" in done.err
    assert "Traceback" not in done.err
    (small_disk / "filler").unlink()
    assert paribus("report", "--store", str(store)).code == 0


def test_a_device_that_is_not_there_is_told(paribus, plan) -> None:
    done = paribus("check", plan('"block.scheduler" = ["none", "bfq"]', 'device = "/dev/nothing"'))
    assert done.code == 2
    assert "/dev/nothing is not a block device" in done.err
    assert "1 problem" in done.err


def test_a_newer_or_damaged_store_is_left_alone(paribus, plan, tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    assert paribus("run", plan(), "--store", str(path)).code in RUN_ENDED
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    for verb in (("run", plan()), ("status",), ("report",)):
        done = paribus(*verb, "--store", str(path))
        assert done.code == 3
        assert "newer Paribus" in done.err
    path.write_bytes(b"no database " * 1000)
    for verb in (("run", plan()), ("status",), ("report",)):
        done = paribus(*verb, "--store", str(path))
        assert done.code == 3
        assert "is damaged" in done.err
    assert path.read_bytes() == b"no database " * 1000


def test_a_store_among_the_data_is_refused(paribus, plan, tmp_path: Path) -> None:
    done = paribus("run", plan(), "--store", str(tmp_path / "paribus-data" / "s.db"))
    assert done.code == 2
    assert "where its writes would be part of the load" in done.err


@pytest.mark.parametrize("name", ["/nowhere/plan.toml", "/", "/dev/null"])
def test_path_without_a_plan_is_an_error(paribus, name: str) -> None:
    done = paribus("run", name)
    assert done.code == 2
    assert "Traceback" not in done.err


def test_a_missing_or_broken_engine_is_told(paribus, plan, tmp_path: Path) -> None:
    done = paribus("run", plan(), PARIBUS_ENGINE=str(tmp_path / "none"))
    assert done.code == 3
    assert "which cannot be run" in done.err
    broken = tmp_path / "engine"
    broken.write_text("#!/bin/sh\necho nonsense\n")
    broken.chmod(0o755)
    done = paribus("run", plan(), PARIBUS_ENGINE=str(broken))
    assert done.code in (3, 4)
    assert "Traceback" not in done.err
