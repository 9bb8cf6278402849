"""Archives of logs: the files in a zip or a tar, which are never written to the disk.

In: the bytes of an archive. Out: the names and the bytes of its files; archives in archives are files.
"""

import io
import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator

_SUFFIXES = (".zip", ".tar", ".tgz", ".tbz2", ".txz", ".tar.gz", ".tar.bz2", ".tar.xz")
_OF_MACS = "__MACOSX"  # a folder of attributes
_UTF8, _ENCRYPTED = 0x800, 0x1  # flags of a file in a zip
_TAR_MARK = slice(257, 262), b"ustar"
_ZIP_MARKS = (b"PK\3\4", b"PK\5\6", b"PK\7\x08")
_DAMAGE = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, struct.error, OSError, EOFError, ValueError,
    IndexError, OverflowError, RecursionError, NotImplementedError,
)  # fmt: skip

Decoder = Callable[[bytes], str]


class DamagedArchive(Exception):
    """An archive, or a file in it, that cannot be read; the message states the reason."""


def is_named_as_archive(path: str) -> bool:
    """Return whether a path is named as an archive of files."""
    return path.lower().endswith(_SUFFIXES)


class LogArchive:
    """The files of a zip or a tar by name; hidden ones, links and folders are left out.

    Attributes:
        damage: The reason why files after the last one are missing; empty for a whole archive.
    """

    def __init__(self, content: bytes, names: Decoder, damage: str = "") -> None:
        """Read the directory of an archive.

        Args:
            content: The archive, unpacked if it is a packed tar.
            names: Decoder of names that are not stated to be UTF-8.
            damage: The same, if the content was damaged before.

        Raises:
            DamagedArchive: No file can be read.
        """
        self.damage = damage
        self._content = content
        self._entries: dict[str, zipfile.ZipInfo | tuple[int, int]] = {}
        self._zip: zipfile.ZipFile | None = None
        try:
            if _is_zip(content):
                self._zip = zipfile.ZipFile(io.BytesIO(content))
                self._entries |= _files_of_zip(self._zip, names)
            else:
                for name, part in _files_of_tar(content, names):
                    self._entries[name] = part
        except _DAMAGE as error:
            if not self._entries:
                raise DamagedArchive(str(error) or type(error).__name__) from error
            self.damage = damage or str(error)

    @property
    def names(self) -> list[str]:
        """The names of the files, in the order of the archive."""
        return list(self._entries)

    def read(self, name: str, most_bytes: int) -> bytes:
        """Return at most that many bytes of a file. Raises DamagedArchive."""
        entry = self._entries[name]
        if isinstance(entry, tuple):
            start, size = entry
            return self._content[start : start + min(size, most_bytes)]
        if entry.flag_bits & _ENCRYPTED:
            raise DamagedArchive("it is encrypted")
        assert self._zip is not None
        try:
            with self._zip.open(entry) as file:
                return file.read(most_bytes)
        except _DAMAGE as error:
            raise DamagedArchive(str(error)) from error


def is_archive(content: bytes) -> bool:
    """Return whether bytes are a zip or a tar, which need not be whole."""
    if _is_zip(content) or _has_tar_mark(content) or not content.strip(b"\0"):
        return True
    try:
        tarfile.TarInfo.frombuf(content[: tarfile.BLOCKSIZE], "utf-8", "surrogateescape")
    except _DAMAGE:
        return False
    return True


def _is_zip(content: bytes) -> bool:
    return content.startswith(_ZIP_MARKS) and not _has_tar_mark(content)


def _has_tar_mark(content: bytes) -> bool:
    where, mark = _TAR_MARK
    return content[where] == mark


def _files_of_zip(archive: zipfile.ZipFile, names: Decoder) -> dict[str, zipfile.ZipInfo]:
    files: dict[str, zipfile.ZipInfo] = {}
    for entry in archive.infolist():
        if not entry.filename:
            continue
        name = entry.filename if entry.flag_bits & _UTF8 else names(entry.filename.encode("cp437", "replace"))
        if not entry.is_dir() and not stat.S_ISLNK(entry.external_attr >> 16) and _is_visible(name):
            files[name] = entry
    return files


def _files_of_tar(content: bytes, names: Decoder) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the name, the position and the size of each file. Raises TarError after the last one before damage."""
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
        next_header = -1
        while (entry := archive.next()) is not None:
            if entry.size < 0 or archive.offset <= next_header:  # tarfile would read it again and again
                raise tarfile.ReadError("it is damaged")
            next_header = archive.offset
            name = names(entry.name.encode("utf-8", "surrogateescape")).removeprefix("./")
            if entry.isreg() and not entry.issparse() and _is_visible(name):
                yield name, (entry.offset_data, entry.size)
        if content[archive.offset : archive.offset + tarfile.BLOCKSIZE].strip(b"\0"):
            raise tarfile.ReadError("it is damaged")


def _is_visible(name: str) -> bool:
    parts = [part for part in name.split("/") if part not in (".", "..")]
    return not any(part.startswith(".") or part == _OF_MACS for part in parts)
