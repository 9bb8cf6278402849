"""The copy of the engine on a target: what keeps it from being put there, and what keeps it from being run."""

import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import Done, run_paribus
from hostile_target import NAME, HostileTarget
from ssh_target import HONEST

pytestmark = [pytest.mark.root, pytest.mark.usefixtures("as_root")]

SPY = "#!/bin/sh\ntouch {proof}\n"
NOBODY = 65534


@pytest.fixture
def small(db1: HostileTarget) -> Iterator[Path]:
    """A cache with too little room for the engine."""
    db1.cache.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "none", str(db1.cache)], check=True)
    yield db1.cache
    subprocess.run(["umount", "--lazy", str(db1.cache)], check=True)


def _undo() -> Done:
    done = run_paribus("undo", "--target", f"ssh://{NAME}")
    assert "Traceback" not in done.err
    return done


def _spy(path: Path, proof: Path) -> None:
    path.write_text(SPY.format(proof=proof))
    path.chmod(0o755)


@pytest.mark.gate
def test_no_room_is_named_and_nothing_is_left(small: Path) -> None:
    done = _undo()
    assert done.code == 4
    assert f"no room for the engine in {small}/paribus on {NAME} (No space left on device)" in done.err
    assert list((small / "paribus").iterdir()) == []


@pytest.mark.gate
def test_a_read_only_cache_is_named(small: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small)], check=True)
    done = _undo()
    assert done.code == 4
    assert f"cannot put the engine into {small}/paribus on {NAME} (Read-only file system)" in done.err


@pytest.mark.parametrize("place", ["", "paribus"])
def test_a_file_in_place_of_a_directory_is_named(db1: HostileTarget, place: str) -> None:
    path = db1.cache / place
    path.parent.mkdir(exist_ok=True)
    path.write_text("")
    done = _undo()
    assert done.code == 4
    assert f"cannot put the engine into {db1.cache}/paribus on {NAME} (Not a directory)" in done.err


def test_a_directory_that_may_not_be_written_is_named(db1: HostileTarget, place: Path) -> None:
    as_nobody = f"setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups"
    db1.answer(f"XDG_CACHE_HOME={place}; export XDG_CACHE_HOME\nexec {as_nobody} {HONEST.removeprefix('exec ')}")
    done = _undo()
    assert done.code == 4
    assert f"cannot put the engine into {place}/paribus on {NAME} (Permission denied)" in done.err


def test_the_home_directory_is_shown_as_such(db1: HostileTarget) -> None:
    home = db1.folder / "home"
    (home / ".cache").mkdir(parents=True)
    (home / ".cache" / "paribus").write_text("")
    db1.answer(f"unset XDG_CACHE_HOME; HOME={home}; export HOME\n{HONEST}")
    assert f"cannot put the engine into ~/.cache/paribus on {NAME} (Not a directory)" in _undo().err


@pytest.mark.gate
def test_a_push_that_is_cut_off_leaves_nothing(db1: HostileTarget) -> None:
    db1.answer(f"head -c 100000 | {HONEST.removeprefix('exec ')}; exit", to="dd of=")
    done = _undo()
    assert done.code == 4
    assert f"cannot put the engine into {db1.cache}/paribus on {NAME} (the copy is not whole)" in done.err
    assert list((db1.cache / "paribus").iterdir()) == []


@pytest.mark.gate
@pytest.mark.parametrize("how", ["owner", "group", "others", "symlink", "content", "directory", "mode"])
def test_an_engine_that_others_can_change_is_replaced_and_not_run(db1: HostileTarget, tmp_path: Path, how: str) -> None:
    assert _undo().code == 0
    engine = db1.engine()
    whole, proof, aside = engine.read_bytes(), tmp_path / "proof", tmp_path / "aside"
    _spy(aside, proof)
    match how:
        case "owner":
            os.chown(engine, NOBODY, NOBODY)
        case "group":
            engine.chmod(0o720)
        case "others":
            engine.chmod(0o702)
        case "symlink":
            engine.rename(aside)
            engine.symlink_to(aside)
        case "content":
            _spy(engine, proof)
        case "mode":
            engine.chmod(0o600)
        case "directory":
            engine.unlink()
            engine.mkdir()
    done = _undo()
    assert not proof.exists()
    if how == "directory":
        assert done.code == 4
        assert f"cannot put the engine into {db1.cache}/paribus on {NAME} (Is a directory)" in done.err
        return
    assert done.code == 0, done.err
    assert (engine.stat().st_uid, engine.stat().st_mode & 0o7777, engine.is_symlink()) == (0, 0o700, False)
    assert engine.read_bytes() == whole
    assert len(list(engine.parent.iterdir())) == 1


@pytest.mark.parametrize("place", ["cache", "cache/paribus", "."])
@pytest.mark.parametrize("how", ["owner", "group", "others", "symlink"])
def test_a_directory_that_others_can_change_is_refused(db1: HostileTarget, place: str, how: str) -> None:
    if (place, how) == (".", "symlink"):
        return  # the home directory may be one
    assert _undo().code == 0
    directory = (db1.folder / place).resolve()
    match how:
        case "owner":
            os.chown(directory, NOBODY, NOBODY)
        case "group":
            directory.chmod(0o770)
        case "others":
            directory.chmod(0o707)
        case "symlink":
            moved = directory.with_name("moved")
            directory.rename(moved)
            directory.symlink_to(moved)
    why = "is a symbolic link" if how == "symlink" else "can be changed by other users"
    done = _undo()
    os.chown(db1.folder, 0, 0)
    assert done.code == 4
    assert f"the engine is not run from ~/.cache/paribus on {NAME}: {directory} {why}" in done.err


@pytest.mark.parametrize("how", ["alone", "member", "list"])
def test_a_group_of_one_may_write_to_the_directory(db1: HostileTarget, place: Path, how: str) -> None:
    """As where the umask is 002, and each user has a group of the same name."""
    user, home = f"paribus-{os.getpid()}", place / "home"  # another test may run beside this one
    subprocess.run(["useradd", "--user-group", "--no-create-home", "--home-dir", str(home), user], check=True)
    try:
        (home / ".cache").mkdir(parents=True)
        for path in (home, home / ".cache"):
            shutil.chown(path, user, user)
            path.chmod(0o775)
        if how == "member":
            subprocess.run(["gpasswd", "--add", "nobody", user], check=True, capture_output=True)
        if how == "list":
            os.setxattr(home / ".cache", "system.posix_acl_access", _list_with(NOBODY))
        environment = f"HOME={home}; PARIBUS_STATE={home}/state; export HOME PARIBUS_STATE; unset XDG_CACHE_HOME"
        as_user = f"setpriv --reuid={user} --regid={user} --init-groups"
        db1.answer(f"{environment}\nexec {as_user} {HONEST.removeprefix('exec ')}")
        done = _undo()
        if how == "alone":
            assert done.code == 0, done.err
        else:
            assert done.code == 4
            assert "can be changed by other users" in done.err
    finally:
        subprocess.run(["gpasswd", "--members", "", user], check=True)
        subprocess.run(["userdel", user], check=True)


def _list_with(user: int) -> bytes:
    """An access control list that lets a user write, as the kernel has it (linux/posix_acl_xattr.h)."""
    owner, named, group, mask, others, nobody = 0x01, 0x02, 0x04, 0x10, 0x20, 0xFFFFFFFF
    entries = [(owner, 7, nobody), (named, 7, user), (group, 7, nobody), (mask, 7, nobody), (others, 5, nobody)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


def test_a_login_shell_that_prints_is_named(db1: HostileTarget) -> None:
    db1.answer(f"echo Welcome to db1; {HONEST}")
    done = _undo()
    assert done.code == 4
    assert f"the login shell on {NAME} prints text before each command" in done.err
    assert '"Welcome to db1"' in done.err
    assert "silence it for non-interactive logins" in done.err
    db1.answer(f"echo Welcome to db1 >&2; {HONEST}")
    assert _undo().code == 0


def test_a_shell_that_runs_nothing_is_told_from_one_that_prints(db1: HostileTarget) -> None:
    db1.answer("echo This account is disabled.; exit 0")
    done = _undo()
    assert done.code == 4
    assert f'{NAME} did not run a command, but printed: "This account is disabled."' in done.err


def test_a_target_that_nobody_can_reach_may_still_be_changed(db1: HostileTarget) -> None:
    db1.stop()
    for verb in ("undo", "status"):
        done = run_paribus(verb, "--target", db1.address)
        assert done.code == 4
        assert f"could not look at {db1.address}, so settings may still be changed there: cannot reach" in done.err
        assert "Connection refused" in done.err
        assert "no setting is changed" not in done.out
