"""Files: natural order, decompression, decoding, and removal of passwords."""

import bz2
import contextlib
import gzip
import lzma
import os
from pathlib import Path

import pytest

from paribus.errors import UsageError
from paribus.imports import files


def test_folders_are_walked_in_natural_order_without_hidden_files(tmp_path: Path) -> None:
    for name in ("t16.log", "t8.log", "sub/t2.log", ".hidden", ".git/config"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    listed = files.listed([str(tmp_path), str(tmp_path / "t8.log")])
    assert [Path(file.path).name for file in listed] == ["t2.log", "t8.log", "t16.log"]
    assert all(file.walked for file in listed)
    assert not files.listed([str(tmp_path / "t8.log")])[0].walked


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    for names in ([str(tmp_path / "no")], [str(tmp_path)], ["a\0b"]):
        with pytest.raises(UsageError):
            files.listed(names)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_packed_files_are_the_same_text(tmp_path: Path, pack: object) -> None:
    assert callable(pack)
    path = tmp_path / "a"
    path.write_bytes(pack("tps: 5 µs\n".encode()))
    assert files.open_file(str(path)).text == "tps: 5 µs\n"


def test_a_truncated_archive_yields_its_readable_part(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    whole = gzip.compress("".join(f"{n} {n * n % 977}\n" for n in range(100_000)).encode())
    path.write_bytes(whole[: len(whole) // 2])
    assert files.open_file(str(path)).text.startswith("0 0\n1 1\n")
    assert files.open_file(str(path)).remarks == ("the archive breaks off; it is read up to there",)
    path.write_bytes(whole[:12])
    with pytest.raises(files.Unreadable, match="cannot be unpacked"):
        files.open_file(str(path))


def test_a_broken_block_yields_what_comes_before_it(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    whole = bytearray(gzip.compress("".join(f"{n} {n * n % 977}\n" for n in range(100_000)).encode()))
    whole[len(whole) // 2 : len(whole) // 2 + 64] = b"\xff" * 64
    path.write_bytes(whole)
    assert files.open_file(str(path)).text.startswith("0 0\n1 1\n")
    assert "is damaged" in files.open_file(str(path)).remarks[0]
    whole[10:40] = b"\xff" * 30
    path.write_bytes(whole)
    with pytest.raises(files.Unreadable, match="cannot be unpacked"):
        files.open_file(str(path))


@pytest.mark.parametrize(("kind", "why"), [("pipe", "is a pipe"), ("device", "is a device"), ("log", "cannot be read")])
def test_endless_files_are_not_read(tmp_path: Path, kind: str, why: str) -> None:
    path = tmp_path / "a"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero" if kind == "device" else "/proc/kmsg")
    with pytest.raises(files.Unreadable, match=why):
        files.open_file(str(path))
        files.open_file(str(path))  # the kernel had a message to tell


def test_the_pipe_of_a_shell_is_read() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"tps: 5\n")
    os.close(writing)
    assert files.open_file(f"/dev/fd/{reading}").text == "tps: 5\n"
    os.close(reading)


def test_root_is_not_led_to_the_secrets_of_others(tmp_path: Path) -> None:
    if os.geteuid() != 0:  # only root can give a folder away
        return
    secret, folder = tmp_path / "secret", tmp_path / "logs"
    secret.write_text("secret\n")
    folder.mkdir()
    (folder / "a").symlink_to(secret)
    (folder / "b").write_text("tps: 5\n")
    os.chown(folder, 65534, 65534)
    os.chown(folder / "b", 65534, 65534)
    with pytest.raises(files.Unreadable, match="belongs to root, and its folder to nobody"):
        files.open_file(str(folder / "a"))
    assert files.open_file(str(folder / "b")).text == "tps: 5\n"
    link = Path("/tmp") / f"paribus-test-{os.getpid()}"  # noqa: S108
    link.symlink_to(secret)
    os.lchown(link, 65534, 65534)
    with contextlib.ExitStack() as ending, pytest.raises(files.Unreadable):
        ending.callback(link.unlink)
        files.open_file(str(link))


def test_bytes_that_are_no_text_are_kept_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a"
    noise = bytes(range(256)) * 3
    path.write_bytes(noise)
    assert files.open_file(str(path)).content == noise
    path.write_bytes("total time: 5s".encode("utf-16"))
    assert files.open_file(str(path)).text == "total time: 5s"


def test_a_file_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_BYTES", 2**20)
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"0" * 2**22))
    with pytest.raises(files.Unreadable, match="larger than 1 MiB when unpacked"):
        files.open_file(str(path))
    path.write_bytes(b"0" * (2**20 + 1))
    with pytest.raises(files.Unreadable, match="larger than 1 MiB"):
        files.open_file(str(path))


@pytest.mark.parametrize(
    ("text", "coding"),
    [
        ("Größe;µs\n1;2\n", "cp1252"),
        ("Größe;µs\n1;2\n", "utf-8"),
        ("线程数,吞吐量\n8,100\n", "gb18030"),
        ("线程数,吞吐量\n8,100\n", "utf-8"),
    ],
)
def test_text_of_windows_is_legible(text: str, coding: str) -> None:
    assert files.legible(text.encode(coding)) == text


def test_bytes_that_are_no_text_become_marks() -> None:
    assert "\ufffd" in files.legible(b"\x00\xff\xfe\x81 tps")
    assert "\ufffd" in files.legible(bytes(range(128, 256)))
