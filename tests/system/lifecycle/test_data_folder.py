"""The folders of data: nobody else can replace them, and what a killed experiment has left is found and removed."""

import json
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
from command import RUN_ENDED, Running

ROOT = Path(__file__).parents[3]
NOBODY = 65534


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[Path]:
    """A folder in which every user may make entries, as in /tmp."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    folder.chmod(0o1777)
    yield folder
    shutil.rmtree(folder)


def test_leftovers_of_a_killed_experiment_are_removed_also_without_a_store(paribus, plan, tmp_path) -> None:
    run = Running("run", plan(trial="5s"))
    run.wait_for("round", "block", "trial")
    run.signal(signal.SIGKILL)
    run.end()
    folder = next((tmp_path / "paribus-data").iterdir())
    assert folder.stat().st_mode & 0o7777 == 0o700

    found = paribus("clean", str(tmp_path), "--json")
    jsonschema.validate(found.json, json.loads((ROOT / "schema" / "clean.json").read_text()))
    (one,) = found.json["leftovers"]
    assert (one["plan"], one["state"], one["removed"]) == ("tiny", "can be resumed", False)
    assert one["size_bytes"] > 1 << 20
    assert f"paribus resume {folder.name}" in paribus("clean", str(tmp_path)).out

    kept = paribus("clean", str(tmp_path), "--all")
    assert (kept.code, folder.exists()) == (0, True), "what can be resumed goes only by its name"
    wrong = paribus("clean", str(tmp_path), "--remove", "no-such-experiment")
    assert (wrong.code, folder.name in wrong.err) == (2, True)

    emptied = paribus("clean", str(tmp_path), "--all", PARIBUS_STORE=str(tmp_path / "another.db"))
    assert f"removed {folder}" in emptied.out, emptied
    assert not (tmp_path / "paribus-data").exists()
    assert "no data of experiments" in paribus("clean", str(tmp_path)).out


def test_the_data_of_another_user_goes_only_by_its_name(paribus, plan, tmp_path) -> None:
    """The other user may run it still: neither their journals nor their store are seen."""
    run = Running("run", plan(trial="5s"))
    run.wait_for("round", "block", "trial")
    folder = next((tmp_path / "paribus-data").iterdir())
    manifest = folder / "paribus.experiment.json"
    manifest.write_text(manifest.read_text().replace("root@", "alice@"))
    elsewhere = {"PARIBUS_STORE": str(tmp_path / "another.db"), "PARIBUS_STATE": str(tmp_path / "another")}
    (tmp_path / "another").mkdir()
    try:
        (one,) = paribus("clean", str(tmp_path), "--all", "--json", **elsewhere).json["leftovers"]
        assert (one["state"], one["removed"]) == ("of another user or machine", False)
        manifest.write_text(manifest.read_text().replace('"made_unix_s":', '"made_unix_s":1e300,"was":'))
        assert "Traceback" not in paribus("clean", str(tmp_path), **elsewhere).err
    finally:
        run.signal(signal.SIGINT)
        run.end()


def test_the_data_of_a_running_experiment_stays(paribus, plan, tmp_path) -> None:
    run = Running("run", plan(trial="5s"))
    try:
        run.wait_for("round", "block", "trial")
        (one,) = paribus("clean", str(tmp_path), "--json").json["leftovers"]
        assert one["state"] == "running"
        refused = paribus("clean", str(tmp_path), "--remove", one["experiment"])
        assert (refused.code, "the experiment is running" in refused.err) == (2, True)
    finally:
        run.signal(signal.SIGTERM)
        run.end()
    assert not (tmp_path / "paribus-data").exists()


@pytest.mark.parametrize("path", ["no/such/folder", "~nobody/data"])
def test_a_mistyped_path_is_refused_and_not_made(paribus, plan, tmp_path, path: str) -> None:
    wanted = str(tmp_path / path) if "~" not in path else path
    for verb in ("check", "run"):
        done = paribus(verb, plan(), "--set", f"target.path={wanted}")
        assert (done.code, "does not exist" in done.err, "make it, or correct the name" in done.err) == (2, True, True)
    assert not (tmp_path / "no").exists()
    assert not Path(path.split("/", maxsplit=1)[0]).exists()


def test_a_path_that_others_can_change_is_refused(paribus, plan, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    scratch.chmod(0o777)
    for verb in ("check", "run"):
        done = paribus(verb, plan(), "--set", f"target.path={scratch}")
        assert done.code == 2
        assert f"{scratch} can be written by all users (mode 0777)" in done.err
    assert not list(scratch.iterdir())


@pytest.mark.parametrize("trap", ["folder", "link"])
def test_a_folder_that_another_user_made_first_is_not_used(paribus, plan, shared: Path, as_root, trap: str) -> None:
    """In a folder like /tmp anybody can be first with the name of the data folder, and later swap what is in it."""
    secret = shared / "secret"
    secret.write_text("secret")
    data = shared / "paribus-data"
    if trap == "folder":
        data.mkdir(mode=0o777)
        os.chown(data, NOBODY, NOBODY)
    else:
        data.symlink_to(shared / "elsewhere")
        os.lchown(data, NOBODY, NOBODY)
    done = paribus("run", plan(), "--set", f"target.path={shared}")
    assert done.code == 3
    assert f"{data} belongs to nobody" in done.err
    assert secret.read_text() == "secret"
    assert paribus("status").code == 0


def test_a_folder_like_tmp_is_a_good_place(paribus, plan, shared: Path) -> None:
    done = paribus("run", plan(), "--set", f"target.path={shared}")
    assert done.code in RUN_ENDED, done.err
    assert not list(shared.iterdir())
