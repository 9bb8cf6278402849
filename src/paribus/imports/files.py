"""Files to import: found, opened, decoded to text, and cleared of passwords."""

import bz2
import codecs
import gzip
import hashlib
import io
import lzma
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from paribus.errors import UsageError
from paribus.files import distrust_entry, replaceable, user_name
from paribus.imports.archives import DamagedArchive, LogArchive, is_archive, is_named_as_archive
from paribus.parsers.pages import web_page
from paribus.parsers.redact import redact
from paribus.units import show_size

MOST_BYTES = 256 * 2**20
_MOST_HIGH = 0.8  # share of non-ASCII bytes in a text


def _gzip(stream: BinaryIO) -> io.BufferedIOBase:
    return gzip.GzipFile(fileobj=stream)


_PACKED: dict[bytes, Callable[[BinaryIO], io.BufferedIOBase]] = {
    b"\x1f\x8b": _gzip,
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


@dataclass(frozen=True, slots=True)
class ImportFile:
    """A file to import, or the file `member` of the archive at the path.

    `walked` if it was found in a folder or an archive, where a file that is no log is not an error.
    """

    path: str
    walked: bool
    member: str = ""

    @property
    def printable_path(self) -> str:
        """The path for people and the store; a name that is not UTF-8 is decoded as the content would be."""
        path = legible(os.fsencode(self.path))
        return f"{path}/{self.member}" if self.member else path


class Unreadable(Exception):
    """A file that cannot be read; the message states the reason."""


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """Hash and size of a file's bytes, and its text without passwords; `content` is that text in bytes.

    `remarks` describe an archive that was read only in part, and a web page, which is kept as the text that it shows.
    """

    sha256: str
    size_bytes: int
    text: str
    content: bytes
    remarks: tuple[str, ...] = ()


def _natural(path: Path | str) -> list[tuple[int, int | str]]:
    """Sort key that orders `t8` before `t16`."""
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in re.split(r"([0-9]+)", str(path)) if part]


def listed(names: Sequence[str]) -> list[ImportFile]:
    """Return the named files, and those in named folders and in archives, in natural order; hidden files are omitted.

    Raises UsageError for a missing file, and where there is no file at all.
    """
    if not names:
        raise UsageError("no file to import was named", "name log files, tables, or folders of them")
    files_by_path: dict[str, list[ImportFile]] = {}
    for name in names:
        path = Path(name)
        try:
            walked = path.is_dir()
            paths = sorted(_files_in(path), key=_natural) if walked else [path]
            if not walked and not path.exists():
                raise UsageError(
                    f"there is no file {legible(os.fsencode(name))}", "name log files, tables, or folders of them"
                )
        except (OSError, ValueError) as error:
            raise UsageError(f"{name!r} cannot be read: {error}", "name log files, tables, or folders") from error
        for file_path in paths:
            if str(file_path) not in files_by_path:
                files_by_path[str(file_path)] = _files_at(str(file_path), walked=walked)
    if not files_by_path:
        raise UsageError(
            f"there is no file in {', '.join(names)}; hidden files are not read",
            "name log files, tables, or folders of them",
        )
    return list(chain.from_iterable(files_by_path.values()))


def _files_at(path: str, *, walked: bool) -> list[ImportFile]:
    """Return the file, or the files of an archive; an archive that cannot be read, or is empty, is a file."""
    try:
        archive = _archive(path)
    except Unreadable:
        archive = None
    members = sorted(archive.names, key=_natural) if archive else []
    files = [ImportFile(path, walked=True, member=member) for member in members]
    return files if archive and files and not archive.damage else [*files, ImportFile(path, walked)]


def _archive(path: str) -> LogArchive | None:
    """Return an archive; None for a file that is none. Raises Unreadable."""
    if not is_named_as_archive(path):
        return None
    try:
        status = Path(path).stat()
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror or error}") from error
    return _archive_of(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=1)  # its files are read one after the other
def _archive_of(path: str, _mtime_ns: int, _size: int) -> LogArchive | None:
    content, damage = _unpacked(_content(path))
    if not is_archive(content):
        return None
    try:
        return LogArchive(content, legible, damage)
    except DamagedArchive as error:
        raise Unreadable(f"cannot be unpacked: {error}") from error


def _files_in(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if path.is_file() and not hidden:
            yield path


def open_file(path: str, member: str = "") -> OpenedFile:
    """Read a file, or a file of an archive, decompressed if it is gzip, bzip2 or xz. Raises Unreadable."""
    archive = _archive(path)
    content = _content_of_member(archive, member) if archive else _content(path)
    digest = hashlib.sha256(content).hexdigest()
    unpacked, damage = _unpacked(content)
    text = as_text(unpacked)
    remarks = (damage,) if damage else ()
    if web_page.is_report(text):
        raise Unreadable("is a report of Paribus: import what `paribus export` writes")
    if web_page.is_page(text):
        text = web_page.text_of(legible(text.encode("utf-8", "surrogateescape")))
        remarks = (*remarks, "it is a web page: numbers of lines are those of the text that it shows")
    text = redact(text)  # also passwords that the page had divided by its markup
    return OpenedFile(digest, len(content), text, text.encode("utf-8", "surrogateescape"), remarks)


def _content_of_member(archive: LogArchive, member: str) -> bytes:
    if not member and archive.damage:
        raise Unreadable(f"is damaged, or breaks off: files after {archive.names[-1]} are missing; copy it again")
    if not member:
        raise Unreadable("has no files but hidden ones")
    try:
        content = archive.read(member, MOST_BYTES + 1)
    except DamagedArchive as error:
        raise Unreadable(f"cannot be unpacked: {error}") from error
    if len(content) > MOST_BYTES:
        raise Unreadable(f"is larger than {show_size(MOST_BYTES)}: import a part of it")
    return content


def _content(path: str) -> bytes:
    """Return the bytes of a file. Raises Unreadable."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:  # noqa: PTH123
            _refuse_endless(Path(path), os.fstat(file.fileno()))
            _refuse_of_others(Path(path), os.fstat(file.fileno()))
            os.set_blocking(file.fileno(), stat.S_ISFIFO(os.fstat(file.fileno()).st_mode))
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror or error}") from error
    if content is None:  # as of /proc/kmsg, which waits for more
        raise Unreadable("cannot be read: it has no end")
    if len(content) > MOST_BYTES:
        raise Unreadable(f"is larger than {show_size(MOST_BYTES)}: import a part of it")
    return content


def _refuse_endless(path: Path, status: os.stat_result) -> None:
    """Raise Unreadable unless it is a file, or the pipe of a shell: `paribus import <(zcat log.gz)`."""
    is_of_shell = stat.S_ISFIFO(status.st_mode) and path.is_relative_to("/dev")
    if not stat.S_ISREG(status.st_mode) and not is_of_shell:
        kind = "a pipe" if stat.S_ISFIFO(status.st_mode) else "a device"
        raise Unreadable(f"is {kind}, and no file: write its content to a file")


def _refuse_of_others(path: Path, status: os.stat_result) -> None:
    """Raise Unreadable if another user may have led root to a file that this user cannot read."""
    if os.geteuid() != 0:
        return
    if replaceable(path.parent):
        leader, entry = path.parent.stat().st_uid, "its folder"
    elif path.is_symlink() and distrust_entry(path):
        leader, entry = path.lstat().st_uid, "the link to it"
    else:
        return
    if status.st_uid != leader:
        owner, other = user_name(status.st_uid), user_name(leader)
        raise Unreadable(f"belongs to {owner}, and {entry} to {other}: copy it to a folder of your own")


def _unpacked(content: bytes) -> tuple[bytes, str]:
    """Return the content, and the damage of an archive that can be read only in part."""
    opener = next((reader for mark, reader in _PACKED.items() if content.startswith(mark)), None)
    if opener is None:
        return content, ""
    stream = opener(io.BytesIO(content))
    pieces: list[bytes] = []
    size = 0
    try:
        while piece := stream.read1(2**20):  # `read` would lose the data before a truncation
            pieces.append(piece)
            size += len(piece)
            if size > MOST_BYTES:
                raise Unreadable(
                    f"is larger than {show_size(MOST_BYTES)} when unpacked: unpack it, and import a part of it"
                )
    except (OSError, EOFError, lzma.LZMAError, zlib.error, ValueError) as error:
        if not pieces:
            raise Unreadable(f"cannot be unpacked: {error}") from error
        damage = "breaks off" if isinstance(error, EOFError) else f"is damaged ({error}): check the last figures"
        return b"".join(pieces), f"the archive {damage}; it is read up to there"
    return b"".join(pieces), ""


def legible(content: bytes) -> str:
    """Decode UTF-8, else GB18030 or Windows-1252; replacement characters for anything else."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        high = [len(run) for run in re.findall(rb"[\x80-\xff]+", content)]
    if b"\0" in content or sum(high) > len(content) * _MOST_HIGH:
        return content.decode("utf-8", "replace")
    chinese = all(n % 2 == 0 for n in high) and sum(high) >= 4 * len(high)  # words of at least two characters
    return content.decode("gb18030" if chinese else "cp1252", "replace")


def as_text(content: bytes) -> str:
    """Decode bytes without loss; invalid UTF-8 becomes surrogate escapes."""
    coding = next((name for mark, name in _MARKS.items() if content.startswith(mark)), "utf-8")
    if coding == "utf-16":
        return content.decode(coding, "replace")
    return content.decode(coding, "surrogateescape")
