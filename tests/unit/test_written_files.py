"""Files that other users might swap for a link."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from paribus.files import distrust, make_folder, replacing, user_name, write_whole

NOBODY = 65534
WITHOUT_A_NAME = 4_000_000_000


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_whole(path, "first")
    path.chmod(0o640)
    with pytest.raises(KeyError), replacing(path) as beside:
        beside.write_text("half")
        raise KeyError
    assert (path.read_text(), list(tmp_path.iterdir())) == ("first", [path])
    write_whole(path, "second")
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("second", 0o640)


def test_a_new_file_has_the_rights_that_others_expect(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "one", "")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "one").stat().st_mode) == 0o640


def test_ones_own_link_is_followed_and_that_of_another_user_is_not(tmp_path: Path) -> None:
    secret, link = tmp_path / "secret", tmp_path / "report.html"
    secret.write_text("secret")
    link.symlink_to(secret)
    write_whole(link, "mine")
    assert (secret.read_text(), link.is_symlink()) == ("mine", True)
    if os.geteuid() == 0:  # only root can give a link away
        os.lchown(link, NOBODY, NOBODY)
        with pytest.raises(PermissionError, match="link that nobody made"):
            write_whole(link, "not mine")
        assert secret.read_text() == "mine"


def test_a_folder_that_another_user_made_or_can_replace_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "private").mkdir()
    planted = tmp_path / "planted"
    planted.symlink_to("private")
    write_whole(planted / "report.html", "mine")
    make_folder(planted / "tables")
    if os.geteuid() == 0:  # only root can give a link away
        os.lchown(planted, NOBODY, NOBODY)
        for write in (write_whole, lambda path, _: make_folder(path)):
            with pytest.raises(PermissionError, match="planted belongs to nobody"):
                write(planted / "more", "not mine")
    assert {path.name for path in (tmp_path / "private").iterdir()} == {"report.html", "tables"}


def test_a_device_takes_what_comes() -> None:
    write_whole(Path("/dev/null"), "words")
    assert Path("/dev/null").is_char_device()


def test_the_output_of_this_program_takes_what_comes(tmp_path: Path) -> None:
    script = (
        "from pathlib import Path; from paribus.files import write_whole; write_whole(Path('/dev/stdout'), 'words')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "words"
    file = tmp_path / "file"
    with file.open("w") as output:
        subprocess.run([sys.executable, "-c", script], stdout=output, check=True)
    assert file.read_text() == "words"


def test_a_device_or_a_pipe_behind_the_link_of_another_user_is_refused(tmp_path: Path) -> None:
    if os.geteuid() == 0:  # only root can give a link away
        link, pipe = tmp_path / "report.html", tmp_path / "pipe"
        link.symlink_to("/dev/null")
        os.lchown(link, NOBODY, NOBODY)
        os.mkfifo(pipe)
        os.chown(pipe, NOBODY, NOBODY)
        with pytest.raises(PermissionError, match="link that nobody made"):
            write_whole(link, "words")
        with pytest.raises(PermissionError, match="belongs to nobody"):
            write_whole(pipe, "words")


def test_a_pipe_that_nobody_reads_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="No such device or address"):
        write_whole(tmp_path / "pipe", "words")


@pytest.mark.parametrize(("mode", "why"), [(0o755, ""), (0o700, ""), (0o777, "all users"), (0o702, "all users")])
def test_a_folder_that_others_can_change_is_not_trusted(tmp_path: Path, mode: int, why: str) -> None:
    outer = tmp_path / "outer"
    (outer / "inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to("outer/../outer/inner")
    outer.chmod(mode)
    for path in (outer / "inner", tmp_path / "link", outer / "inner" / ".."):
        found = distrust(path)
        assert why in found
        assert bool(found) == bool(why)


def test_a_folder_of_root_where_each_has_entries_is_trusted_and_one_of_another_user_is_not(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        assert "belongs to" not in distrust(Path("/tmp"))  # noqa: S108
        return
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    (shared / "mine").mkdir()
    assert not distrust(shared / "mine")
    os.chown(shared / "mine", NOBODY, NOBODY)
    assert "belongs to nobody" in distrust(shared / "mine")
    os.chown(shared / "mine", 0, NOBODY)
    (shared / "mine").chmod(0o775)
    assert "written by its group" in distrust(shared / "mine")


def test_a_user_without_a_name_is_called_by_number() -> None:
    assert (user_name(0), user_name(WITHOUT_A_NAME)) == ("root", f"user {WITHOUT_A_NAME}")


def test_a_folder_in_which_each_user_has_entries_is_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the kernel protects no links there, as in a container: none of another user is followed."""
    unprotected = tmp_path / "protected_symlinks"
    unprotected.write_text("0\n")
    monkeypatch.setattr("paribus.files._PROTECTED_LINKS", unprotected)
    shared = Path("/tmp")  # noqa: S108
    assert shared.stat().st_mode & stat.S_ISVTX
    folder, report = shared / f"paribus-test-{os.getpid()}", shared / f"paribus-test-{os.getpid()}.html"
    try:
        make_folder(folder / "inner")
        write_whole(report, "report")
        assert (folder / "inner").is_dir()
        assert report.read_text() == "report"
    finally:
        report.unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
