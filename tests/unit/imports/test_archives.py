"""Archives: the files in a zip or a tar are imported as those of a folder."""

import gzip
import io
import random
import stat
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import logs
import pytest

from paribus.imports import files
from paribus.imports.files import ImportFile, Unreadable, listed, open_file
from paribus.imports.reading import ImportReader
from paribus.imports.rules import Rule

FILES = {
    "set/t16.log": logs.sysbench(160, threads=16).encode(),
    "set/t8.log": logs.sysbench(80).encode(),
    "set/.hidden": b"x",
    "__MACOSX/set/._t8.log": b"x",
}
Pack = Callable[[Path, Mapping[str, bytes]], None]


def _zip(path: Path, content: Mapping[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.mkdir("set")
        link = zipfile.ZipInfo("set/link.log")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
        for name, written in content.items():
            archive.writestr(name, written)


def _tar(mode: str) -> Pack:
    def pack(path: Path, content: Mapping[str, bytes]) -> None:
        with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
            link = tarfile.TarInfo("set/link.log")
            link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
            archive.addfile(link)
            for name, written in content.items():
                entry = tarfile.TarInfo(f"./{name}")
                entry.size = len(written)
                archive.addfile(entry, io.BytesIO(written))

    return pack


ARCHIVES: dict[str, Pack] = {
    "a.zip": _zip,
    "a.tar": _tar("w"),
    "a.tgz": _tar("w:gz"),
    "a.tar.bz2": _tar("w:bz2"),
    "a.TAR.XZ": _tar("w:xz"),
}


@pytest.mark.parametrize("name", ARCHIVES)
def test_files_of_an_archive_are_listed_and_read_as_those_of_a_folder(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    ARCHIVES[name](path, FILES)
    sources = listed([str(path)])
    assert [source.printable_path for source in sources] == [f"{path}/set/t8.log", f"{path}/set/t16.log"]
    assert all(source.walked for source in sources)
    reader = ImportReader((Rule.model_validate({"path": "t(?P<t>[0-9]+)[.]log$"}),))
    runs = [run for source in sources for run in reader.take(source).runs]
    assert [(run.placement.labels, run.placement.load) for run in runs] == [({"t": "8"}, 8), ({"t": "16"}, 16)]


@pytest.mark.parametrize("coding", ["utf-8", "gb18030"])
def test_names_in_another_coding_are_decoded(tmp_path: Path, coding: str) -> None:
    name = "调度器测试.log".encode(coding)
    path = tmp_path / "a.zip"
    _zip(path, {"x" * len(name): b"x"})  # not marked as UTF-8, as by an old tool
    path.write_bytes(path.read_bytes().replace(b"x" * len(name), name))
    assert [source.member for source in listed([str(path)])] == ["调度器测试.log"]


def test_an_archive_without_files_or_a_damaged_one_is_refused_with_the_reason(tmp_path: Path) -> None:
    for name, pack in ARCHIVES.items():
        path = tmp_path / name
        pack(path, {})
        with pytest.raises(Unreadable, match="has no files but hidden ones"):
            open_file(str(path), listed([str(path)])[0].member)
    path.write_bytes(b"PK\x03\x04")
    assert listed([str(path)]) == [ImportFile(str(path), walked=False)]
    with pytest.raises(Unreadable, match="cannot be unpacked"):
        open_file(str(path))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_log_that_is_named_as_an_archive_is_a_log(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    for name in ARCHIVES:
        path = tmp_path / name
        path.write_bytes(pack(FILES["set/t8.log"]))
        (source,) = listed([str(path)])
        assert len(ImportReader().take(source).runs) == 1


@pytest.mark.parametrize("damage", ["size", "checksum", "cut"])
def test_files_before_the_damage_of_a_tar_are_read(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "a.tar"
    ARCHIVES["a.tar"](path, {f"{number}.log": FILES["set/t8.log"] for number in range(3)})
    content = bytearray(path.read_bytes())
    second = content.index(b"./1.log")
    if damage == "size":
        header = content[second : second + 512]
        header[124:136] = (-512).to_bytes(12, "big", signed=True)  # the next header would be this one
        header[148:156] = b" " * 8
        header[148:156] = f"{sum(header):06o}\0 ".encode()
        content[second : second + 512] = header
    elif damage == "checksum":
        content[second + 148] ^= 1
    else:
        del content[second + 100 :]
    path.write_bytes(bytes(content))
    sources = listed([str(path)])
    assert [source.member for source in sources] == ["0.log", ""]
    whole, rest = map(ImportReader().take, sources)
    assert len(whole.runs) == 1
    assert rest.refused == "is damaged, or breaks off: files after 0.log are missing; copy it again"


def test_a_tar_that_begins_as_a_zip_would_is_a_tar_and_a_zip_may_have_an_empty_name(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        entry = tarfile.TarInfo("PK\3\4/a.log")
        archive.addfile(entry, io.BytesIO())
    assert [source.member for source in listed([str(path)])] == ["PK\3\4/a.log"]
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x", b"x")
        archive.writestr("a.log", b"x")
    content = bytearray(path.read_bytes())
    entry = content.index(b"PK\1\2")
    content[entry + 28], content[entry + 32] = 0, 1  # the name is the comment
    path.write_bytes(bytes(content))
    assert [source.member for source in listed([str(path)])] == ["a.log"]


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE])
def test_a_tar_of_headers_of_headers_is_refused(tmp_path: Path, kind: bytes) -> None:
    header = tarfile.TarInfo("x")
    header.type = kind
    path = tmp_path / "a.tar"
    path.write_bytes(header.tobuf() * 5000)
    (source,) = listed([str(path)])
    assert ImportReader().take(source).refused


def test_an_encrypted_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    _zip(path, {"a.log": b"x"})
    content = bytearray(path.read_bytes())
    content[content.rindex(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(bytes(content))
    with pytest.raises(Unreadable, match="encrypted"):
        open_file(str(path), "a.log")


def test_a_file_that_is_too_large_in_an_archive_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_BYTES", 2**16)
    _zip(tmp_path / "a.zip", {"a.log": b"0" * 2**20})
    with pytest.raises(Unreadable, match="larger than 64 KiB"):
        open_file(str(tmp_path / "a.zip"), "a.log")
    _tar("w:gz")(tmp_path / "a.tgz", {"a.log": b"0" * 2**20})
    with pytest.raises(Unreadable, match="larger than 64 KiB when unpacked"):
        open_file(str(tmp_path / "a.tgz"), "a.log")


@pytest.mark.parametrize("name", ARCHIVES)
def test_damaged_archives_are_read_or_refused(tmp_path: Path, name: str) -> None:
    path, rng = tmp_path / name, random.Random(7)
    ARCHIVES[name](path, FILES)
    whole = path.read_bytes()
    for _ in range(150):
        content = bytearray(whole[: rng.randrange(len(whole))] if rng.random() < 0.3 else whole)
        for _ in range(rng.randrange(1, 8) if content else 0):
            content[rng.randrange(len(content))] = rng.randrange(256)
        path.write_bytes(bytes(content))
        for source in listed([str(path)]):
            ImportReader().take(source)
